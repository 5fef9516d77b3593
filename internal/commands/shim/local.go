package shim

import (
	"context"
	"errors"
	"os/exec"

	"podd/internal/commands/process"
)

// Local starts commands as children of this process. Their limits hold from just after
// their start on.
type Local struct{}

// Start starts a command. On ErrLost it may have run, on any other error it has not.
func (Local) Start(_ context.Context, c Command) (*Running, error) {
	child, err := start(c)
	if err != nil {
		return nil, err
	}
	// Where the system refuses, the command runs without.
	_ = c.Limits.Apply(child.ID().PID)
	tree, ended := process.Adopt(child.ID())
	r := &Running{Tree: tree}
	go func() {
		r.status = end(child, c.Record)
		ended()
	}()
	return r, nil
}

// start starts a command as a child and notes it. On error it closes the record; nothing
// has run then, save on ErrLost.
func start(c Command) (child *process.Tree, err error) {
	defer func() {
		if err != nil {
			c.Record.Close()
		}
	}()
	if err := c.Record.Note(Note{Begins: true}); err != nil {
		return nil, err
	}
	cmd := exec.Command(c.Args[0])
	cmd.Args, cmd.Env, cmd.Dir = c.Args, c.Env, c.Dir
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = c.Output, c.Output, c.Files
	if child, err = process.Start(cmd); err != nil {
		return nil, errors.Join(err, c.Record.Note(Note{Failed: true}))
	}
	id := child.ID()
	if err := c.Record.Note(Note{Process: &id}); err != nil {
		// Nobody would find it.
		child.Stop(0)
		return nil, ErrLost
	}
	return child, nil
}
