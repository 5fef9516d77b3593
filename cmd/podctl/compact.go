package main

import (
	"context"

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
		RunE: p.onPod(func(ctx context.Context, c *client.Client, pod string, _ []string) error {
			resp, err := c.Pods().Compact(ctx, &poddv1.CompactRequest{Pod: pod})
			return p.answer(resp, err, line("compacted: the summary is entry #%d", resp.GetSeq()))
		}),
	}
}
