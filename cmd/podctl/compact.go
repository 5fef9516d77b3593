package main

import (
	"github.com/spf13/cobra"

	"podd/pkg/client"
	poddv1 "podd/proto/podd/v1"
)

func newCompactCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "compact [POD]",
		Short: "Replace older conversation with a summary",
		Long: "Asks the model to summarise all but the newest part of the conversation. Later requests send the summary " +
			"instead. The log keeps everything. The pod must be idle.",
		Args:              operands,
		ValidArgsFunction: p.completePods,
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.withPod(cmd.Context(), args[0], func(c *client.Client, pod string) error {
				resp, err := c.Pods().Compact(cmd.Context(), &poddv1.CompactRequest{Pod: pod})
				if err != nil {
					return err
				}
				return p.print(resp, line("compacted: the summary is entry #%d", resp.GetSeq()))
			})
		},
	}
}
