package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"podd/internal/clients/view"
	"podd/pkg/client"
	poddv1 "podd/proto/podd/v1"
)

func newApprovalsCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:     "approvals [POD]",
		Aliases: []string{"questions"},
		Short:   "List the tool calls that wait for a person",
		Long: "Lists the tool calls that wait for a person, of one pod or of all: those that need an approval, each with exactly what would run, " +
			"and those that ask a question, each with the command that answers it.",
		Annotations: withoutPod("all pods"),
		RunE:        p.onPodd(runApprovals),
	}
}

func runApprovals(ctx context.Context, s *session, args []string) error {
	resp, err := s.Approvals().ListApprovals(ctx, &poddv1.ListApprovalsRequest{Pod: valid(args[0])})
	if err != nil {
		return err
	}
	s.missingNodes(resp.GetMissingNodes(), "approvals")
	waiting := resp.GetApprovals()
	return printEach(s.program, waiting, func() error {
		if len(waiting) == 0 {
			_, err := fmt.Fprintln(s.stderr, "no calls wait for approval")
			return err
		}
		for i, message := range waiting {
			if i > 0 {
				fmt.Fprintln(s.stdout)
			}
			a := view.ApprovalFromProto(message)
			fmt.Fprintf(s.stdout, "%s (%s ago)\n", a.Title(), view.Duration(s.now().Sub(a.Time)))
			if _, err := fmt.Fprintln(s.stdout, strings.Join(append(a.Lines(s.columns(s.stdout)), a.HowTo(s.now())), "\n")); err != nil {
				return err
			}
		}
		return nil
	})
}

// approvals are the calls of a pod that wait.
func approvals(ctx context.Context, c *client.Client, pod string) ([]*poddv1.Approval, error) {
	resp, err := c.Approvals().ListApprovals(ctx, &poddv1.ListApprovalsRequest{Pod: pod})
	return resp.GetApprovals(), err
}

// waitingCall is the call that waits under a sequence; ok is false when none does.
func waitingCall(ctx context.Context, s *session, seq int64) (a *poddv1.Approval, ok bool, err error) {
	list, err := approvals(ctx, s.Client, s.pod)
	for _, a := range list {
		if a.GetCallSeq() == seq {
			return a, true, err
		}
	}
	return &poddv1.Approval{Pod: s.pod, PodName: s.pod, CallSeq: seq}, false, err
}

// clientName is what podctl calls itself when it answers.
const clientName = "podctl"

// calls finds the calls of a pod that wait.
func calls(ctx context.Context, s *session, offer func(value, about string)) error {
	waiting, err := approvals(ctx, s.Client, s.pod)
	for _, a := range waiting {
		if f := view.ApprovalFromProto(a).Form; f != nil {
			offer(fmt.Sprint(a.GetCallSeq()), a.GetTool()+": "+beginning(f.Line()))
			continue
		}
		offer(fmt.Sprint(a.GetCallSeq()), a.GetTool()+": "+beginning(a.GetArguments()))
	}
	return err
}

// until is a future time, and how far away it is.
func until(t, now time.Time) string {
	if d := t.Sub(now); d > 0 {
		return fmt.Sprintf("%s, in %s", stamp(t), view.Duration(d))
	}
	return stamp(t)
}
