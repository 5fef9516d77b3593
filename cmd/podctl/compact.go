package main

import (
	"context"

	"github.com/spf13/cobra"

	poddv1 "podd/proto/podd/v1"
)

func newCompactCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "compact [POD]",
		Short: "Replace older conversation with a summary",
		Long: "Asks the model to summarise all but the newest part of the conversation. Later requests send the summary " +
			"instead. The log keeps everything. The pod must be idle.",
		RunE: p.onPod(runCompact),
	}
}

func runCompact(ctx context.Context, s *session, _ []string) error {
	resp, err := s.Pods().Compact(ctx, &poddv1.CompactRequest{Pod: s.pod})
	return s.answer(resp, err, line("compacted: the summary is entry #%d", resp.GetSeq()))
}
