package shim

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"podd/internal/commands/launcher"
	"podd/internal/commands/process"
)

const (
	// idleTime is how long a shim without a command is kept.
	idleTime = time.Minute
	// closePatience is how long Close waits for a shim that does not end.
	closePatience = time.Second
)

// Errors of Start.
var (
	// ErrLost means that it is unknown whether the command began; its record may say so.
	ErrLost = errors.New("it is not known whether the command began")
	// ErrClosed means that the Client is closed.
	ErrClosed = errors.New("podd is stopping")
)

// Client starts commands by shims. It starts one shim for all commands with the same
// limits when it is needed, and ends it after an idle minute. Its methods may be called
// from any goroutine. Close must follow.
type Client struct {
	log      *slog.Logger
	launcher *launcher.Launcher
	idle     time.Duration
	// group is the control group of all commands; empty without one. ungroup removes it.
	group   string
	ungroup func()

	mu     sync.Mutex
	closed chan struct{}
	shims  map[kind]*remote
	// connected are the shims that have not ended; left says that they run on without podd.
	connected map[*remote]bool
	left      bool
	// ending counts the shims that have not ended.
	ending sync.WaitGroup
}

// Open returns a client without a shim. Its shims are processes of l; with a nil l, in a
// program that does not call Main, Open fails. The caller closes l after the Client.
func Open(log *slog.Logger, l *launcher.Launcher) (*Client, error) {
	if _, own := l.Path(); own && !hasMain.Load() {
		return nil, errors.New("this program does not call shim.Main")
	}
	c := &Client{log: log, launcher: l, idle: idleTime, closed: make(chan struct{}), shims: map[kind]*remote{}, connected: map[*remote]bool{}}
	c.group, c.ungroup = process.CommandGroup()
	process.KeepThreads(c.group)
	return c, nil
}

// Start starts a command. On ErrLost it may have run or still run; on any other error it
// has not run. When ctx ends before the command has begun, Start returns ErrLost too, and
// ends the command if it begins later, unless ctx ends by command.Leave.
func (c *Client) Start(ctx context.Context, command Command) (*Running, error) {
	// Afterwards only the shim, if any, has the record open.
	defer command.Record.Close()
	s, err := c.shim(command.Keeper, command.Limits)
	if err != nil {
		return nil, err
	}
	return s.start(ctx, command)
}

// Write types input into the terminal of a command of a keeper. What has a key is typed once, however
// often it is sent; an earlier podd's keeper knows no keys.
func (c *Client) Write(ctx context.Context, k Keeper, command process.ID, key string, input []byte) error {
	err := c.input(ctx, k, encodeInput(command.Mark, key, input, false))
	if key != "" && err != nil && err.Error() == errNoInput.Error() {
		err = c.input(ctx, k, encodeInput(command.Mark, "", input, false))
	}
	return err
}

// Typed asks what became of input with a key: nil says that it was typed, ErrUntyped that it was not.
func (c *Client) Typed(ctx context.Context, k Keeper, command process.ID, key string) error {
	return c.input(ctx, k, encodeInput(command.Mark, key, nil, true))
}

func (c *Client) input(ctx context.Context, k Keeper, r request) error {
	s, err := c.shim(k, process.Limits{})
	if err != nil {
		return err
	}
	answered := make(chan outcome, 1)
	if err := s.ask(r, answered); err != nil {
		c.free(s)
		return err
	}
	select {
	case a := <-answered:
		return a.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// shim returns a keeper, or the shim for these limits, and counts the new command as one of
// its own.
func (c *Client) shim(keeper Keeper, limits process.Limits) (*remote, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isClosed() {
		return nil, ErrClosed
	}
	limits.Group = c.group
	k := kind{keeper: keeper}
	if keeper.Path == "" {
		k.limits = limits
	}
	s := c.shims[k]
	if s == nil {
		var err error
		if s, err = c.launch(k, limits); err != nil {
			return nil, err
		}
		c.shims[k] = s
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

// free removes one command from a shim's count.
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

// drop keeps a shim from getting more commands. The caller must hold mu.
func (c *Client) drop(s *remote) {
	if c.shims[s.kind] == s {
		delete(c.shims, s.kind)
	}
	s.rest.Stop()
	_ = s.conn.CloseWrite()
}

// Leave lets the commands run on, as the end of podd does: also one that is about to begin.
func (c *Client) Leave() {
	c.mu.Lock()
	c.left = true
	for s := range c.connected {
		_ = s.conn.Close()
	}
	c.mu.Unlock()
	c.Close()
}

// Close ends the shims. Their commands should have ended. It may be called more than
// once.
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
	defer c.ungroup()
	select {
	case <-ended:
	case <-time.After(closePatience):
		c.log.Warn("commands that cannot be ended are left running")
	}
}
