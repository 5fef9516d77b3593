package main

import (
	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/pkg/client"
	poddv1 "podd/proto/podd/v1"
)

func newDeleteCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:               "delete POD",
		Short:             "remove a pod and its log for good",
		Long:              "Removes a pod and its log for good. A running turn is cancelled first. The workspace stays as it is.",
		Args:              operands,
		ValidArgsFunction: p.completePods,
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.with(func(c *client.Client) error {
				resp, err := c.Pods().GetPod(cmd.Context(), &poddv1.GetPodRequest{Pod: valid(args[0])})
				if err != nil {
					return err
				}
				// By its id: the name may be another pod's by now.
				pod := resp.GetPod()
				if _, err := c.Pods().DeletePod(cmd.Context(), &poddv1.DeletePodRequest{Pod: pod.GetId()}); err != nil {
					return err
				}
				return p.print(pod, line("deleted pod %s", sanitize.Line(pod.GetName())))
			})
		},
	}
}
