package shim

import (
	"fmt"
	"os/exec"

	"podd/internal/process"
)

// Local starts commands as children of this process. Their limits hold from just after
// their start on.
type Local struct{}

// Start starts a command. On error none runs.
func (Local) Start(c Command) (*Running, error) {
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

// start starts a command as a child and notes it. On error it closes the record, and
// nothing runs.
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
		return nil, err
	}
	id := child.ID()
	if err := c.Record.Note(Note{Process: &id}); err != nil {
		child.Stop(0)
		return nil, fmt.Errorf("it could not be written down and was ended at once: %w", err)
	}
	return child, nil
}
