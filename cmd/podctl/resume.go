package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// resumeOptions are the flags of resume.
type resumeOptions struct{ all bool }

func (o *resumeOptions) command(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "resume [POD]",
		Short: "Resume a paused or interrupted pod",
		Long: "Resumes a paused pod where it stopped. If the last turn was interrupted, a new turn continues its work. " +
			"With --all, the pods that podd paused when it started, as the setting resume says.",
		RunE: p.onPodd(o.run),
	}
	cmd.Flags().BoolVar(&o.all, "all", false, "resume all pods that podd paused when it started")
	return cmd
}

func (o *resumeOptions) run(ctx context.Context, s *session, args []string) error {
	switch {
	case o.all && args[0] != "":
		return usagef("name a pod, or use --all")
	case o.all:
		return resumeAll(ctx, s)
	}
	p, err := s.find(ctx, args[0], nil)
	if err != nil {
		return err
	}
	before, err := s.Pod(ctx, p)
	if err != nil {
		return err
	}
	return resume(ctx, s, before)
}

// resume resumes one pod.
func resume(ctx context.Context, s *session, before *poddv1.Pod) error {
	resp, err := s.Pods().Resume(ctx, &poddv1.ResumeRequest{Pod: before.GetId()})
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

// resumeAll resumes the pods that podd paused when it started. One that can't be resumed keeps none of the others.
func resumeAll(ctx context.Context, s *session) error {
	resp, err := s.Pods().ListPods(ctx, &poddv1.ListPodsRequest{})
	if err != nil {
		return err
	}
	var failed error
	none := true
	for _, p := range resp.GetPods() {
		if !wire.PodFromProto(p).Status.Pause.FromStart() {
			continue
		}
		none = false
		if err := resume(ctx, s, p); err != nil {
			failed = cmp.Or(failed, fmt.Errorf("pod %s: %w", sanitize.Line(p.GetName()), err))
		}
	}
	if none && s.output == outputText {
		_, err := fmt.Fprintln(s.stderr, "podd paused no pods when it started")
		return err
	}
	return failed
}
