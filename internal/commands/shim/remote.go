package shim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"podd/internal/commands/process"
)

// remote is a shim, seen from podd.
type remote struct {
	client *Client
	limits process.Limits
	cmd    *exec.Cmd
	conn   *net.UnixConn
	// rest ends it when it had nothing to do for long; busy counts its commands. The
	// client's mu is for both.
	rest *time.Timer
	busy int

	// sending is held while a request is written, so that they are in order.
	sending sync.Mutex
	mu      sync.Mutex
	last    uint64
	lost    bool
	// asked are the commands that it has not answered, running those that it has.
	asked   map[uint64]chan<- outcome
	running map[uint64]running
	// ending counts the commands that nobody waits for any more.
	ending sync.WaitGroup
}

// outcome is what became of a request.
type outcome struct {
	running *Running
	err     error
}

type running struct {
	*Running
	ended func()
}

// launch starts a shim. It is called with c.mu held.
func (c *Client) launch(limits process.Limits) (*remote, error) {
	fds, err := socketpair()
	if err != nil {
		return nil, err
	}
	theirs := os.NewFile(uintptr(fds[1]), "podd")
	defer theirs.Close()
	conn, err := connection(os.NewFile(uintptr(fds[0]), "shim"))
	if err != nil {
		return nil, err
	}
	self, err := ownBinary()
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	bounds, err := json.Marshal(limits)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	cmd := exec.Command(self)
	cmd.Args, cmd.Env, cmd.Dir, cmd.ExtraFiles = []string{"podd", argument, string(bounds)}, []string{}, "/", []*os.File{theirs}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	s := &remote{client: c, limits: limits, cmd: cmd, conn: conn, asked: map[uint64]chan<- outcome{}, running: map[uint64]running{}}
	s.rest = time.AfterFunc(c.idle, func() { c.retire(s) })
	c.ending.Go(s.listen)
	return s, nil
}

// ownBinary is a path of this process's binary: on Linux not the one that it was started
// by, where another version may lie by now.
func ownBinary() (string, error) {
	const self = "/proc/self/exe"
	if _, err := os.Stat(self); err == nil {
		return self, nil
	}
	return os.Executable()
}

func socketpair() ([2]int, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return fds, fmt.Errorf("no pair of sockets: %w", err)
	}
	syscall.CloseOnExec(fds[0])
	syscall.CloseOnExec(fds[1])
	return fds, nil
}

// start asks for a command, and waits until it was started or could not be.
func (s *remote) start(ctx context.Context, c Command) (*Running, error) {
	answered := make(chan outcome, 1)
	message, err := encode(c)
	if err == nil {
		err = s.ask(message, answered)
	}
	if err != nil {
		s.client.free(s)
		return nil, err
	}
	select {
	case a := <-answered:
		return a.running, a.err
	case <-ctx.Done():
		s.ending.Go(func() {
			if a := <-answered; a.running != nil {
				a.running.Stop(endGrace)
			}
		})
		return nil, ErrLost
	}
}

// endGrace is the time between SIGTERM and SIGKILL for a command that began too late.
const endGrace = time.Second

// ask sends a request. On error the shim has not got it.
func (s *remote) ask(message request, answered chan<- outcome) error {
	s.sending.Lock()
	defer s.sending.Unlock()
	s.mu.Lock()
	s.last++
	if s.lost {
		s.mu.Unlock()
		return ErrLost
	}
	s.asked[s.last] = answered
	s.mu.Unlock()
	if message.send(s.conn) != nil {
		// What the shim has read of it is no request. Listen tells of its end.
		s.client.mu.Lock()
		s.client.drop(s)
		s.client.mu.Unlock()
	}
	return nil
}

// listen hears what becomes of commands until the shim ends.
func (s *remote) listen() {
	answers := json.NewDecoder(s.conn)
	for {
		var a answer
		if answers.Decode(&a) != nil {
			break
		}
		s.hear(a)
	}
	left := s.lose()
	_ = s.conn.Close()
	// Its outcome says nothing of its commands.
	_ = s.cmd.Wait()
	if len(left) > 0 {
		s.client.log.Warn("the process that starts commands has ended before them: how they end is not known", "tool", "shell", "commands", len(left), "state", s.cmd.ProcessState.String())
	}
	// They are watched from here, until they end or podd does.
	for _, r := range left {
		s.ending.Go(func() {
			defer r.ended()
			r.ID().Await(s.client.closed)
		})
	}
	s.ending.Wait()
}

func (s *remote) hear(a answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch answered := s.asked[a.Number]; {
	case a.Ended:
		r := s.running[a.Number]
		delete(s.running, a.Number)
		r.status = a.Status
		r.ended()
		s.client.free(s)
	case a.Process != nil:
		tree, ended := process.Adopt(*a.Process)
		r := &Running{Tree: tree}
		s.running[a.Number] = running{r, ended}
		delete(s.asked, a.Number)
		answered <- outcome{running: r}
	default:
		delete(s.asked, a.Number)
		err := errors.New(a.Error)
		if a.Lost {
			err = ErrLost
		}
		answered <- outcome{err: err}
		s.client.free(s)
	}
}

// lose is for the end of the shim, which nobody expects while it has commands: those that
// run are left.
func (s *remote) lose() (left map[uint64]running) {
	s.client.mu.Lock()
	s.client.drop(s)
	s.client.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost = true
	for _, answered := range s.asked {
		answered <- outcome{err: ErrLost}
	}
	return s.running
}
