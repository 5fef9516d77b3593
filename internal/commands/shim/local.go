package shim

import (
	"context"
	"errors"
	"os"
	"os/exec"

	"podd/internal/commands/process"
)

// Local starts commands as children of this process. Their limits apply from just after
// their start.
type Local struct{}

// Start starts a command. On ErrLost it may have run; on any other error it has not.
func (Local) Start(_ context.Context, c Command) (*Running, error) {
	if c.Terminal {
		c.Record.Close()
		return nil, errors.New("commands have no terminals here")
	}
	child, _, err := start(c)
	if err != nil {
		return nil, err
	}
	// If the system refuses the limits, the command runs without them.
	_ = c.Limits.Apply(child.ID().PID)
	tree, ended := process.Adopt(child.ID())
	r := &Running{Tree: tree}
	go func() {
		r.status = end(child, nil, c.Record)
		ended()
	}()
	return r, nil
}

// start starts a command as a child and records it; t is its terminal, if it has one. On
// error it closes the record, and the command has not run, except on ErrLost.
func start(c Command) (child *process.Tree, t *terminal, err error) {
	defer func() {
		if err != nil {
			c.Record.Close()
		}
	}()
	if err := c.Record.Note(Note{Begins: true}); err != nil {
		return nil, nil, err
	}
	cmd := exec.Command(c.Args[0])
	cmd.Args, cmd.Env, cmd.Dir = c.Args, c.Env, c.Dir
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = c.Output, c.Output, c.Files
	if c.Terminal {
		var slave *os.File
		if t, slave, err = openTerminal(cmd); err != nil {
			return nil, nil, errors.Join(err, c.Record.Note(Note{Failed: true}))
		}
		defer slave.Close()
	}
	if child, err = process.Start(cmd); err != nil {
		if t != nil {
			_ = t.master.Close()
		}
		return nil, nil, errors.Join(err, c.Record.Note(Note{Failed: true}))
	}
	if t != nil {
		go t.copy(c.Output)
	}
	id := child.ID()
	if err := c.Record.Note(Note{Process: &id}); err != nil {
		// Without a record no later podd could find the command.
		child.Stop(0)
		return nil, nil, ErrLost
	}
	return child, t, nil
}
