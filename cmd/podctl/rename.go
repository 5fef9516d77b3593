package main

import (
	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/pkg/client"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

func newRenameCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "rename [POD] NEW",
		Short: "Give a pod another name",
		Long: "Gives a pod the name NEW. Its id stays: turns, sub-pods, jobs, and clients that follow it go on. Its old name " +
			"is free at once.",
		Example: "  podctl rename my-project-2 hotfix",
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.withPod(cmd.Context(), args[0], func(c *client.Client, pod string) error {
				now, err := c.Pod(cmd.Context(), pod)
				if err != nil {
					return err
				}
				if now.GetName() == args[1] {
					return item.Errorf(item.KindExists, "SAME_NAME", "the pod %s already has this name: choose another one, as in %s", args[1], usageOf(cmd))
				}
				resp, err := c.Pods().RenamePod(cmd.Context(), &poddv1.RenamePodRequest{Pod: pod, Name: valid(args[1])})
				return p.answer(resp.GetPod(), err, line("renamed pod %s to %s", sanitize.Line(pod), sanitize.Line(resp.GetPod().GetName())))
			})
		},
	}
}
