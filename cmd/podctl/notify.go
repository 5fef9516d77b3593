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
		Use:   "notify POD [TEXT...]",
		Short: "leave a note that the model sees at its next step",
		Long: "Leaves a note that the model sees at its next step: TEXT, then standard input, as submit takes them. An idle pod\n" +
			"sees it with its next turn; --wake begins one.",
		Args:              operands,
		ValidArgsFunction: p.completePods,
		RunE: func(cmd *cobra.Command, args []string) error {
			segments, err := p.input(cmd, args[1:], "note", noStdin)
			if err != nil {
				return err
			}
			return p.with(func(c *client.Client) error {
				resp, err := c.Pods().Notify(cmd.Context(), &poddv1.NotifyRequest{Pod: valid(args[0]), Text: valid(noteText(segments)), Wake: wake})
				if err != nil {
					return err
				}
				return p.print(resp, line("left a note for pod %s, seq %d", sanitize.Line(args[0]), resp.GetSeq()))
			})
		},
	}
	inputFlag(cmd, &noStdin)
	cmd.Flags().BoolVar(&wake, "wake", false, "begin a turn when the pod is idle")
	return cmd
}

// noteText is input as one text: a note has no pieces.
func noteText(segments []item.Segment) string {
	var parts []string
	for _, s := range segments {
		switch s := s.(type) {
		case item.TextSegment:
			parts = append(parts, s.Text)
		case item.PasteSegment:
			parts = append(parts, s.Text)
		}
	}
	return strings.Join(parts, "\n\n")
}
