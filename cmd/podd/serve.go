package main

import (
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"podd/internal/config"
	"podd/internal/daemon"
	"podd/pkg/item"
	"podd/pkg/paths"
	"podd/pkg/socket"
)

func newServeCommand(p *program) *cobra.Command {
	var logs logFlags
	var debug string
	var private bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve in the foreground until SIGTERM or SIGINT (the default)",
		Long: "Serves in the foreground and logs to standard error; it logs \"podd ready\" once it answers.\n" +
			"SIGTERM and SIGINT drain podd: running turns stop at their next step. A second signal stops it at once.\n" +
			"SIGUSR1 does the same for a podd that starts again at once: commands and jobs run on.\n" +
			"If SIGTERM or SIGINT follows it, they end.\n" +
			"SIGHUP reloads the configuration, as podctl reload does.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// The format depends on the file, so ask before the queue is in between.
			if _, err := logs.logger(p.stderr); err != nil {
				return err
			}
			p.runsOn(logs.lost)
			logger, err := logs.logger(p.stderr)
			if err != nil {
				return err
			}
			c, err := p.daemonConfig()
			if err != nil {
				return err
			}
			ctx, hurry, stop, err := p.lifetime(cmd.Context(), &c, private)
			if err != nil {
				return err
			}
			defer stop()
			if debug == "" {
				// Without the debug socket no one can read the profile; its table takes a megabyte.
				runtime.MemProfileRate = 0
			} else {
				if c.DebugSocket, err = filepath.Abs(debug); err != nil {
					return err
				}
			}
			c.Logger, c.Hangup, c.Restarts = logger, p.hangup, p.restarts
			d, err := daemon.Open(ctx, c)
			if err != nil && ctx.Err() != nil {
				logger.Info("podd stopped before it was ready", "error", err)
				return nil
			}
			if err != nil {
				return err
			}
			return d.Serve(ctx, hurry)
		},
	}
	logs.add(cmd.Flags())
	cmd.Flags().StringVar(&debug, "debug-socket", "", "serve metrics and profiles on this Unix socket")
	cmd.Flags().BoolVar(&private, "private", false, "serve the program that holds standard input, and stop at once when it ends")
	_ = cmd.Flags().MarkHidden("private")
	return cmd
}

// adopt takes over the sockets that the service manager passed to this process.
func (p *program) adopt(c *daemon.Config) error {
	if p.manager == nil {
		return nil
	}
	start, err := p.manager()
	if err != nil {
		return err
	}
	c.Manager = start.Manager
	switch len(start.Sockets) {
	case 0:
		return nil
	case 1:
		c.Adopted = start.Sockets[0]
	default:
		return item.Errorf(item.KindInvalid, "SOCKETS", "the service manager passed %d sockets, but podd uses one: keep a single ListenStream= in its unit", len(start.Sockets))
	}
	path, err := socket.AdoptedPath(c.Adopted)
	if err != nil {
		return err
	}
	named, err := paths.Socket(p.places, p.env)
	if err != nil {
		return err
	}
	if named.Named && named.Path != path {
		return item.Errorf(item.KindInvalid, "SOCKETS",
			"the service manager passed the socket %s, but %s says %s: make them the same", path, named.Origin, named.Path)
	}
	c.Socket = path
	return nil
}

// daemonConfig combines flags, environment and configuration file.
func (p *program) daemonConfig() (c daemon.Config, err error) {
	file, err := paths.ConfigFile(p.places, p.env)
	if err != nil {
		return c, err
	}
	c.Reread = func() (config.Config, error) { return config.Load(file.Path, file.Named, p.env) }
	if c.Settings, err = c.Reread(); err != nil {
		return c, err
	}
	c.ConfigPath = file.Path
	if _, err := os.Stat(file.Path); err == nil {
		c.ConfigFile = file.Path
	}
	state, err := paths.StateDir(p.places, p.env)
	if err != nil {
		return c, err
	}
	socket, err := paths.Socket(p.places, p.env)
	if err != nil {
		return c, err
	}
	c.StateDir, c.Socket, c.Checker = state.Path, socket.Path, checker()
	return c, nil
}
