package main

import (
	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/pkg/client"
	poddv1 "podd/proto/podd/v1"
)

func newCancelCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:        "cancel [POD]",
		SuggestFor: []string{"stop", "kill", "interrupt"},
		Short:      "Cancel the running turn of a pod",
		Long: "Cancels the pod's running turn, even if it is stuck. Queued prompts stay, and the next one " +
			"starts.",
		Args:              operands,
		ValidArgsFunction: p.completePods,
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.withPod(cmd.Context(), args[0], func(c *client.Client, pod string) error {
				resp, err := c.Pods().Cancel(cmd.Context(), &poddv1.CancelRequest{Pod: pod})
				if err != nil {
					return err
				}
				if !resp.GetCancelled() {
					return p.print(resp, line("pod %s has no running turn", sanitize.Line(pod)))
				}
				if resp.GetTurn() == 0 {
					return p.print(resp, line("cancelled what pod %s was doing", sanitize.Line(pod)))
				}
				return p.print(resp, line("cancelled turn %d of pod %s", resp.GetTurn(), sanitize.Line(pod)))
			})
		},
	}
}
