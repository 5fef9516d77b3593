package shim

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"

	"podd/internal/commands/enter"
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
	child, err := start(c, true)
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
	// byLine says that it runs by its command line.
	byLine bool
	// notEntered is why it runs by its command line in spite of its Entry, if it does.
	notEntered error
}

// start starts a command as a child and records it. On error it closes the record, and the
// command has not run, except on ErrLost. byLine says that it runs by its command line alone.
func start(c Command, byLine bool) (s started, err error) {
	defer func() {
		if err != nil {
			c.Record.Close()
		}
	}()
	if err := c.Record.Note(Note{Begins: true}); err != nil {
		return s, err
	}
	if !byLine {
		if s.Tree, s.notEntered = entered(c); s.Tree == nil {
			s.Tree = confined(c)
		}
	}
	if s.Tree == nil {
		s.byLine = true
		s.Tree, s.terminal, err = executed(c)
	}
	if err != nil {
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

// entered starts a command by its Entry, if it has one that works; otherwise child is nil, and
// nothing has run.
func entered(c Command) (child *process.Tree, err error) {
	if c.Entry == nil {
		return nil, nil
	}
	return process.Begin(func(mark string) (*os.Process, error) {
		return enter.Start(c.Entry, append(slices.Clone(c.Env), mark), c.Output)
	})
}

// confined starts a command whose command line is that of the helper of package confine, without the helper.
// It returns nil, and nothing has run, for other commands, and where that fails: the helper says why.
func confined(c Command) *process.Tree {
	if c.Terminal {
		return nil
	}
	child, err := process.Begin(func(mark string) (*os.Process, error) {
		return enter.Confined(c.Args, c.Files, c.Dir, append(slices.Clone(c.Env), mark), c.Output)
	})
	if err != nil {
		return nil
	}
	return child
}

// executed starts a command by its command line.
func executed(c Command) (child *process.Tree, t *terminal, err error) {
	cmd := exec.Command(c.Args[0])
	cmd.Args, cmd.Env, cmd.Dir = c.Args, c.Env, c.Dir
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = c.Output, c.Output, c.Files
	if c.Terminal {
		var slave *os.File
		if t, slave, err = openTerminal(cmd); err != nil {
			return nil, nil, err
		}
		defer slave.Close()
	}
	if child, err = process.Start(cmd); err != nil {
		if t != nil {
			_ = t.master.Close()
		}
		return nil, nil, err
	}
	if t != nil {
		go t.copy(c.Output)
	}
	return child, t, nil
}
