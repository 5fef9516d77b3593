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
	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// approveOptions are the flags of approve, and its operand.
type approveOptions struct {
	call   int64
	always bool
	digest string
}

func (o *approveOptions) command(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "approve [POD] CALL",
		Short: "Approve a tool call that waits",
		Long: "Approves the pending tool call CALL and prints it. Exactly what is printed is approved: a call that has changed " +
			"asks again. podctl approvals lists the pending calls.",
		Example:           "  podctl approvals\n  podctl approve api 42",
		ValidArgsFunction: p.completeOfPod(1, calls),
		PreRunE:           callOperand(&o.call),
		RunE:              p.onPod(o.run),
	}
	cmd.Flags().BoolVar(&o.always, "always", false, "add a rule to the pod so that such calls run without asking")
	cmd.Flags().StringVar(&o.digest, "digest", "", "approve only if the call's digest starts with this (podctl approvals shows it)")
	completeWith(cmd, "digest")
	return cmd
}

// callOperand reads the operand CALL behind POD, the way tail shows one too.
func callOperand(to *int64) func(*cobra.Command, []string) error {
	return func(_ *cobra.Command, args []string) (err error) {
		*to, err = numberOf(args[1], "a call: podctl approvals lists them")
		return err
	}
}

func (o *approveOptions) run(ctx context.Context, s *session, _ []string) error {
	a, ok, err := waitingCall(ctx, s, o.call)
	if err != nil {
		return err
	}
	req := &poddv1.ResolveApprovalRequest{
		Pod: s.pod, CallSeq: o.call, Approve: true, Always: o.always, Client: clientName, Digest: a.GetDigest(),
	}
	if !ok {
		// podd's error says why the call does not wait. If it starts to wait just now, no
		// person has seen it, so send a digest that no call has.
		req.Digest = make([]byte, 32)
	}
	if ok && !strings.HasPrefix(hex.EncodeToString(a.GetDigest()), strings.ToLower(o.digest)) {
		return item.Errorf(item.KindPrecondition, "APPROVAL_CHANGED",
			"call %d of pod %s now has the digest %s, not %s; it was not approved: review it with podctl approvals %s",
			o.call, s.pod, view.ShortDigest(string(a.GetDigest())), o.digest, s.pod)
	}
	if ok && o.always {
		if err := proposeRule(ctx, s, a); err != nil {
			return err
		}
	}
	resp, err := s.Approvals().ResolveApproval(ctx, req)
	if err != nil {
		return err
	}
	return s.print(a, func(w io.Writer) error {
		shown := view.ApprovalFromProto(a)
		_, err := fmt.Fprintf(w, "%s\napproved call %d of pod %s%s\n", strings.Join(shown.Lines(s.columns(w)), "\n"), o.call, sanitize.Line(shown.Pod), addedRule(resp))
		return err
	})
}

// proposeRule asks the person at the terminal about the rule that always would add. Without a
// terminal --always is the answer.
func proposeRule(ctx context.Context, s *session, a *poddv1.Approval) error {
	if _, ok := terminal(s.stdin); !ok {
		return nil
	}
	resp, err := s.Approvals().GetApprovalRule(ctx, &poddv1.GetApprovalRuleRequest{Pod: a.GetPod(), CallSeq: a.GetCallSeq()})
	if err != nil {
		return err
	}
	pod := sanitize.Line(a.GetPodName())
	return s.asked(ctx, fmt.Sprintf("Approve call %d of pod %s, and add the rule %s?", a.GetCallSeq(), pod, view.Rule(wire.RuleFromProto(resp.GetRule()))), nil,
		item.Errorf(item.KindPrecondition, "NOT_APPROVED", "call %d of pod %s still waits: approve it without --always, or deny it", a.GetCallSeq(), pod))
}

// addedRule names the rule that an answer added, as the end of a line about the answer.
func addedRule(resp *poddv1.ResolveApprovalResponse) string {
	if resp.GetRule() == nil {
		return ""
	}
	return "; rule added: " + view.Rule(wire.RuleFromProto(resp.GetRule()))
}
