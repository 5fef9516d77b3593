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
	if c.Terminal || c.Lease != nil {
		c.Record.Close()
		return nil, errors.New("commands have no terminals and end with no lease here")
	}
	// bwrap and the helper take so long to start that the limits come before the command.
	child, err := start(c)
	if err != nil {
		return nil, err
	}
	// If the system refuses the limits, the command runs without them.
	_ = c.Limits.Apply(child.ID().PID)
	tree, ended := process.Adopt(child.ID())
	r := &Running{Tree: tree}
	go func() {
		r.status = end(child.Tree, nil, c.Record, nil)
		ended()
	}()
	return r, nil
}

// started is a command that has started as a child.
type started struct {
	*process.Tree
	// terminal is its terminal, if it has one.
	terminal *terminal
}

// start starts a command as a child and records it. On error it closes the record, and the
// command has not run, except on ErrLost.
func start(c Command) (s started, err error) {
	defer func() {
		if err != nil {
			c.Record.Close()
		}
	}()
	if err := c.Record.Note(Note{Begins: true}); err != nil {
		return s, err
	}
	if s, err = executed(c); err != nil {
		return s, errors.Join(err, c.Record.Note(Note{Failed: true}))
	}
	id := s.ID()
	if err := c.Record.Note(Note{Process: &id}); err != nil {
		// Without a record no later podd could find the command.
		s.Stop(0)
		return s, ErrLost
	}
	return s, nil
}

// executed starts a command by its command line.
func executed(c Command) (s started, err error) {
	cmd := exec.Command(c.Args[0])
	cmd.Args, cmd.Env, cmd.Dir = c.Args, c.Env, c.Dir
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = c.Output, c.Output, c.Files
	if c.Terminal {
		var slave *os.File
		if s.terminal, slave, err = openTerminal(cmd); err != nil {
			return s, err
		}
		defer slave.Close()
	}
	if s.Tree, err = process.Start(cmd); err != nil {
		if s.terminal != nil {
			_ = s.terminal.master.Close()
		}
		return s, err
	}
	if s.terminal != nil {
		go s.terminal.copy(c.Output)
	}
	return s, nil
}
