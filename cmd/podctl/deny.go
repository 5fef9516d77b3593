package main

import (
	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/pkg/client"
	poddv1 "podd/proto/podd/v1"
)

func newDenyCommand(p *program) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:               "deny [POD] CALL",
		Short:             "Deny a tool call that waits",
		Long:              "Denies the pending tool call CALL. The model gets the reason and continues without the call.",
		Example:           "  podctl deny api 42 --reason \"use the staging database\"",
		Args:              operands,
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
