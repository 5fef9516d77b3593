package checkout

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// runs are the runs of git on the checkouts in a directory, those of a killed podd too.
type runs string

// hold gives a run of git a lock that it holds until it ends, also if podd is killed before.
func (dir runs) hold(run *exec.Cmd) (release func(), err error) {
	file, err := dir.lock(syscall.LOCK_SH)
	if err != nil {
		return nil, err
	}
	run.ExtraFiles = append(run.ExtraFiles, file)
	return func() { _ = file.Close() }, nil
}

// lock opens the file that runs of git lock.
func (dir runs) lock(how int) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(string(dir), runningName), os.O_RDONLY|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), how); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// mostRunning bounds how long a podd that starts waits for git. Most runs take milliseconds.
const mostRunning = 30 * time.Second

// quiet waits for the runs of git of a podd that was killed: each does its work to the end.
func (dir runs) quiet(ctx context.Context, log *slog.Logger) error {
	enough := time.NewTimer(mostRunning)
	defer enough.Stop()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		file, err := dir.lock(syscall.LOCK_EX | syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			if err == nil {
				err = file.Close()
			}
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-enough.C:
			log.Warn("a git of an earlier podd still runs on a checkout, and podd goes on beside it", "checkouts", string(dir))
			return nil
		case <-again.C:
		}
	}
}
