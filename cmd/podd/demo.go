package main

import (
	"context"
	"log/slog"

	"github.com/spf13/cobra"

	"podd/internal/config"
	"podd/internal/daemon"
	"podd/internal/demo"
)

func newDemoCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "demo [DIR]",
		Short: "Run a demo that needs no configuration",
		Long: "Starts a daemon in a temporary directory, a scripted model on a loopback port and a pod, submits a prompt\n" +
			"with an @file and shows the turn as it happens. With DIR the pod reads that directory and changes nothing;\n" +
			"otherwise it works in a small sample workspace. Nothing is left behind.",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return noArgs(cmd, args[1:])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c := demo.Config{Console: p.console(), Open: openForDemo}
			if len(args) == 1 {
				c.Dir = args[0]
			}
			return demo.Run(cmd.Context(), c)
		},
	}
}

// openForDemo opens a daemon that logs nothing.
func openForDemo(ctx context.Context, settings config.Config, stateDir, socket string) (demo.Daemon, error) {
	return daemon.Open(ctx, daemon.Config{
		Settings: settings, Socket: socket, StateDir: stateDir, Logger: slog.New(slog.DiscardHandler),
	})
}
