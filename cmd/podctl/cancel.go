package main

import (
	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/pkg/client"
	poddv1 "podd/proto/podd/v1"
)

func newCancelCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:               "cancel POD",
		Short:             "end the running turn of a pod",
		Long:              "Ends the open turn of a pod with the outcome cancelled, also one that can't go on. Submits that wait stay, and the next one begins.",
		Args:              operands,
		ValidArgsFunction: p.completePods,
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.with(func(c *client.Client) error {
				resp, err := c.Pods().Cancel(cmd.Context(), &poddv1.CancelRequest{Pod: valid(args[0])})
				if err != nil {
					return err
				}
				if !resp.GetCancelled() {
					return p.print(resp, line("pod %s has no running turn", sanitize.Line(args[0])))
				}
				return p.print(resp, line("cancelled turn %d of pod %s", resp.GetTurn(), sanitize.Line(args[0])))
			})
		},
	}
}
