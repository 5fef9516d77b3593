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
		Use:               "deny POD CALL",
		Short:             "refuse a call that waits",
		Long:              "Refuses the tool call that waits under CALL: the model is told, with the reason, and goes on without it.",
		Args:              operands,
		ValidArgsFunction: p.completeCalls,
		RunE: func(cmd *cobra.Command, args []string) error {
			seq, err := callArg(args[1])
			if err != nil {
				return err
			}
			pod := valid(args[0])
			return p.with(func(c *client.Client) error {
				a, _, err := waitingCall(cmd.Context(), c, pod, seq)
				if err != nil {
					return err
				}
				// Whatever the call is by now, it must not run.
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
	cmd.Flags().StringVar(&reason, "reason", "", "what the model is told")
	completeWith(cmd, "reason")
	return cmd
}
