package main

import (
	"context"

	"github.com/spf13/cobra"

	"podd/internal/clients/remote"
	"podd/pkg/client"
	"podd/pkg/paths"
)

// newDialStdioCommand makes the verb that a podctl with -H runs on the other machine. It is
// hidden: no person types it.
func newDialStdioCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:    "dial-stdio",
		Short:  "Join standard input and output to podd's socket, for podctl -H",
		Hidden: true,
		RunE:   func(cmd *cobra.Command, _ []string) error { return p.dialStdio(cmd.Context()) },
	}
}

func (p *program) dialStdio(ctx context.Context) error {
	cfg, err := p.at.localConfig()
	if err != nil {
		return remote.Refuse(p.stdout, err)
	}
	conn, err := client.Dial(ctx, cfg.Socket)
	if err != nil {
		return remote.Refuse(p.stdout, err)
	}
	// Without a token podd refuses the calls that need it, and says why.
	token, _ := paths.ReadToken(cfg.StateDir)
	return remote.Serve(conn, token, p.stdin, p.stdout)
}
