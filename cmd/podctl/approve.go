package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"podd/internal/clients/view"
	"podd/internal/sanitize"
	"podd/pkg/client"
	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// approveFlags are the flags of approve.
type approveFlags struct {
	always bool
	digest string
}

func newApproveCommand(p *program) *cobra.Command {
	var flags approveFlags
	cmd := &cobra.Command{
		Use:   "approve [POD] CALL",
		Short: "Approve a tool call that waits",
		Long: "Approves the pending tool call CALL and prints it. Exactly what is printed is approved: a call that has changed " +
			"asks again. podctl approvals lists the pending calls.",
		Example:           "  podctl approvals\n  podctl approve api 42",
		ValidArgsFunction: p.completeCalls,
		RunE: func(cmd *cobra.Command, args []string) error {
			seq, err := callArg(args[1])
			if err != nil {
				return err
			}
			return p.withPod(cmd.Context(), args[0], func(c *client.Client, pod string) error {
				return p.approve(cmd.Context(), c, pod, seq, flags)
			})
		},
	}
	cmd.Flags().BoolVar(&flags.always, "always", false, "add a rule to the pod so that such calls run without asking")
	cmd.Flags().StringVar(&flags.digest, "digest", "", "approve only if the call's digest starts with this (podctl approvals shows it)")
	completeWith(cmd, "digest")
	return cmd
}

func (p *program) approve(ctx context.Context, c *client.Client, pod string, seq int64, flags approveFlags) error {
	a, ok, err := waitingCall(ctx, c, pod, seq)
	if err != nil {
		return err
	}
	req := &poddv1.ResolveApprovalRequest{
		Pod: pod, CallSeq: seq, Approve: true, Always: flags.always, Client: clientName, Digest: a.GetDigest(),
	}
	if !ok {
		// podd's error says why the call does not wait. If it starts to wait just now, no
		// person has seen it, so send a digest that no call has.
		req.Digest = make([]byte, 32)
	}
	if ok && !strings.HasPrefix(hex.EncodeToString(a.GetDigest()), strings.ToLower(flags.digest)) {
		return item.Errorf(item.KindPrecondition, "APPROVAL_CHANGED",
			"call %d of pod %s now has the digest %s, not %s; it was not approved: review it with podctl approvals %s",
			seq, pod, view.ShortDigest(string(a.GetDigest())), flags.digest, pod)
	}
	if ok && flags.always {
		if err := p.proposeRule(ctx, c, a); err != nil {
			return err
		}
	}
	resp, err := c.Approvals().ResolveApproval(ctx, req)
	if err != nil {
		return err
	}
	return p.print(a, func(w io.Writer) error {
		shown := view.ApprovalFromProto(a)
		_, err := fmt.Fprintf(w, "%s\napproved call %d of pod %s%s\n", strings.Join(shown.Lines(p.columns(w)), "\n"), seq, sanitize.Line(shown.Pod), addedRule(resp))
		return err
	})
}

// proposeRule asks the person at the terminal about the rule that always would add. Without a
// terminal --always is the answer.
func (p *program) proposeRule(ctx context.Context, c *client.Client, a *poddv1.Approval) error {
	if _, ok := terminal(p.stdin); !ok {
		return nil
	}
	resp, err := c.Approvals().GetApprovalRule(ctx, &poddv1.GetApprovalRuleRequest{Pod: a.GetPod(), CallSeq: a.GetCallSeq()})
	if err != nil {
		return err
	}
	pod := sanitize.Line(a.GetPodName())
	return p.asked(ctx, fmt.Sprintf("Approve call %d of pod %s, and add the rule %s?", a.GetCallSeq(), pod, view.Rule(wire.RuleFromProto(resp.GetRule()))), nil,
		item.Errorf(item.KindPrecondition, "NOT_APPROVED", "call %d of pod %s still waits: approve it without --always, or deny it", a.GetCallSeq(), pod))
}

// addedRule names the rule that an answer added, as the end of a line about the answer.
func addedRule(resp *poddv1.ResolveApprovalResponse) string {
	if resp.GetRule() == nil {
		return ""
	}
	return "; rule added: " + view.Rule(wire.RuleFromProto(resp.GetRule()))
}

func newDenyCommand(p *program) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:               "deny [POD] CALL",
		Short:             "Deny a tool call that waits",
		Long:              "Denies the pending tool call CALL. The model gets the reason and continues without the call.",
		Example:           "  podctl deny api 42 --reason \"use the staging database\"",
		ValidArgsFunction: p.completeCalls,
		RunE: func(cmd *cobra.Command, args []string) error {
			seq, err := callArg(args[1])
			if err != nil {
				return err
			}
			return p.withPod(cmd.Context(), args[0], func(c *client.Client, pod string) error {
				a, _, err := waitingCall(cmd.Context(), c, pod, seq)
				if err != nil {
					return err
				}
				// No digest: even if the call has changed, it must not run.
				_, err = c.Approvals().ResolveApproval(cmd.Context(), &poddv1.ResolveApprovalRequest{
					Pod: pod, CallSeq: seq, Reason: valid(reason), Client: clientName,
				})
				if err != nil {
					return err
				}
				return p.print(a, line("denied call %d of pod %s", seq, sanitize.Line(a.GetPodName())))
			})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "reason to give the model")
	completeWith(cmd, "reason")
	return cmd
}
