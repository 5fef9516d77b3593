package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	poddv1 "podd/proto/podd/v1"
)

func newRestoreCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "restore POD [NEW]",
		Short: "Bring a deleted pod back",
		Long: "Brings a deleted pod back, with the sub-pods that were deleted with it. POD is its old name or its id: of " +
			"several with the name, the last deleted. NEW is its name from now on. podctl list --trash shows the deleted " +
			"pods.",
		Example:           "  podctl list --trash\n  podctl restore api\n  podctl restore api api-2",
		ValidArgsFunction: p.complete(1, trashed),
		RunE:              p.onPodd(runRestore),
	}
}

func runRestore(ctx context.Context, s *session, args []string) error {
	resp, err := s.Pods().RestorePod(ctx, &poddv1.RestorePodRequest{Pod: valid(args[0]), Name: valid(strings.Join(args[1:], ""))})
	return s.answer(resp.GetPod(), err, line("restored pod %s", sanitize.Line(resp.GetPod().GetName())))
}

// trashed finds the deleted pods.
func trashed(ctx context.Context, s *session, offer func(value, about string)) error {
	resp, err := s.Pods().ListTrash(ctx, &poddv1.ListTrashRequest{})
	for _, pod := range resp.GetPods() {
		offer(pod.GetPod().GetName(), pod.GetPod().GetSpec().GetDir())
	}
	return err
}
