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

	"podd/internal/commands/launcher"
	"podd/internal/commands/process"
)

// remote is podd's side of a shim.
type remote struct {
	client *Client
	kind   kind
	// cmd is nil for a keeper that an earlier podd started. Otherwise forget ends process.Lead.
	cmd     *exec.Cmd
	forget  func()
	conn    *net.UnixConn
	answers *json.Decoder
	// rest ends an idle shim; busy counts its commands. The client's mu guards both.
	rest *time.Timer
	busy int

	// sending is locked while a request is written, so that requests are in order.
	sending sync.Mutex
	mu      sync.Mutex
	last    uint64
	lost    bool
	// asked are the commands without an answer yet, running those with one.
	asked   map[uint64]chan<- outcome
	running map[uint64]running
	// ending counts the commands that no caller waits for.
	ending sync.WaitGroup
}

// outcome is the result of a request.
type outcome struct {
	running *Running
	err     error
}

type running struct {
	*Running
	ended func()
}

// launch starts a shim, or reaches the keeper that runs. The caller must hold c.mu.
func (c *Client) launch(k kind, limits process.Limits) (s *remote, err error) {
	s = &remote{client: c, kind: k, asked: map[uint64]chan<- outcome{}, running: map[uint64]running{}}
	if k.keeper.Path != "" {
		if s.conn, err = k.keeper.reach(); err != nil {
			s.conn = nil
		}
	}
	if s.conn == nil {
		if s.cmd, s.conn, err = c.execute(k.keeper, limits); err != nil {
			return nil, err
		}
	}
	s.answers = json.NewDecoder(s.conn)
	if k.keeper.Path != "" {
		if err := k.keeper.greeted(s.conn, s.answers); err != nil {
			_ = s.conn.Close()
			if s.cmd != nil {
				_ = s.cmd.Wait()
			}
			return nil, err
		}
	}
	if s.cmd != nil {
		s.forget = process.Lead(s.cmd.Process.Pid)
	}
	s.rest = time.AfterFunc(c.idle, func() { c.retire(s) })
	c.connected[s] = true
	c.ending.Go(s.listen)
	return s, nil
}

// execute starts a shim.
func (c *Client) execute(keeper Keeper, limits process.Limits) (*exec.Cmd, *net.UnixConn, error) {
	fds, err := socketpair()
	if err != nil {
		return nil, nil, err
	}
	files := []*os.File{os.NewFile(uintptr(fds[1]), "podd")}
	defer func() { closeAll(files) }()
	conn, err := connection(os.NewFile(uintptr(fds[0]), "shim"))
	if err != nil {
		return nil, nil, err
	}
	attr := &syscall.SysProcAttr{Setsid: true}
	if keeper.Path != "" {
		socket, err := keeper.listen()
		if err != nil {
			return nil, nil, errors.Join(err, conn.Close())
		}
		files = append(files, socket)
		if keeper.Network {
			ownNetwork(attr)
		}
	}
	told, err := json.Marshal(setup{limits, keeper.Path != "", keeper.Network})
	if err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	program, own := c.launcher.Path()
	name := launcher.Name
	if own {
		name = "podd"
	}
	cmd := exec.Command(program)
	cmd.Args, cmd.Env, cmd.Dir, cmd.ExtraFiles = []string{name, argument, string(told)}, []string{}, "/", files
	cmd.SysProcAttr = attr
	if err := cmd.Start(); err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	return cmd, conn, nil
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

// start requests a command, and waits until it has started or failed to.
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
		if c.Leave != nil && errors.Is(context.Cause(ctx), c.Leave) {
			return nil, ErrLost
		}
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

// ask sends a request. On error the shim has not received it.
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
		// A partial request is not a request. listen reports the shim's end.
		s.client.mu.Lock()
		s.client.drop(s)
		s.client.mu.Unlock()
	}
	return nil
}

// listen receives the outcomes of commands until the shim ends.
func (s *remote) listen() {
	for {
		var a answer
		if s.answers.Decode(&a) != nil {
			break
		}
		s.hear(a)
	}
	left, leaves := s.lose()
	_ = s.conn.Close()
	// Its outcome says nothing about its commands.
	state := "unknown"
	switch {
	case s.cmd != nil && leaves:
		_ = s.cmd.Process.Release()
		s.forget()
	case s.cmd != nil:
		_ = s.cmd.Wait()
		s.forget()
		state = s.cmd.ProcessState.String()
	}
	if len(left) > 0 && !leaves {
		s.client.log.Warn("the process that starts commands has ended before them: how they end is not known", "tool", "shell", "commands", len(left), "state", state)
	}
	// podd watches them itself now, until they or podd end.
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
		err := a.err()
		answered <- outcome{err: err}
		s.client.free(s)
	}
}

// lose handles a shim that ended while it had commands. It returns the running ones, and whether podd leaves them.
func (s *remote) lose() (left map[uint64]running, leaves bool) {
	s.client.mu.Lock()
	s.client.drop(s)
	delete(s.client.connected, s)
	leaves = s.client.left
	s.client.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost = true
	for _, answered := range s.asked {
		answered <- outcome{err: ErrLost}
	}
	return s.running, leaves
}
