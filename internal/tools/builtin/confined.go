package builtin

import (
	"context"
	"errors"
	"os/exec"
	"syscall"
	"time"

	"podd/internal/guard/sandbox"
	"podd/pkg/scopefs"
)

// Confined is where a command of podd's own runs, in the sandbox of commands: it has no network,
// and protected paths are files like others.
type Confined struct {
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
func (s *Sandbox) Confine(ctx context.Context, c Confined, argv ...string) (cmd *exec.Cmd, done func(), err error) {
	files, err := scopefs.Open(scopefs.Config{Dir: c.Dir, Write: c.Also, Read: c.Reads})
	if err != nil {
		return nil, nil, err
	}
	confined, err := s.box.Command(sandbox.Scope{
		Dir: c.Dir, Roots: files.Roots(), Temp: c.Temp, ReadOnly: !c.Writes, Free: true,
	}, firstFile, argv...)
	if err != nil {
		return nil, nil, errors.Join(err, files.Close())
	}
	cmd = exec.CommandContext(ctx, confined.Args[0], confined.Args[1:]...) //nolint:gosec // The callers' own programs.
	cmd.Dir, cmd.Env, cmd.ExtraFiles = c.Dir, confined.Env, confined.Files
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// SIGTERM lets git remove its locks.
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	return cmd, func() { confined.Close(); _ = files.Close() }, nil
}
