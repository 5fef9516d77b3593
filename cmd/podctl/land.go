package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	poddv1 "podd/proto/podd/v1"
)

// landOptions are the flags of land.
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
