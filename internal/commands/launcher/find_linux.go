package launcher

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Launcher is an open podd-launch. Close must follow. A nil Launcher stands for this
// process's own binary.
type Launcher struct {
	file *os.File
	// size and changed are those of the file when it was checked.
	size    int64
	changed time.Time
}

const (
	// aboveFiles is above the descriptors that a started process gets: they would replace a
	// lower one before it is executed.
	aboveFiles = 256
	// findFor bounds how long podd-launch may take to say what it is.
	findFor = 10 * time.Second
)

// Find opens the podd-launch beside this program. The error is a clause for people.
func Find(ctx context.Context) (*Launcher, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if resolved, err := filepath.EvalSymlinks(self); err == nil {
		self = resolved
	}
	return Open(ctx, filepath.Join(filepath.Dir(self), Name))
}

// Open opens the podd-launch at a path.
func Open(ctx context.Context, path string) (l *Launcher, err error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s does not exist: install it with podd", path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be opened: %w", path, err)
	}
	defer unix.Close(fd)
	high, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, aboveFiles)
	if err != nil {
		return nil, err
	}
	l = &Launcher{file: os.NewFile(uintptr(high), path)}
	if err := l.check(ctx); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// check refuses a file that another user could have put there, and another version.
func (l *Launcher) check(ctx context.Context) error {
	info, err := l.file.Stat()
	if err != nil {
		return err
	}
	l.size, l.changed = info.Size(), info.ModTime()
	owner := info.Sys().(*syscall.Stat_t).Uid
	if !info.Mode().IsRegular() || info.Mode()&0o002 != 0 || owner != 0 && int(owner) != os.Geteuid() {
		return fmt.Errorf("%s belongs to another user or can be written by all: install it again", l.file.Name())
	}
	ctx, cancel := context.WithTimeout(ctx, findFor)
	defer cancel()
	cmd := exec.CommandContext(ctx, l.path(), identityArgument)
	cmd.Env, cmd.WaitDelay = []string{}, time.Second
	said, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s cannot be run: %w", l.file.Name(), err)
	}
	if strings.TrimSpace(string(said)) != Identity() {
		return fmt.Errorf("%s is of another build: install it again with podd", l.file.Name())
	}
	return nil
}

// path leads to the open file, whatever is at its name by now.
func (l *Launcher) path() string { return "/proc/self/fd/" + strconv.Itoa(int(l.file.Fd())) }

// usable says whether the file is what was checked: nobody has written to it.
func (l *Launcher) usable() bool {
	if l == nil {
		return false
	}
	info, err := l.file.Stat()
	return err == nil && info.Size() == l.size && info.ModTime().Equal(l.changed)
}

// Path is the path, in this process and its children until they execute, of podd-launch, or
// if own of this process's binary. That is not the path it was started by, where another
// version may be by now.
func (l *Launcher) Path() (path string, own bool) {
	if l.usable() {
		return l.path(), false
	}
	const self = "/proc/self/exe"
	if _, err := os.Stat(self); err == nil {
		return self, true
	}
	path, err := os.Executable()
	if err != nil {
		return self, true
	}
	return path, true
}

// Close closes the file. What runs by then goes on.
func (l *Launcher) Close() {
	if l != nil {
		_ = l.file.Close()
	}
}
