package paths

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"podd/pkg/item"
)

// Lock gives this process exclusive use of a place. The kernel releases it when the process
// ends, however it ends.
type Lock struct {
	file *os.File
}

// LockStateDir locks the state directory, which must exist, for this process. If another
// podd has locked it, the error has the kind KindPrecondition and the reason HELD, and
// names that process.
func LockStateDir(dir string) (*Lock, error) {
	return lockFile(filepath.Join(dir, "podd.lock"), "the state directory "+dir, "--state-dir")
}

// LockSocket locks the path of a socket, whose directory must exist, so that only this
// process listens there. Its errors are those of LockStateDir.
func LockSocket(path string) (*Lock, error) {
	return lockFile(path+".lock", "the socket "+path, "--socket")
}

// lockFile locks the file at path, for a place that the user can choose with flag. The file
// stays when the lock ends: if it were removed, two processes could lock two files of the
// same name.
func lockFile(path, place, flag string) (*Lock, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, lockError(path, err)
	}
	if err := flockSoon(file); err != nil {
		defer file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, item.Errorf(item.KindPrecondition, "HELD",
				"another podd%s is using %s: stop it, or choose another place with %s", holder(file), place, flag)
		}
		return nil, lockError(path, err)
	}
	l := &Lock{file: file}
	if err := l.sign(); err != nil {
		l.Release()
		return nil, lockError(path, err)
	}
	return l, nil
}

func lockError(path string, err error) error {
	e := item.Errorf(item.KindPrecondition, "LOCK", "cannot lock %s (%s): check the directory and its file system", path, systemSays(err))
	e.Cause = err
	return e
}

// How long to wait for a lock whose holder has ended, and how often to try. If podd is
// killed while it starts a command, the child keeps the lock until it executes the command.
const (
	lockPatience = 2 * time.Second
	lockPoll     = 5 * time.Millisecond
)

// flockSoon takes the lock. It does not wait if the lock's file names a running process.
func flockSoon(file *os.File) error {
	for since := time.Now(); ; time.Sleep(lockPoll) {
		err := flock(file)
		if !errors.Is(err, syscall.EWOULDBLOCK) || time.Since(since) > lockPatience {
			return err
		}
		text, pid := signature(file)
		if text != "" && (pid == 0 || !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)) {
			return err
		}
	}
}

func flock(file *os.File) error {
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// sign writes the process id into the lock, for the next podd's error.
func (l *Lock) sign() error {
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	_, err := l.file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// holder is the process id in the lock, as " (pid 42)"; empty before the holder has written
// it.
func holder(file *os.File) string {
	_, pid := signature(file)
	if pid == 0 {
		return ""
	}
	return " (pid " + strconv.Itoa(pid) + ")"
}

// signature is the content of a lock and its process id, 0 if it has none.
func signature(file *os.File) (text string, pid int) {
	raw, err := io.ReadAll(io.NewSectionReader(file, 0, 32))
	if err != nil {
		return "", 0
	}
	text = strings.TrimSpace(string(raw))
	pid, err = strconv.Atoi(text)
	if err != nil || pid < 0 {
		return text, 0
	}
	return text, pid
}

// Release releases the place. Call it once.
func (l *Lock) Release() {
	// Remove the id, which would name the wrong process. The lock does not depend on it.
	_ = l.file.Truncate(0)
	_ = l.file.Close()
}
