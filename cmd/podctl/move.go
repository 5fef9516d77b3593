package main

import (
	"context"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	poddv1 "podd/proto/podd/v1"
)

// moveOptions are the flags of move.
type moveOptions struct {
	dir   string
	force bool
}

func (o *moveOptions) command(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "move [POD] NODE",
		Short: "Give a pod to another node",
		Long: "Gives a pod, with its sub-pods, to the node NODE, which goes on with its turn and its submits. A running turn " +
			"stops as when podd stops. Files are not copied: NODE needs the same directory, or another one with --dir.",
		Example: "  podctl move api n2 --dir /srv/api",
		RunE:    p.onPod(o.run),
	}
	cmd.Flags().StringVar(&o.dir, "dir", "", "absolute path of its workspace on that node (default: the same path)")
	cmd.Flags().BoolVar(&o.force, "force", false, "also from a node that is away: be sure that its machine is off")
	return cmd
}

func (o *moveOptions) run(ctx context.Context, s *session, args []string) error {
	resp, err := s.Fleet().MovePod(ctx, &poddv1.MovePodRequest{Pod: s.pod, Node: valid(args[1]), Dir: valid(o.dir), Force: o.force})
	moved := resp.GetPod()
	return s.answer(moved, err, line("moved pod %s to %s:%s", sanitize.Line(moved.GetName()), sanitize.Line(moved.GetNode()), sanitize.Line(moved.GetSpec().GetDir())))
}
