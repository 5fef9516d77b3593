package shim

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"podd/internal/commands/process"
)

const (
	// idleTime is for how long a shim without a command is kept.
	idleTime = time.Minute
	// closePatience is for how long Close waits for what cannot be ended.
	closePatience = time.Second
)

// Errors of Start.
var (
	// ErrLost is for a command of which it is not known whether it began; its record may
	// say so.
	ErrLost = errors.New("it is not known whether the command began")
	// ErrClosed is for a Client that is closed.
	ErrClosed = errors.New("podd is stopping")
)

// Client starts commands by shims: one for all commands of the same limits, which is
// started when it is needed and ended when it was not for a minute. Its methods may be
// called from any goroutine. Close must follow.
type Client struct {
	log  *slog.Logger
	idle time.Duration

	mu     sync.Mutex
	closed chan struct{}
	shims  map[process.Limits]*remote
	// ending counts the shims that have not ended.
	ending sync.WaitGroup
}

// Open is a client without a shim. It is an error in a program that does not call Main.
func Open(log *slog.Logger) (*Client, error) {
	if !hasMain.Load() {
		return nil, errors.New("this program does not call shim.Main")
	}
	return &Client{log: log, idle: idleTime, closed: make(chan struct{}), shims: map[process.Limits]*remote{}}, nil
}

// Start starts a command. On ErrLost it may have run or still run, on any other error it
// has not. When ctx ends before the command has begun, that is ErrLost too, and what
// begins then is ended.
func (c *Client) Start(ctx context.Context, command Command) (*Running, error) {
	// From here on the shim holds the record, or nobody.
	defer command.Record.Close()
	s, err := c.shim(command.Limits)
	if err != nil {
		return nil, err
	}
	return s.start(ctx, command)
}

// shim is the one for commands of these limits, which counts as busy with one more.
func (c *Client) shim(limits process.Limits) (*remote, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isClosed() {
		return nil, ErrClosed
	}
	s := c.shims[limits]
	if s == nil {
		var err error
		if s, err = c.launch(limits); err != nil {
			return nil, err
		}
		c.shims[limits] = s
	}
	s.busy++
	return s, nil
}

func (c *Client) isClosed() bool {
	select {
	case <-c.closed:
		return true
	default:
		return false
	}
}

// free counts one command of a shim less.
func (c *Client) free(s *remote) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.busy--; s.busy == 0 {
		s.rest.Reset(c.idle)
	}
}

// retire ends a shim that is not busy.
func (c *Client) retire(s *remote) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.busy == 0 {
		c.drop(s)
	}
}

// drop keeps a shim from getting more commands. It is called with mu held.
func (c *Client) drop(s *remote) {
	if c.shims[s.limits] == s {
		delete(c.shims, s.limits)
	}
	s.rest.Stop()
	_ = s.conn.CloseWrite()
}

// Close ends the shims. Their commands should have ended. It can be called again.
func (c *Client) Close() {
	c.mu.Lock()
	if c.isClosed() {
		c.mu.Unlock()
		return
	}
	close(c.closed)
	for _, s := range c.shims {
		c.drop(s)
	}
	c.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.ending.Wait()
	}()
	select {
	case <-ended:
	case <-time.After(closePatience):
		c.log.Warn("commands that cannot be ended are left running")
	}
}
