package sandbox

import (
	"context"
	"errors"
	"os/exec"
	"syscall"
	"time"

	"podd/pkg/scopefs"
)

// FirstFile is the descriptor of a Command's first file, after the standard ones.
const FirstFile = 3

// Place is where a command of podd's own runs, in the sandbox of commands: it has no network,
// and protected paths are files like others.
type Place struct {
	// Dir is where it runs, Also are further directories: it may change them if it Writes. Reads
	// are those that it only sees.
	Dir         string
	Writes      bool
	Also, Reads []string
	// Temp is a directory that serves as /tmp.
	Temp string
}

// Confine makes a command of podd's own. Call done once it has ended. Without a sandbox it is a
// plain command; see Fate.
func (s *Sandbox) Confine(ctx context.Context, p Place, argv ...string) (cmd *exec.Cmd, done func(), err error) {
	files, err := scopefs.Open(scopefs.Config{Dir: p.Dir, Write: p.Also, Read: p.Reads})
	if err != nil {
		return nil, nil, err
	}
	confined, err := s.Command(Scope{
		Dir: p.Dir, Roots: files.Roots(), Temp: p.Temp, ReadOnly: !p.Writes, Free: true,
	}, FirstFile, argv...)
	if err != nil {
		return nil, nil, errors.Join(err, files.Close())
	}
	cmd = exec.CommandContext(ctx, confined.Args[0], confined.Args[1:]...) //nolint:gosec // The callers' own programs.
	cmd.Dir, cmd.Env, cmd.ExtraFiles = p.Dir, confined.Env, confined.Files
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// SIGTERM lets git remove its locks.
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	return cmd, func() { confined.Close(); _ = files.Close() }, nil
}
