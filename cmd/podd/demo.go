package main

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"podd/internal/config"
	"podd/internal/daemon"
	"podd/internal/demo"
)

func newDemoCommand(p *program) *cobra.Command {
	page := false
	cmd := &cobra.Command{
		Use:   "demo [DIR]",
		Short: "Run a demo that needs no configuration",
		Long: "Starts a daemon in a temporary directory, a scripted model on a loopback port and a pod, submits a prompt\n" +
			"with an @file and shows the turn as it happens. With DIR the pod reads that directory and changes nothing;\n" +
			"otherwise it works in a small sample workspace. With --web it shows a fleet of pods on the page for browsers\n" +
			"until SIGTERM or SIGINT. Nothing is left behind.",
		Args: func(cmd *cobra.Command, args []string) error {
			if page && len(args) > 0 {
				return noArgs(cmd, args)
			}
			if len(args) > 1 {
				return noArgs(cmd, args[1:])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c := demo.Config{Console: p.console(), Open: openForDemo}
			if page {
				c.Page = pageForDemo
			}
			if len(args) == 1 {
				c.Dir = args[0]
			}
			return demo.Run(cmd.Context(), c)
		},
	}
	cmd.Flags().BoolVar(&page, "web", false, "show pods on the page for browsers")
	return cmd
}

// openForDemo opens a daemon that logs nothing.
func openForDemo(ctx context.Context, settings config.Config, stateDir, socket string, now func() time.Time) (demo.Daemon, error) {
	return daemon.Open(ctx, daemon.Config{
		Settings: settings, Socket: socket, StateDir: stateDir, Now: now, Logger: slog.New(slog.DiscardHandler),
	})
}

// pageForDemo runs podd web for a state directory until ctx ends.
func pageForDemo(ctx context.Context, stateDir string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var said bytes.Buffer
	c := exec.CommandContext(ctx, self, "web", "--listen", "127.0.0.1:0")
	c.Env = append(os.Environ(), "PODD_STATE_DIR="+stateDir)
	c.Stderr = &said
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = 5 * time.Second
	err = c.Run()
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("podd web ended: %w: %s", err, strings.TrimSpace(said.String()))
}
