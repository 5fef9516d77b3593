package main

import (
	"slices"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/internal/wire"
	"podd/pkg/client"
	poddv1 "podd/proto/podd/v1"
)

func newUpdateCommand(p *program) *cobra.Command {
	var flags specFlags
	cmd := &cobra.Command{
		Use:   "update POD",
		Short: "change what a pod was made with",
		Long: "Changes what a pod was made with: what a flag is given for, and nothing else. --read and --write name the\n" +
			"whole list anew. An empty value or 0 goes back to podd's own setting; --read '' to none.",
		Example:           "  podctl update greeter --model gpt-5.1 --budget 5",
		Args:              argCount(1, 1, "a POD"),
		ValidArgsFunction: p.completePods,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.ContainsFunc(specNames, cmd.Flags().Changed) {
				return usagef("there is nothing to change: give at least one flag, such as --model")
			}
			return p.with(func(c *client.Client) error {
				found, err := c.Pods().GetPod(cmd.Context(), &poddv1.GetPodRequest{Pod: valid(args[0])})
				if err != nil {
					return err
				}
				spec := wire.PodSpecFromProto(found.GetPod().GetSpec())
				if err := flags.apply(cmd, &spec); err != nil {
					return err
				}
				// By its id: the name may be another pod's by now.
				resp, err := c.Pods().UpdatePod(cmd.Context(), &poddv1.UpdatePodRequest{Pod: found.GetPod().GetId(), Spec: wire.PodSpecToProto(spec)})
				if err != nil {
					return err
				}
				return p.print(resp.GetPod(), line("updated pod %s", sanitize.Line(resp.GetPod().GetName())))
			})
		},
	}
	flags.register(cmd, "")
	return cmd
}
