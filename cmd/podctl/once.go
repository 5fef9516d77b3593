package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// onceOptions are the flags of run for a turn with a podd of its own.
type onceOptions struct {
	once bool
	keep string
}

func (o *onceOptions) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.once, "once", false, "run one turn without a running podd: podctl starts one for the current directory, and removes all of it afterwards")
	f.StringVar(&o.keep, "keep", "", "with --once: keep the state, with the log, in the new directory DIR")
	mustRegister(cmd.MarkFlagDirname("keep"))
}

// check refuses flags that do not go together.
func (o *onceOptions) check(cmd *cobra.Command) error {
	if !o.once {
		if cmd.Flags().Changed("keep") {
			return usagef("--keep is for a turn with a podd of its own: add --once")
		}
		return nil
	}
	for _, flag := range []string{"host", "socket", "state-dir", "pod", "steer", "request-id"} {
		if cmd.Flags().Changed(flag) {
			return usagef("--%s is about a running podd, and --once starts its own: leave one out", flag)
		}
	}
	if f := cmd.Flags().Lookup("follow"); f != nil && f.Changed && f.Value.String() == "false" {
		return usagef("--once follows its turn: leave out --follow=false")
	}
	if cmd.Flags().Changed("keep") && o.keep == "" {
		return usagef("--keep needs a directory")
	}
	return nil
}

// onceStart is how long a podd of its own may take to start: a machine of a CI can be slow.
const onceStart = time.Minute

// runOnce runs one turn with a podd of its own, and ends that.
func (o *submitOptions) runOnce(ctx context.Context, p *program) error {
	// These end podctl too, but what it has made has to go first.
	outliveReaders()
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGHUP)
	defer stop()
	err := o.withPrivate(ctx, p)
	if errors.Is(err, syscall.EPIPE) {
		signal.Reset(syscall.SIGPIPE)
		_, _ = io.WriteString(p.stdout, "\n") // The signal ends podctl, as it ends submit -f.
	}
	return err
}

// withPrivate runs the turn. Its podd has ended, and its directory is removed or kept, when it returns.
func (o *submitOptions) withPrivate(ctx context.Context, p *program) (err error) {
	dir, err := currentDir()
	if err != nil {
		return err
	}
	if err := p.allowWide(ctx, dir, o.yes); err != nil {
		return err
	}
	path, err := findPodd("run this again")
	if err != nil {
		return err
	}
	state, remove, err := o.place(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	podd, err := startPrivate(ctx, path, state)
	if err != nil {
		return err
	}
	err = o.submitTo(podd.alive, p, podd, dir)
	ended := podd.end()
	switch {
	case ctx.Err() != nil && o.keep != "":
		return interrupted(fmt.Sprintf("interrupted: the turn was stopped; podd --state-dir %s continues it", state))
	case ctx.Err() != nil:
		return interrupted("interrupted: the turn was stopped")
	case ended != nil:
		return ended
	}
	return err
}

// place is the state directory, and what removes it.
func (o *onceOptions) place(program string) (dir string, remove func() error, err error) {
	if o.keep == "" {
		return temporary(program)
	}
	dir, err = keptDir(o.keep)
	return dir, func() error { return nil }, err
}

// submitTo runs the turn on a private podd, in a new pod for a directory.
func (o *submitOptions) submitTo(ctx context.Context, p *program, podd *privatePodd, dir string) error {
	own := *p
	own.at = address{env: func(name string) string {
		if slices.Contains([]string{hostVariable, "PODD_SOCKET", "PODD_STATE_DIR"}, name) {
			return ""
		}
		return p.env(name)
	}}
	own.at.StateDir, own.at.Socket = podd.dir, podd.socket()
	c, err := podd.client()
	if err != nil {
		return err
	}
	defer c.Close()
	s := &session{program: &own, Client: c, once: &o.onceOptions}
	if s.pod, _, err = createFor(ctx, c, dir); err != nil {
		return err
	}
	return o.send(ctx, s)
}
