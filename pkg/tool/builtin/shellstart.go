package builtin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"podd/internal/commands/shim"
	"podd/internal/guard/sandbox"
)

// starter starts commands: a shim.Client, or shim.Local.
type starter interface {
	Start(ctx context.Context, c shim.Command) (*shim.Running, error)
}

// jobNote is what a job's record says of its command.
type jobNote struct {
	Started time.Time `json:"started,omitzero"`
	// Held is what the command must leave as it is.
	Held sandbox.Held `json:"held,omitzero"`
	shim.Note
	// Guard is what a later podd keeps as it is.
	Guard *sandbox.GuardNote `json:"guard,omitempty"`
}

// start starts the command. What keeps it from that is an error, and nothing runs, save
// on shim.ErrLost.
func (r *shellRun) start(ctx context.Context, confined *sandbox.Command) error {
	c := r.shell.command(confined)
	c.Output, c.Record = r.job.Output.File, r.job.Record
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

// firstFile is the first descriptor behind the standard ones.
const firstFile = 3

// confine is the command line that has the shell at path run a command, in the sandbox where there is one, with its
// guard.
func (s *shell) confine(approved bool, path string, args shellArgs, use gitUse) (*sandbox.Command, *sandbox.Guard, error) {
	argv := []string{path, "-c", args.Command}
	if !s.confines() {
		return &sandbox.Command{Args: argv}, nil, nil
	}
	temp, err := s.spool.Temp()
	if err != nil {
		return nil, nil, err
	}
	roots := s.fs.Roots()
	scope := sandbox.Scope{
		Dir: roots[0].Path, Roots: roots, Temp: temp, Show: []string{s.spool.Dir()}, Git: use.access, GitDirs: use.outside, Restores: use.restores,
	}
	if scope.Guard, err = s.guard(approved, scope, args); err != nil {
		return nil, nil, err
	}
	command, err := s.box.Command(scope, firstFile, argv...)
	if err != nil {
		scope.Guard.Close()
		return nil, nil, err
	}
	return command, scope.Guard, nil
}

// command is the command without the files of its job.
func (s *shell) command(confined *sandbox.Command) shim.Command {
	dir := s.fs.Roots()[0].Path
	c := shim.Command{Args: confined.Args, Dir: dir, Env: slices.Concat([]string{"PWD=" + dir}, s.env, confined.Env), Files: confined.Files}
	if s.box != nil {
		c.Limits = s.box.Limits()
	}
	return c
}
