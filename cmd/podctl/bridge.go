package main

import (
	"context"

	"github.com/spf13/cobra"

	"podd/internal/clients/bridge"
	"podd/pkg/client"
)

func newBridgeCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "bridge",
		Short: "speak for podd in lines of JSON, for editors",
		Long: "Speaks for podd in lines of JSON on standard input and output, for editors and other programs that start a\n" +
			"process more easily than they speak gRPC. It goes on across restarts of podd and ends with its input.\n" +
			"docs/bridge.md is the protocol; -o changes nothing here.",
		Example: `  echo '{"id":1,"method":"ListPods"}' | podctl bridge`,
		Args:    operands,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := p.clientConfig()
			if err != nil {
				return err
			}
			cfg.Patient = true
			c, err := client.New(cfg)
			if err != nil {
				return err
			}
			defer c.Close()
			return bridge.Run(cmd.Context(), bridge.Config{
				In: p.stdin, Out: p.stdout, Client: c, Socket: cfg.Socket,
				FindPod: func(ctx context.Context, dir string, create bool) (string, bool, error) {
					return podFor(ctx, c, valid(dir), create)
				},
			})
		},
	}
}
