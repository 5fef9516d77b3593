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
		Short: "Relay podd's API as lines of JSON, for editor plugins",
		Long: "Relays podd's API as lines of JSON on standard input and output, for editors and other programs that cannot " +
			"easily speak gRPC. It survives restarts of podd and ends when its input ends. docs/clients.md describes the " +
			"protocol; -o has no effect.",
		Example: `  echo '{"id":1,"method":"ListPods"}' | podctl bridge`,
		RunE:    func(cmd *cobra.Command, _ []string) error { return p.bridge(cmd.Context()) },
	}
}

func (p *program) bridge(ctx context.Context) error {
	outliveReaders()
	cfg, err := p.at.clientConfig()
	if err != nil {
		return err
	}
	cfg.Patient = true
	c, err := client.New(cfg)
	if err != nil {
		return err
	}
	defer c.Close()
	return bridge.Run(ctx, bridge.Config{
		In: p.stdin, Out: p.stdout, Client: c, Socket: cfg.Socket,
		FindPod: func(ctx context.Context, dir string, create bool) (string, bool, error) {
			return podFor(ctx, c, valid(dir), create)
		},
	})
}
