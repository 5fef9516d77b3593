package main

import (
	"context"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// updateOptions are the flags of update.
type updateOptions struct{ specOptions }

func (o *updateOptions) command(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "update [POD]",
		Short: "Change a pod's settings",
		Long: "Changes the settings of a pod for which you give a flag, and no others. --read and --write replace the whole " +
			"list; --read '' empties it. Other flags with an empty value or 0 restore podd's default.",
		Example: "  podctl update greeter --model gpt-5.1 --budget 5",
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.take(p, cmd); err != nil || len(o.fields) > 0 {
				return err
			}
			return usagef("nothing to change: give at least one flag, such as --model")
		},
		RunE: p.onPod(o.run),
	}
	o.register(p, cmd, "")
	return cmd
}

func (o *updateOptions) run(ctx context.Context, s *session, _ []string) error {
	resp, err := s.Pods().UpdatePod(ctx, &poddv1.UpdatePodRequest{
		Pod: s.pod, Spec: wire.PodSpecToProto(o.spec), UpdateMask: wire.Fields(o.fields...),
	})
	s.warn(resp.GetWarnings())
	return s.answer(resp.GetPod(), err, line("updated pod %s", sanitize.Line(resp.GetPod().GetName())))
}
