package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"podd/internal/clients/view"
	"podd/pkg/client"
	poddv1 "podd/proto/podd/v1"
)

func newApprovalsCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:         "approvals [POD]",
		Short:       "List the tool calls that wait for approval",
		Long:        "Lists the tool calls that wait for approval, of one pod or of all, each with exactly what would run.",
		Annotations: withoutPod("all pods"),
		RunE: p.onPodd(func(ctx context.Context, c *client.Client, args []string) error {
			resp, err := c.Approvals().ListApprovals(ctx, &poddv1.ListApprovalsRequest{Pod: valid(args[0])})
			if err != nil {
				return err
			}
			p.missingNodes(resp.GetMissingNodes(), "approvals")
			list := resp.GetApprovals()
			return printEach(p, list, func() error { return p.approvalBlocks(p.stdout, list) })
		}),
	}
}

// approvals are the calls of a pod that wait; "" means all pods.
func approvals(ctx context.Context, c *client.Client, pod string) ([]*poddv1.Approval, error) {
	resp, err := c.Approvals().ListApprovals(ctx, &poddv1.ListApprovalsRequest{Pod: pod})
	return resp.GetApprovals(), err
}

func (p *program) approvalBlocks(w io.Writer, list []*poddv1.Approval) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(p.stderr, "no calls wait for approval")
		return err
	}
	for i, message := range list {
		if i > 0 {
			fmt.Fprintln(w)
		}
		a := view.ApprovalFromProto(message)
		fmt.Fprintf(w, "%s (%s ago)\n", a.Title(), view.Duration(p.now().Sub(a.Time)))
		if _, err := fmt.Fprintln(w, strings.Join(append(a.Lines(p.columns(w)), a.HowTo(p.now())), "\n")); err != nil {
			return err
		}
	}
	return nil
}

// callArg reads a CALL, the way tail shows one too.
func callArg(arg string) (int64, error) {
	seq, ok := parseSequence(arg)
	if !ok || seq < 1 {
		return 0, usagef("%q is not the number of a call: podctl approvals lists them", arg)
	}
	return seq, nil
}

// waitingCall is the call that waits under a sequence; ok is false when none does.
func waitingCall(ctx context.Context, c *client.Client, pod string, seq int64) (a *poddv1.Approval, ok bool, err error) {
	list, err := approvals(ctx, c, pod)
	for _, a := range list {
		if a.GetCallSeq() == seq {
			return a, true, err
		}
	}
	return &poddv1.Approval{Pod: pod, PodName: pod, CallSeq: seq}, false, err
}

// clientName is what podctl calls itself when it answers.
const clientName = "podctl"

// completeCalls offers the pods, and then the calls of one that wait.
func (p *program) completeCalls(cmd *cobra.Command, args []string, start string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return p.completeOfPod(cmd, args, start, func(ctx context.Context, c *client.Client, pod string, offer func(value, about string)) error {
		list, err := approvals(ctx, c, pod)
		for _, a := range list {
			offer(fmt.Sprint(a.GetCallSeq()), a.GetTool()+": "+beginning(a.GetArguments()))
		}
		return err
	})
}

// until is a future time, and how far away it is.
func until(t, now time.Time) string {
	if d := t.Sub(now); d > 0 {
		return fmt.Sprintf("%s, in %s", stamp(t), view.Duration(d))
	}
	return stamp(t)
}
