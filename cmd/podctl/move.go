package main

import (
	"context"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/pkg/client"
	poddv1 "podd/proto/podd/v1"
)

func newMoveCommand(p *program) *cobra.Command {
	r := new(poddv1.MovePodRequest)
	cmd := &cobra.Command{
		Use:   "move [POD] NODE",
		Short: "Give a pod to another node",
		Long: "Gives a pod, with its sub-pods, to the node NODE, which goes on with its turn and its submits. A running turn " +
			"stops as when podd stops. Files are not copied: NODE needs the same directory, or another one with --dir.",
		Example: "  podctl move api n2 --dir /srv/api",
		RunE: p.onPod(func(ctx context.Context, c *client.Client, pod string, args []string) error {
			r.Pod, r.Node, r.Dir = pod, valid(args[1]), valid(r.GetDir())
			resp, err := c.Fleet().MovePod(ctx, r)
			if err != nil {
				return err
			}
			moved := resp.GetPod()
			return p.print(moved, line("moved pod %s to %s:%s", sanitize.Line(moved.GetName()), sanitize.Line(moved.GetNode()), sanitize.Line(moved.GetSpec().GetDir())))
		}),
	}
	cmd.Flags().StringVar(&r.Dir, "dir", "", "absolute path of its workspace on that node (default: the same path)")
	cmd.Flags().BoolVar(&r.Force, "force", false, "also from a node that is away: be sure that its machine is off")
	return cmd
}

func newNodesRmCommand(p *program) *cobra.Command {
	r := new(poddv1.RemoveNodeRequest)
	cmd := &cobra.Command{
		Use:   "rm NAME",
		Short: "Remove a node that is gone for good",
		Long:  "Removes a node from the list. Its podd must not run. If podd runs there again, the node is back.",
		RunE: p.onPodd(func(ctx context.Context, c *client.Client, args []string) error {
			r.Name = valid(args[0])
			resp, err := c.Fleet().RemoveNode(ctx, r)
			return p.answer(resp, err, line("removed node %s", sanitize.Line(r.GetName())))
		}),
	}
	cmd.Flags().BoolVar(&r.Force, "force", false, "although it has pods, which nobody can change until they are moved")
	return cmd
}
