package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"podd/internal/clients/top"
	poddv1 "podd/proto/podd/v1"
)

func newTreeCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "tree [POD]",
		Short: "Show a pod, or all, and the sub-pods: what each does, costs and waits for",
		Long: "Shows a pod and the sub-pods below it: the state of each, the turn and the answered requests of it, what the turn cost, " +
			"the letters that no turn has taken, and what it waits for. A sub-pod in the background is marked: no call waits for it.",
		Annotations: withoutPod("all pods"),
		RunE:        p.onPodd(tree),
	}
}

func tree(ctx context.Context, s *session, args []string) error {
	above := ""
	if args[0] != "" {
		got, err := s.Pods().GetPod(ctx, &poddv1.GetPodRequest{Pod: valid(args[0])})
		if err != nil {
			return err
		}
		above = got.GetPod().GetId()
	}
	all, err := s.fleet(ctx)
	if err != nil {
		return err
	}
	pods, depths := top.Tree(all.Pods(), above)
	if len(pods) == 0 && s.output == outputText {
		_, err := fmt.Fprintln(s.stderr, noPods)
		return err
	}
	return printEach(s.program, pods, func() error { return top.WriteTree(s.stdout, pods, depths, s.now()) })
}

// fleet is all pods as they are now, with their work.
func (s *session) fleet(ctx context.Context) (*top.Fleet, error) {
	fleet := top.NewFleet()
	for m, err := range s.Watch(ctx, &poddv1.WatchRequest{Work: true}, func(error) { fleet.Lost() }) {
		if err != nil {
			return nil, err
		}
		if fleet.Take(m); fleet.Complete() {
			break
		}
	}
	return fleet, nil
}
