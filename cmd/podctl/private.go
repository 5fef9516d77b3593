package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"podd/pkg/client"
	"podd/pkg/paths"
)

// privatePodd is a podd that lives as long as this podctl.
type privatePodd struct {
	// program is its path, dir its state directory.
	program, dir string
	cmd          *exec.Cmd
	// held is the pipe whose end ends podd, whatever becomes of podctl.
	held *os.File
	// alive ends when podd does; ended is closed then.
	alive context.Context
	ended chan struct{}
}

// startPrivate starts a podd with a state directory of its own. Call end at the end.
func startPrivate(ctx context.Context, program, dir string) (*privatePodd, error) {
	log, err := os.OpenFile(filepath.Join(dir, "podd.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot start podd: %w", err)
	}
	defer log.Close()
	stdin, held, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("cannot start podd: %w", err)
	}
	defer stdin.Close()
	p := &privatePodd{program: program, dir: dir, held: held, ended: make(chan struct{})}
	p.cmd = privateCommand(program, dir)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = stdin, log, log
	if err := p.cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot start podd: %w", err), held.Close())
	}
	alive, died := context.WithCancel(ctx)
	p.alive = alive
	go func() {
		defer died()
		defer close(p.ended)
		_ = p.cmd.Wait() // end looks at the state.
	}()
	return p, nil
}

// client is a connection to podd, which may still be starting.
func (p *privatePodd) client() (*client.Client, error) {
	return client.New(client.Config{Socket: p.socket(), StateDir: p.dir, StartFor: onceStart})
}

func (p *privatePodd) socket() string { return socketIn(p.dir) }

func socketIn(dir string) string { return filepath.Join(dir, "podd.sock") }

// privateCommand is a podd that serves a state directory until its standard input ends.
func privateCommand(program, dir string) *exec.Cmd {
	cmd := exec.Command(program, "--private", "--state-dir", dir, "--socket", socketIn(dir)) //nolint:gosec,noctx // podd, which ends with its input
	// Ctrl-C is for podctl, which ends podd when the turn has stopped.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// endLeft ends the commands of a podd that was killed, and left its socket: a podd without input stops as it starts, and
// ends what runs.
func endLeft(program, dir string) error {
	if _, err := os.Lstat(socketIn(dir)); err != nil {
		return nil //nolint:nilerr // A podd that ends removes it.
	}
	if err := privateCommand(program, dir).Run(); err != nil {
		return fmt.Errorf("cannot end the commands of podd, which may still run: %w", err)
	}
	return nil
}

// end ends podd and waits for it. If podd has ended by itself, the error says why.
func (p *privatePodd) end() error {
	select {
	case <-p.ended:
		_ = p.held.Close()
		return errors.Join(fmt.Errorf("podd ended: %s", p.lastWords()), endLeft(p.program, p.dir))
	default:
	}
	_ = p.held.Close()
	<-p.ended
	return nil
}

// lastWords is podd's error, or how its process ended.
func (p *privatePodd) lastWords() string {
	log, _ := os.ReadFile(filepath.Join(p.dir, "podd.log"))
	lines := bytes.Split(bytes.TrimSpace(log), []byte("\n"))
	if said, ok := bytes.CutPrefix(lines[len(lines)-1], []byte("podd: ")); ok {
		return string(said)
	}
	return p.cmd.ProcessState.String()
}

// onceLock is the file in a temporary state directory that its podctl locks.
const onceLock = "podctl.lock"

// temporary makes a state directory that remove removes, after it has removed those of podctls that were killed.
func temporary(program string) (dir string, remove func() error, err error) {
	all := paths.OnceDir()
	var lock *os.File
	for lock == nil {
		if dir, lock, err = beginOnce(program, all); err != nil {
			return "", nil, err
		}
	}
	remove = func() error {
		defer lock.Close()
		err := removeTree(dir)
		_ = os.Remove(all) // It may have others.
		return err
	}
	if err := fitsSocket(dir, "set TMPDIR to a shorter directory"); err != nil {
		return "", nil, errors.Join(err, remove())
	}
	return dir, remove, nil
}

// beginOnce makes a state directory and locks it. The lock is nil if another podctl has just removed the directory,
// which had no lock yet, or the one above it.
func beginOnce(program, all string) (dir string, lock *os.File, err error) {
	if err := os.Mkdir(all, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", nil, fmt.Errorf("cannot make a temporary directory: %w", err)
	}
	if err := paths.EnsurePrivateDir(all); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", nil, err
	}
	sweepOnce(program, all)
	dir, err = os.MkdirTemp(all, "")
	if err == nil {
		lock, err = lockOnce(dir)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.EWOULDBLOCK):
		return "", nil, nil
	case err != nil:
		return "", nil, fmt.Errorf("cannot make a temporary directory: %w", err)
	}
	return dir, lock, nil
}

// fitsSocket checks that a state directory's path leaves room for the name of a socket.
func fitsSocket(dir, then string) error {
	if paths.CheckSocketLength(filepath.Join(dir, "podd.sock")) == nil {
		return nil
	}
	return usagef("the path of podd's socket in %s would be too long: %s", dir, then)
}

// lockOnce locks a temporary state directory. Its error is EWOULDBLOCK if a podctl uses it, and ErrNotExist if one has
// removed it.
func lockOnce(dir string) (*os.File, error) {
	path := filepath.Join(dir, onceLock)
	lock, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	locked, err := lock.Stat()
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	if named, err := os.Lstat(path); err != nil || !os.SameFile(named, locked) {
		return nil, errors.Join(fs.ErrNotExist, lock.Close())
	}
	return lock, nil
}

// onceBegins is how long a podctl may take from making its directory to locking it.
const onceBegins = time.Minute

// sweepOnce removes the state directories of podctls that were killed, when their podds have ended, and ends the
// commands of podds that were killed, too. What it cannot remove, a later run may.
func sweepOnce(program, all string) {
	entries, _ := os.ReadDir(all)
	for _, entry := range entries {
		dir := filepath.Join(all, entry.Name())
		if _, err := os.Lstat(filepath.Join(dir, onceLock)); err != nil {
			if info, err := entry.Info(); err != nil || time.Since(info.ModTime()) < onceBegins {
				continue
			}
		}
		lock, err := lockOnce(dir)
		if err != nil {
			continue
		}
		if podd, err := paths.LockStateDir(dir); err == nil {
			podd.Release()
			if endLeft(program, dir) == nil {
				_ = removeTree(dir)
			}
		}
		_ = lock.Close()
	}
}

// removeTree removes a directory, also if directories in it are read-only, such as those of a build cache.
func removeTree(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(path, 0o700) //nolint:gosec // a directory
		}
		return nil
	})
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("cannot remove the temporary directory: %w", err)
	}
	return nil
}

// keptDir makes the state directory of --keep, which must be empty or missing.
func keptDir(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("cannot read the current directory: %w", err)
	}
	if err := fitsSocket(dir, "name a shorter directory with --keep"); err != nil {
		return "", err
	}
	// A directory with files is refused whatever its mode, so that its owner does not change the mode in vain.
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return "", usagef("--keep %q is not empty: name a new directory", dir)
	}
	if err := paths.EnsurePrivateDir(dir); err != nil {
		return "", fmt.Errorf("cannot use --keep: %w", err)
	}
	return dir, nil
}
