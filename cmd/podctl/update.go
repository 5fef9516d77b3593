package main

import (
	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"podd/internal/sanitize"
	"podd/internal/wire"
	"podd/pkg/client"
	"podd/pkg/item"
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
		Args:              operands,
		ValidArgsFunction: p.completePods,
		RunE: func(cmd *cobra.Command, args []string) error {
			var spec item.PodSpec
			fields, err := flags.apply(cmd, &spec)
			if err != nil {
				return err
			}
			if len(fields) == 0 {
				return usagef("there is nothing to change: give at least one flag, such as --model")
			}
			return p.with(func(c *client.Client) error {
				resp, err := c.Pods().UpdatePod(cmd.Context(), &poddv1.UpdatePodRequest{
					Pod: valid(args[0]), Spec: wire.PodSpecToProto(spec), UpdateMask: &fieldmaskpb.FieldMask{Paths: fields},
				})
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
