package main

import (
	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/pkg/client"
	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

func newUpdateCommand(p *program) *cobra.Command {
	var flags specFlags
	cmd := &cobra.Command{
		Use:   "update [POD]",
		Short: "Change a pod's settings",
		Long: "Changes the settings of a pod for which you give a flag, and no others. --read and --write replace the whole " +
			"list; --read '' empties it. Other flags with an empty value or 0 restore podd's default.",
		Example: "  podctl update greeter --model gpt-5.1 --budget 5",
		RunE: func(cmd *cobra.Command, args []string) error {
			var spec item.PodSpec
			fields, err := flags.apply(p, cmd, &spec)
			if err != nil {
				return err
			}
			if len(fields) == 0 {
				return usagef("nothing to change: give at least one flag, such as --model")
			}
			return p.withPod(cmd.Context(), args[0], func(c *client.Client, pod string) error {
				resp, err := c.Pods().UpdatePod(cmd.Context(), &poddv1.UpdatePodRequest{
					Pod: pod, Spec: wire.PodSpecToProto(spec), UpdateMask: wire.Fields(fields...),
				})
				if err != nil {
					return err
				}
				p.warn(resp.GetWarnings())
				return p.print(resp.GetPod(), line("updated pod %s", sanitize.Line(resp.GetPod().GetName())))
			})
		},
	}
	flags.register(cmd, "")
	p.completeModels(cmd)
	return cmd
}
