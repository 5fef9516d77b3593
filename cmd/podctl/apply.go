package main

import (
	"context"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	poddv1 "podd/proto/podd/v1"
)

// applyOptions are the flags of apply.
type applyOptions struct{ skip, dryRun bool }

func (o *applyOptions) command(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "apply [POD]",
		Short: "Bring a pod's files into your working tree",
		Long: "Brings what a pod changed in its checkout (podctl create --worktree) into your working tree, without a commit: " +
			"all since the pod began, or since the last apply. It never overwrites a file that differs from the one the pod " +
			"began with: if there is one, it changes nothing and names it. Files that git ignores stay out.",
		Example: "  podctl apply fix-login --dry-run",
		RunE:    p.onPod(o.run),
	}
	cmd.Flags().BoolVar(&o.skip, "skip", false, "skip files that differ from those the pod began with, and change the others")
	cmd.Flags().BoolVarP(&o.dryRun, "dry-run", "n", false, "only say what would change")
	return cmd
}

func (o *applyOptions) run(ctx context.Context, s *session, _ []string) error {
	resp, err := s.Checkouts().ApplyCheckout(ctx, &poddv1.ApplyCheckoutRequest{Pod: s.pod, Skip: o.skip, DryRun: o.dryRun})
	return s.answer(resp, err, line("%s", applied(resp, o.dryRun)))
}

// applied says what became of files.
func applied(resp *poddv1.ApplyCheckoutResponse, dry bool) string {
	did := "changed "
	if dry {
		did = "would change "
	}
	did += plural(len(resp.GetPaths()), "path") + " in " + sanitize.Line(resp.GetDir())
	if len(resp.GetPaths()) == 0 {
		did = "nothing to change in " + sanitize.Line(resp.GetDir())
	}
	return did + listed(resp.GetPaths(), nil, resp.GetKept())
}
