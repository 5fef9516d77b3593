package main

import (
	"context"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

func newResumeCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "resume [POD]",
		Short: "Resume a paused or interrupted pod",
		Long:  "Resumes a paused pod where it stopped. If the last turn was interrupted, a new turn continues its work.",
		RunE:  p.onPod(runResume),
	}
}

func runResume(ctx context.Context, s *session, _ []string) error {
	before, err := s.Pod(ctx, s.pod)
	if err != nil {
		return err
	}
	resp, err := s.Pods().Resume(ctx, &poddv1.ResumeRequest{Pod: s.pod})
	if err != nil {
		return err
	}
	says := "resumed pod %s: %s"
	if was := wire.PodFromProto(before).Status; was.Pause == nil && was.State != item.StateInterrupted {
		says = "pod %s was not paused: %s"
	}
	resumed := wire.PodFromProto(resp.GetPod())
	return s.print(resp, line(says, sanitize.Line(resumed.Name), stateName(resumed)))
}
