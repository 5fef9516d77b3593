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

// Lock says that this process alone holds a place. The kernel ends it with the
// process, whatever way that goes.
type Lock struct {
	file *os.File
}

// LockStateDir takes the state directory, which must exist, for this process.
// When another podd holds it, the error has the kind KindPrecondition and the
// reason HELD, and names that process.
func LockStateDir(dir string) (*Lock, error) {
	return lockFile(filepath.Join(dir, "podd.lock"), "the state directory "+dir, "--state-dir")
}

// LockSocket takes the right to listen at a socket's path, whose directory must
// exist. Its errors are those of LockStateDir.
func LockSocket(path string) (*Lock, error) {
	return lockFile(path+".lock", "the socket "+path, "--socket")
}

// lockFile locks the file at path, which stands for the place that the user knows
// and can choose by flag. The file stays when the lock ends: removing it would let
// two processes lock two files of one name.
func lockFile(path, place, flag string) (*Lock, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, lockError(path, err)
	}
	if err := flockSoon(file); err != nil {
		defer file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, item.Errorf(item.KindPrecondition, "HELD",
				"another podd%s holds %s: stop it, or choose another place with %s", holder(file), place, flag)
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
	e := item.Errorf(item.KindPrecondition, "LOCK", "the lock %s cannot be taken (%s): check the directory and its file system", path, systemSays(err))
	e.Cause = err
	return e
}

// How long a lock whose holder has ended is waited for, and how often it is tried. A
// podd that is killed while it starts a command leaves its lock to that child for the
// moment until the child is the command.
const (
	lockPatience = 2 * time.Second
	lockPoll     = 5 * time.Millisecond
)

// flockSoon takes the lock. One whose file names a process that is there is not waited
// for.
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

// holder is the id that the process with the lock wrote, as " (pid 42)"; empty in
// the moment before it does.
func holder(file *os.File) string {
	_, pid := signature(file)
	if pid == 0 {
		return ""
	}
	return " (pid " + strconv.Itoa(pid) + ")"
}

// signature is what stands in a lock, and as a process id; 0 when it is none.
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

// Release gives the place free. It is called once.
func (l *Lock) Release() {
	// An id left behind would name the wrong process; the lock does not hang on it.
	_ = l.file.Truncate(0)
	_ = l.file.Close()
}
