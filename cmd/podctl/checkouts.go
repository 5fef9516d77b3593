package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	poddv1 "podd/proto/podd/v1"
)

type landOptions struct{ into, message string }

func (o *landOptions) command(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "land [POD]",
		Short: "Bring a pod's commits into a branch",
		Long: "Commits what is uncommitted in the checkout of a pod (podctl create --worktree), merges it into a branch of " +
			"your repository, and moves the branch: the one that is checked out, or --into. A working tree that has the " +
			"branch follows, unless it has changes of your own in the same files. If a merge has conflicts, land names them " +
			"and moves nothing.",
		Example: "  podctl land fix-login -m \"Fix the login\"\n  podctl land fix-login --into next",
		RunE:    p.onPod(o.run),
	}
	cmd.Flags().StringVar(&o.into, "into", "", "the branch (default: the one that is checked out)")
	cmd.Flags().StringVarP(&o.message, "message", "m", "", "message of the commit of what is uncommitted")
	completeWith(cmd, "into")
	completeWith(cmd, "message")
	return cmd
}

func (o *landOptions) run(ctx context.Context, s *session, _ []string) error {
	resp, err := s.Checkouts().LandCheckout(ctx, &poddv1.LandCheckoutRequest{Pod: s.pod, Into: o.into, Message: o.message})
	return s.answer(resp, err, line("%s", landed(s.pod, resp)))
}

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

// landed says what became of a branch.
func landed(pod string, resp *poddv1.LandCheckoutResponse) string {
	how := "landed pod %s in branch %s"
	if resp.GetMerged() {
		how = "merged pod %s into branch %s"
	}
	says := fmt.Sprintf(how, sanitize.Line(pod), sanitize.Line(resp.GetBranch()))
	if resp.GetDir() != "" {
		says += " and the files of " + sanitize.Line(resp.GetDir())
	}
	says += fmt.Sprintf(": %.12s %q", sanitize.Line(resp.GetNew()), sanitize.Line(resp.GetSubject()))
	if more := resp.GetCommits() - 1; more > 0 {
		says += fmt.Sprintf(" and %s before it", plural(int(more), "commit"))
	}
	if resp.GetCommitted() {
		says += ", with what was uncommitted"
	}
	return says + fmt.Sprintf("; the branch was at %.12s", sanitize.Line(resp.GetOld()))
}
