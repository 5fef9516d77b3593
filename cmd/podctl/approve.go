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
	"podd/internal/wire"
	"podd/pkg/client"
	"podd/pkg/item"
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
		Use:   "approve POD CALL",
		Short: "let a call run that waits",
		Long: "Lets the tool call run that waits under CALL, and shows what that is. What is approved is what is shown: a call\n" +
			"that has changed meanwhile asks again. podctl approvals lists the calls that wait.",
		Args:              operands,
		ValidArgsFunction: p.completeCalls,
		RunE: func(cmd *cobra.Command, args []string) error {
			seq, err := callArg(args[1])
			if err != nil {
				return err
			}
			return p.with(func(c *client.Client) error { return p.approve(cmd.Context(), c, valid(args[0]), seq, flags) })
		},
	}
	cmd.Flags().BoolVar(&flags.always, "always", false, "add a rule to the pod, so that such calls don't ask again")
	cmd.Flags().StringVar(&flags.digest, "digest", "", "only when the digest begins with this, as podctl approvals showed it")
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
		// podd says what became of it. Should it begin to wait just now, then nobody has
		// seen it: no call has this digest.
		req.Digest = make([]byte, 32)
	}
	if ok && !strings.HasPrefix(hex.EncodeToString(a.GetDigest()), strings.ToLower(flags.digest)) {
		return item.Errorf(item.KindPrecondition, "APPROVAL_CHANGED",
			"call %d of pod %s has the digest %s, not %s; nothing was approved: look at it with podctl approvals %s",
			seq, pod, view.ShortDigest(string(a.GetDigest())), flags.digest, pod)
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

// addedRule says which rule an answer added, behind what it says of the answer.
func addedRule(resp *poddv1.ResolveApprovalResponse) string {
	if resp.GetRule() == nil {
		return ""
	}
	return "; rule added: " + ruleText(wire.RuleFromProto(resp.GetRule()))
}
