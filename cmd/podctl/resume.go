package main

import (
	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/pkg/client"
	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

func newResumeCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:               "resume [POD]",
		Short:             "Resume a paused or interrupted pod",
		Long:              "Resumes a paused pod where it stopped. If the last turn was interrupted, a new turn continues its work.",
		Args:              operands,
		ValidArgsFunction: p.completePods,
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.withPod(cmd.Context(), args[0], func(c *client.Client, pod string) error {
				before, err := c.Pods().GetPod(cmd.Context(), &poddv1.GetPodRequest{Pod: pod})
				if err != nil {
					return err
				}
				resp, err := c.Pods().Resume(cmd.Context(), &poddv1.ResumeRequest{Pod: pod})
				if err != nil {
					return err
				}
				resumed := wire.PodFromProto(resp.GetPod())
				was := wire.PodFromProto(before.GetPod()).Status
				if was.Pause == nil && was.State != item.StateInterrupted {
					return p.print(resp, line("pod %s was not paused: %s", sanitize.Line(resumed.Name), stateName(resumed)))
				}
				return p.print(resp, line("resumed pod %s: %s", sanitize.Line(resumed.Name), stateName(resumed)))
			})
		},
	}
}
