package main

import (
	"context"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	poddv1 "podd/proto/podd/v1"
)

// denyOptions are the flags of deny, and its operand.
type denyOptions struct {
	call   int64
	reason string
}

func (o *denyOptions) command(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:               "deny [POD] CALL",
		Short:             "Deny a tool call that waits",
		Long:              "Denies the pending tool call CALL. The model gets the reason and continues without the call.",
		Example:           "  podctl deny api 42 --reason \"use the staging database\"",
		ValidArgsFunction: p.completeOfPod(1, calls),
		PreRunE:           callOperand(&o.call),
		RunE:              p.onPod(o.run),
	}
	cmd.Flags().StringVar(&o.reason, "reason", "", "reason to give the model")
	completeWith(cmd, "reason")
	return cmd
}

func (o *denyOptions) run(ctx context.Context, s *session, _ []string) error {
	a, _, err := waitingCall(ctx, s, o.call)
	if err != nil {
		return err
	}
	// No digest: even if the call has changed, it must not run.
	_, err = s.Approvals().ResolveApproval(ctx, &poddv1.ResolveApprovalRequest{Pod: s.pod, CallSeq: o.call, Reason: valid(o.reason), Client: clientName})
	return s.answer(a, err, line("denied call %d of pod %s", o.call, sanitize.Line(a.GetPodName())))
}
