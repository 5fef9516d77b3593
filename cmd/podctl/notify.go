package main

import (
	"strings"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/pkg/client"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

func newNotifyCommand(p *program) *cobra.Command {
	var wake, noStdin bool
	cmd := &cobra.Command{
		Use:   "notify [POD] [TEXT...]",
		Short: "Leave a note for the model's next step",
		Long: "Leaves a note that the model reads at its next step. The note is TEXT followed by standard input, as with " +
			"submit. If you pipe the note, a single argument names the pod. An idle pod reads the note in its next turn; --wake starts one.",
		Example: "  podctl notify api \"the tests are flaky today\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			segments, err := p.input(cmd, args[1:], "note", noStdin)
			if err != nil {
				return err
			}
			return p.withPod(cmd.Context(), args[0], func(c *client.Client, pod string) error {
				resp, err := c.Pods().Notify(cmd.Context(), &poddv1.NotifyRequest{Pod: pod, Text: valid(noteText(segments)), Wake: wake})
				if item.ReasonOf(err) == "POD_NOT_FOUND" && args[0] != "" && !cmd.Flags().Changed("pod") {
					return item.Errorf(item.KindNotFound, "POD_NOT_FOUND", "no pod named %q: if that is text, name the pod with -p POD", args[0])
				}
				if err != nil {
					return err
				}
				return p.print(resp, line("left a note for pod %s (#%d)", sanitize.Line(pod), resp.GetSeq()))
			})
		},
	}
	inputFlag(cmd, &noStdin)
	cmd.Flags().BoolVar(&wake, "wake", false, "start a turn if the pod is idle")
	return cmd
}

// noteText is input as one text, with standard input framed as in a prompt: a note has no
// pieces.
func noteText(segments []item.Segment) string {
	var parts []string
	for _, s := range segments {
		switch s := s.(type) {
		case item.TextSegment:
			parts = append(parts, s.Text)
		case item.PasteSegment:
			if s.Name == "" {
				parts = append(parts, s.Text)
				continue
			}
			parts = append(parts, strings.TrimSuffix(s.Framed(), "\n"))
		}
	}
	return strings.Join(parts, "\n\n")
}
