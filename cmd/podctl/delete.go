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
		Aliases:           []string{"rm"},
		Short:             "Delete a pod and its log",
		Long:              "Deletes a pod and its log; this cannot be undone. A running turn is cancelled first. The workspace is not touched.",
		Args:              operands,
		ValidArgsFunction: p.completePods,
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.with(func(c *client.Client) error {
				resp, err := c.Pods().GetPod(cmd.Context(), &poddv1.GetPodRequest{Pod: valid(args[0])})
				if err != nil {
					return err
				}
				// By its id: another pod may have the name by now.
				pod := resp.GetPod()
				if _, err := c.Pods().DeletePod(cmd.Context(), &poddv1.DeletePodRequest{Pod: pod.GetId()}); err != nil {
					return err
				}
				return p.print(pod, line("deleted pod %s", sanitize.Line(pod.GetName())))
			})
		},
	}
}
