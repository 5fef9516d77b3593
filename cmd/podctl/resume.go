package main

import (
	"context"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/pkg/client"
	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

func newResumeCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "resume [POD]",
		Short: "Resume a paused or interrupted pod",
		Long:  "Resumes a paused pod where it stopped. If the last turn was interrupted, a new turn continues its work.",
		RunE: p.onPod(func(ctx context.Context, c *client.Client, pod string, _ []string) error {
			before, err := c.Pods().GetPod(ctx, &poddv1.GetPodRequest{Pod: pod})
			if err != nil {
				return err
			}
			resp, err := c.Pods().Resume(ctx, &poddv1.ResumeRequest{Pod: pod})
			if err != nil {
				return err
			}
			resumed := wire.PodFromProto(resp.GetPod())
			was := wire.PodFromProto(before.GetPod()).Status
			if was.Pause == nil && was.State != item.StateInterrupted {
				return p.print(resp, line("pod %s was not paused: %s", sanitize.Line(resumed.Name), stateName(resumed)))
			}
			return p.print(resp, line("resumed pod %s: %s", sanitize.Line(resumed.Name), stateName(resumed)))
		}),
	}
}

func newPauseCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "pause [POD]",
		Short: "Pause a pod at its next step",
		Long: "Pauses a pod: a running turn stops at its next step, and no other turn starts until podctl resume. The pause " +
			"survives restarts of podd. New prompts are queued.",
		RunE: p.onPod(func(ctx context.Context, c *client.Client, pod string, _ []string) error {
			resp, err := c.Pods().Pause(ctx, &poddv1.PauseRequest{Pod: pod})
			if err != nil {
				return err
			}
			name := sanitize.Line(resp.GetPod().GetName())
			if resp.GetPod().GetState() == poddv1.PodState_POD_STATE_PAUSED {
				return p.print(resp, line("paused pod %s", name))
			}
			return p.print(resp, line("pod %s pauses at its next step", name))
		}),
	}
}
