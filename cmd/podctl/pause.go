package main

import (
	"context"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	poddv1 "podd/proto/podd/v1"
)

func newPauseCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "pause [POD]",
		Short: "Pause a pod at its next step",
		Long: "Pauses a pod: a running turn stops at its next step, and no other turn starts until podctl resume. The pause " +
			"survives restarts of podd. New prompts are queued.",
		RunE: p.onPod(runPause),
	}
}

func runPause(ctx context.Context, s *session, _ []string) error {
	resp, err := s.Pods().Pause(ctx, &poddv1.PauseRequest{Pod: s.pod})
	says := "pod %s pauses at its next step"
	if resp.GetPod().GetState() == poddv1.PodState_POD_STATE_PAUSED {
		says = "paused pod %s"
	}
	return s.answer(resp, err, line(says, sanitize.Line(resp.GetPod().GetName())))
}
