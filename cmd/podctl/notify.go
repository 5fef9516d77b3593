package main

import (
	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/pkg/client"
	poddv1 "podd/proto/podd/v1"
)

func newNotifyCommand(p *program) *cobra.Command {
	var wake bool
	cmd := &cobra.Command{
		Use:   "notify POD TEXT... or -",
		Short: "leave a note that the model sees at its next step",
		Long: "Leaves a note, TEXT or standard input for -, that the model sees at its next step. An idle pod sees it with\n" +
			"its next turn; --wake begins one.",
		Args:              operands,
		ValidArgsFunction: p.completePods,
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := p.inputText(args[1:], "note")
			if err != nil {
				return err
			}
			return p.with(func(c *client.Client) error {
				resp, err := c.Pods().Notify(cmd.Context(), &poddv1.NotifyRequest{Pod: valid(args[0]), Text: valid(text), Wake: wake})
				if err != nil {
					return err
				}
				return p.print(resp, line("left a note for pod %s, seq %d", sanitize.Line(args[0]), resp.GetSeq()))
			})
		},
	}
	cmd.Flags().BoolVar(&wake, "wake", false, "begin a turn when the pod is idle")
	return cmd
}
