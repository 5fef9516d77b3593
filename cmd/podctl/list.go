package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/internal/view"
	"podd/internal/wire"
	"podd/pkg/client"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

func newListCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:               "list",
		Short:             "list the pods",
		Args:              argCount(0, 0),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.with(func(c *client.Client) error {
				resp, err := c.Pods().ListPods(cmd.Context(), &poddv1.ListPodsRequest{})
				if err != nil {
					return err
				}
				if p.output == outputText {
					return p.podTable(p.stdout, resp.GetPods())
				}
				for _, pod := range resp.GetPods() {
					if err := p.printJSON(pod); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
}

func (p *program) podTable(w io.Writer, pods []*poddv1.Pod) error {
	if len(pods) == 0 {
		_, err := fmt.Fprintln(p.stderr, "there are no pods; podctl create NAME makes one")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tSTATE\tTURN\tTOKENS (IN/OUT)\tLAST ACTIVITY\tDIR")
	for _, message := range pods {
		pod := wire.PodFromProto(message)
		fmt.Fprintf(t, "%s\t%s\t%d\t%s/%s\t%s ago\t%s\n", sanitize.Line(pod.Name), state(pod), pod.Status.Turn,
			view.Count(pod.Status.Usage.Input), view.Count(pod.Status.Usage.Output),
			view.Duration(p.now().Sub(pod.Status.LastActivity)), sanitize.Line(pod.Spec.Dir))
	}
	return t.Flush()
}

// state names a pod's state and how many submits wait.
func state(pod item.Pod) string {
	name := string(pod.Status.State)
	if name == "" {
		name = "unknown"
	}
	if pod.Queued > 0 {
		return fmt.Sprintf("%s (%d queued)", name, pod.Queued)
	}
	return name
}
