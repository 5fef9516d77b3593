package builtin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"podd/internal/commands/process"
	"podd/internal/commands/shim"
	"podd/internal/guard/sandbox"
)

// starter starts commands: a shim.Client, or shim.Local.
type starter interface {
	Start(ctx context.Context, c shim.Command) (*shim.Running, error)
}

// jobNote is the note about the command in a job's record.
type jobNote struct {
	Started time.Time `json:"started,omitzero"`
	shim.Note
	// Guard is what a later podd protects.
	Guard *sandbox.GuardNote `json:"guard,omitempty"`
	// Cache is the name of the one that it shares.
	Cache string `json:"cache,omitempty"`
	// Leased says that the command ends with the lease of its node.
	Leased bool `json:"leased,omitempty"`
	// Job is for a command in the background.
	Job *jobInfo `json:"job,omitempty"`
}

// start starts the command. What keeps it from that is an error, and nothing runs, save
// on shim.ErrLost.
func (r *shellRun) start(ctx context.Context, confined *sandbox.Command, use grant) error {
	c := r.shell.command(confined, use)
	c.Output, c.Record = r.job.Output.File, r.job.Record
	c.Keeper, c.Terminal = r.keeper, r.args.Terminal
	if r.leased {
		c.Lease = r.shell.Lease.get()
	}
	if c.Terminal {
		c.Env = append(c.Env, "TERM=xterm-256color")
	}
	running, err := r.shell.starter.Start(ctx, c)
	switch {
	case errors.Is(err, shim.ErrLost):
		return err
	case err != nil:
		return fmt.Errorf("%s cannot be started in %s: %w", c.Args[0], c.Dir, err)
	}
	r.tree, r.status = running.Tree, running.Status
	return nil
}

// firstFile is the first descriptor after the standard ones.
const firstFile = 3

// confine is the command line that has the shell at path run a command, in the sandbox where there is one, with its
// guard.
func (s *shell) confine(ctx context.Context, r *shellRun, path string, use grant) (*sandbox.Command, *sandbox.Guard, error) {
	argv := []string{path, "-c", r.args.Command}
	if !s.confines() {
		return &sandbox.Command{Args: argv}, nil, nil
	}
	if use.host {
		return &sandbox.Command{Args: argv}, nil, s.allow(r.args)
	}
	temp := s.spool.Temp()
	if err := temp.Make(); err != nil {
		return nil, nil, err
	}
	cache := s.share(ctx, r)
	defer cache.Close()
	roots := s.fs.Roots()
	scope := sandbox.Scope{
		Dir: roots[0].Path, Roots: roots, Temp: temp.Path, Cache: cache, Show: append(existing(s.shows), s.spool.Dir()), Network: use.network,
		ReadOnly: r.call.Plan, Joined: r.keeper.Network, Dies: r.leased,
	}
	var err error
	if scope.Guard, err = s.guard(r.call.Approved, scope, r.args); err != nil {
		return nil, nil, err
	}
	command, err := s.box.Command(scope, firstFile, argv...)
	if err != nil {
		scope.Guard.Close()
		return nil, nil, err
	}
	return command, scope.Guard, nil
}

// existing are those of some directories that exist.
func existing(dirs []string) []string {
	return slices.DeleteFunc(slices.Clone(dirs), func(dir string) bool {
		info, err := os.Stat(dir)
		return err != nil || !info.IsDir()
	})
}

// command is the command without the files of its job.
func (s *shell) command(confined *sandbox.Command, use grant) shim.Command {
	dir, env := s.fs.Roots()[0].Path, s.env
	var limits process.Limits
	if s.box != nil {
		limits = s.box.Limits()
	}
	if use.host {
		// What is left is that the kernel ends it before podd.
		limits, env = process.Limits{OOMScore: limits.OOMScore}, s.hostEnv
	}
	return shim.Command{Args: confined.Args, Dir: dir, Env: slices.Concat([]string{"PWD=" + dir}, env, confined.Env, settings(s.Env)), Files: confined.Files, Limits: limits}
}
