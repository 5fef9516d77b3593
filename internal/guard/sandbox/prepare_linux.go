package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// mostPrepared is how many prepared namespaces there are at once.
	mostPrepared = 8
	// mostSeen is how many states are remembered that one command has had.
	mostSeen = 64
	// keepPrepared is for how long they are kept unused: they keep file systems busy.
	keepPrepared = 30 * time.Second
	// prepareFor bounds how long bwrap may take.
	prepareFor = 10 * time.Second
)

// prepared are the namespaces that bwrap has made for later commands, by the state that they were
// made from. A command enters a copy of them. The zero value is ready.
//
// A state comes here when a second command has it: making namespaces takes longer than one command
// saves.
type prepared struct {
	mu sync.Mutex
	// host tells when podd's own mounts change; age counts that.
	host *watched
	age  int
	// seen are states that one command has had, spaces the prepared; the last used come last.
	seen   []string
	spaces []*space
	// idle ends what is not used.
	idle   *time.Timer
	closed bool
}

// errChanged says that a state has changed while it was prepared.
var errChanged = errors.New("it has changed meanwhile")

// space is one set of prepared namespaces.
type space struct {
	state string
	// files are the user namespace that owns the mounts, the mounts, and the user namespace of
	// commands; nested says that the last is not the first.
	files  []*os.File
	nested bool
	// mounts tells when the prepared mounts change: the kernel passes on what happens to the
	// machine's, and takes a mount off whose directory somebody removes.
	mounts *watched
	used   time.Time
}

func (s *space) close() {
	for _, file := range s.files {
		_ = file.Close()
	}
	s.mounts.close()
}

// watched are the mounts of a namespace.
type watched struct{ fd int }

// watch opens a file of /proc that tells when the mounts change.
func watch(path string) (*watched, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return &watched{fd}, nil
}

func (w *watched) close() {
	if w != nil {
		_ = unix.Close(w.fd)
	}
}

// changed says whether the mounts have changed since it was asked, or that it is not known.
func (w *watched) changed() bool {
	fds := []unix.PollFd{{Fd: int32(w.fd), Events: unix.POLLPRI}}
	for {
		_, err := unix.Poll(fds, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		return err != nil || fds[0].Revents&(unix.POLLPRI|unix.POLLERR|unix.POLLNVAL) != 0
	}
}

// fresh forgets everything if the machine's mounts have changed, and everything that has changed
// itself. It returns the age of the machine's mounts. The caller must hold mu.
func (p *prepared) fresh() (age int, err error) {
	if p.host == nil {
		if p.host, err = watch("/proc/self/mountinfo"); err != nil {
			return 0, err
		}
	}
	if p.host.changed() {
		p.age++
		p.seen = nil
		p.drop(func(*space) bool { return true })
	}
	p.drop(func(s *space) bool { return s.mounts.changed() })
	return p.age, nil
}

// drop closes namespaces. The caller must hold mu.
func (p *prepared) drop(which func(*space) bool) {
	p.spaces = slices.DeleteFunc(p.spaces, func(s *space) bool {
		if which(s) {
			s.close()
			return true
		}
		return false
	})
}

// of returns the namespaces for a state, which the caller closes, made if this is not the first
// command that has it; nil if there are none.
func (p *prepared) of(state string, prepare func() (*space, error)) (files []*os.File, nested bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	age, err := p.fresh()
	if err != nil || p.closed {
		return nil, false, err
	}
	if files, nested, ok := p.use(state); ok {
		return files, nested, nil
	}
	i := slices.Index(p.seen, state)
	if i < 0 {
		p.seen = append(p.seen, state)
		p.seen = p.seen[max(0, len(p.seen)-mostSeen):]
		return nil, false, nil
	}
	// Whoever comes meanwhile does not make it again.
	p.seen = slices.Delete(p.seen, i, i+1)
	p.mu.Unlock()
	made, err := prepare()
	p.mu.Lock()
	if err != nil {
		return nil, false, err
	}
	if now, err := p.fresh(); err != nil || now != age || p.closed || made.mounts.changed() {
		made.close()
		return nil, false, err
	}
	made.state = state
	p.spaces = append(p.spaces, made)
	if len(p.spaces) > mostPrepared {
		p.spaces[0].close()
		p.spaces = slices.Delete(p.spaces, 0, 1)
	}
	files, nested, _ = p.use(state)
	return files, nested, nil
}

// use returns the namespaces of a state, if they are there. The caller must hold mu.
func (p *prepared) use(state string) (files []*os.File, nested, ok bool) {
	i := slices.IndexFunc(p.spaces, func(s *space) bool { return s.state == state })
	if i < 0 {
		return nil, false, false
	}
	s := p.spaces[i]
	for _, file := range s.files {
		fd, err := unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, 3)
		if err != nil {
			closeFiles(files)
			return nil, false, false
		}
		files = append(files, os.NewFile(uintptr(fd), file.Name()))
	}
	p.spaces = append(slices.Delete(p.spaces, i, i+1), s)
	s.used = time.Now()
	if p.idle == nil {
		p.idle = time.AfterFunc(keepPrepared, p.rest)
	}
	return files, s.nested, true
}

// rest closes what has not been used for a while.
func (p *prepared) rest() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop(func(s *space) bool { return time.Since(s.used) >= keepPrepared })
	p.idle = nil
	if len(p.spaces) > 0 && !p.closed {
		p.idle = time.AfterFunc(time.Until(p.spaces[0].used.Add(keepPrepared)), p.rest)
	}
}

// Close ends what the sandbox has prepared. Commands started later are not affected by that.
func (s *Sandbox) Close() {
	p := &s.prepared
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.closed = true
	p.drop(func(*space) bool { return true })
	p.host.close()
	if p.idle != nil {
		p.idle.Stop()
	}
}

// prepare lets bwrap make namespaces, by its options for a command, and opens them. They stay
// until their files are closed; what bwrap runs meanwhile only waits.
func (s *Sandbox) prepare(options []string, files []*os.File) (*space, error) {
	told, tell, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer told.Close()
	defer tell.Close()
	sh, err := exec.LookPath("sh")
	if err != nil {
		return nil, err
	}
	args := append(slices.Clone(options), "--info-fd", strconv.Itoa(3+len(files)), "--", sh, "-c", "echo; read -r _")
	cmd := exec.Command(s.program, args...)
	// bwrap has both ends of the pipe: if podd is killed before bwrap tells, a write without a
	// reader would end bwrap, and what it has cloned by then would wait for it for ever.
	cmd.Dir, cmd.Env, cmd.ExtraFiles = "/", []string{}, append(slices.Clone(files), tell, told)
	cmd.WaitDelay = time.Second
	hold, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	ready, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	_ = tell.Close()
	late := time.AfterFunc(prepareFor, func() {
		_ = hold.Close()
		_ = cmd.Process.Kill()
	})
	defer func() {
		late.Stop()
		_ = hold.Close()
		_ = cmd.Wait()
	}()
	var info struct {
		Child int `json:"child-pid"`
	}
	if err := json.NewDecoder(told).Decode(&info); err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(ready, make([]byte, 1)); err != nil {
		return nil, err
	}
	return openSpace(info.Child)
}

// openSpace opens the namespaces of a process.
func openSpace(pid int) (s *space, err error) {
	dir := fmt.Sprintf("/proc/%d/", pid)
	s = &space{}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	mounts, err := os.Open(dir + "ns/mnt")
	if err != nil {
		return s, err
	}
	defer func() {
		if err != nil {
			_ = mounts.Close()
		}
	}()
	user, err := os.Open(dir + "ns/user")
	if err != nil {
		return s, err
	}
	owner, err := unix.IoctlRetInt(int(mounts.Fd()), unix.NS_GET_USERNS)
	if err != nil {
		_ = user.Close()
		return s, err
	}
	s.files = []*os.File{os.NewFile(uintptr(owner), "owner"), mounts, user}
	if s.mounts, err = watch(dir + "mountinfo"); err != nil {
		return s, err
	}
	s.nested = inodeOf(s.files[0]) != inodeOf(s.files[2])
	return s, nil
}
