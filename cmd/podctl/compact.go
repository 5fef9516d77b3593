package main

import (
	"github.com/spf13/cobra"

	"podd/pkg/client"
	poddv1 "podd/proto/podd/v1"
)

func newCompactCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "compact POD",
		Short: "let a summary stand for the older part of a pod's conversation",
		Long: "Asks the model for a summary of the conversation but for its newest part; from then on requests\n" +
			"carry the summary in its place. The log keeps everything. The pod must be idle.",
		Args:              operands,
		ValidArgsFunction: p.completePods,
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.with(func(c *client.Client) error {
				resp, err := c.Pods().Compact(cmd.Context(), &poddv1.CompactRequest{Pod: valid(args[0])})
				if err != nil {
					return err
				}
				return p.print(resp, line("compacted: the summary is entry #%d", resp.GetSeq()))
			})
		},
	}
}
