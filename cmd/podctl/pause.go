package main

import (
	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/pkg/client"
	poddv1 "podd/proto/podd/v1"
)

func newPauseCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "pause [POD]",
		Short: "Pause a pod at its next step",
		Long: "Pauses a pod: a running turn stops at its next step, and no other turn starts until podctl resume. The pause " +
			"survives restarts of podd. New prompts are queued.",
		Args:              operands,
		ValidArgsFunction: p.completePods,
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.withPod(cmd.Context(), args[0], func(c *client.Client, pod string) error {
				resp, err := c.Pods().Pause(cmd.Context(), &poddv1.PauseRequest{Pod: pod})
				if err != nil {
					return err
				}
				name := sanitize.Line(resp.GetPod().GetName())
				if resp.GetPod().GetState() == poddv1.PodState_POD_STATE_PAUSED {
					return p.print(resp, line("paused pod %s", name))
				}
				return p.print(resp, line("pod %s pauses at its next step", name))
			})
		},
	}
}
