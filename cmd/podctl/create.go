package main

import (
	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/internal/wire"
	"podd/pkg/client"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

func newCreateCommand(p *program) *cobra.Command {
	var flags specFlags
	var yes bool
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Create a pod",
		Long: "Creates a pod whose workspace is the current directory, or DIR with --dir. Its file tools are limited to the\n" +
			"workspace and the directories given with --read and --write. podctl update changes any of this later.",
		Example:           "  podctl create api --dir ~/src/api --budget 5",
		Args:              operands,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			var spec item.PodSpec
			if err := p.at.directory(flags.dir, &spec.Dir); err != nil {
				return err
			}
			if _, err := flags.apply(p, cmd, &spec); err != nil {
				return err
			}
			if err := p.allowWide(cmd.Context(), spec.Dir, yes); err != nil {
				return err
			}
			return p.with(func(c *client.Client) error {
				resp, err := c.Pods().CreatePod(cmd.Context(), &poddv1.CreatePodRequest{Name: valid(args[0]), Spec: wire.PodSpecToProto(spec)})
				if err != nil {
					return err
				}
				warn(p, resp.GetWarnings())
				pod := resp.GetPod()
				return p.print(pod, line("created pod %s in %s", sanitize.Line(pod.GetName()), sanitize.Line(pod.GetSpec().GetDir())))
			})
		},
	}
	flags.register(cmd, ".")
	yesFlag(cmd, &yes)
	completeModels(p, cmd)
	return cmd
}
