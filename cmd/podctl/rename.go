package main

import (
	"context"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

func newRenameCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "rename [POD] NEW",
		Short: "Give a pod another name",
		Long: "Gives a pod the name NEW. Its id stays: turns, sub-pods, jobs, and clients that follow it go on. Its old name " +
			"is free at once.",
		Example: "  podctl rename my-project-2 hotfix",
		RunE:    p.onPod(runRename),
	}
}

func runRename(ctx context.Context, s *session, args []string) error {
	now, err := s.Pod(ctx, s.pod)
	if err != nil {
		return err
	}
	if now.GetName() == args[1] {
		return item.Errorf(item.KindExists, "SAME_NAME", "the pod %s already has this name: choose another one, as in podctl rename [POD] NEW", args[1])
	}
	resp, err := s.Pods().RenamePod(ctx, &poddv1.RenamePodRequest{Pod: s.pod, Name: valid(args[1])})
	return s.answer(resp.GetPod(), err, line("renamed pod %s to %s", sanitize.Line(s.pod), sanitize.Line(resp.GetPod().GetName())))
}
