package mcp

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// patience is how long a call waits for a server that is to be started again.
const patience = 5 * time.Second

// pingTime is how long a server that did not answer a call has to answer at all.
const pingTime = 5 * time.Second

// instance is a server in a workspace. At most one of it runs.
type instance struct {
	m   *Manager
	key string
	dir string

	mu  sync.Mutex
	def Server
	// link is the server that runs; nil when none does. starting is closed when a start
	// has ended; nil when none is under way.
	link     *link
	starting chan struct{}
	// listing is what the server offers, as far as that is known; stale says that it has
	// said since that this changed.
	listing *Listing
	stale   bool
	// failures counts those since it did its work last, and broken is what the last was.
	failures int
	broken   error
	retryAt  time.Time
	// users are the calls under way, used is when the last one ended.
	users int
	used  time.Time
	// greeted says that a line that is no message was told of.
	greeted bool
}

// errStopped is for what is asked once podd stops.
var errStopped = errors.New("is not started any more, for podd is stopping")

// definition is how the server is configured now.
func (i *instance) definition() Server {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.def
}

// use is the server that runs, started if need be. free must follow. With wait false a
// server that failed a moment ago is not waited for.
func (i *instance) use(ctx context.Context, wait bool) (*link, error) {
	for {
		l, start, err := i.take(wait)
		if l != nil || err != nil {
			return l, err
		}
		if err := i.await(ctx, start); err != nil {
			return nil, err
		}
	}
}

// attempt is a start of a server to wait for: one under way, or the time before the next.
type attempt struct {
	pause    time.Duration
	over     <-chan struct{}
	failures int
}

// take gives the server that runs, or what to wait for before it is asked again.
func (i *instance) take(wait bool) (*link, attempt, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.link != nil {
		i.users++
		return i.link, attempt{}, nil
	}
	if i.starting == nil {
		if pause := i.retryAt.Sub(i.m.Now()); pause > 0 {
			if !wait || pause > patience {
				return nil, attempt{}, fmt.Errorf("%w; podd starts it again in %s at the earliest", i.broken, pause.Round(time.Second))
			}
			return nil, attempt{pause: pause}, nil
		}
		if !i.m.begin(i.start) {
			return nil, attempt{}, errStopped
		}
		i.starting = make(chan struct{})
	}
	return nil, attempt{over: i.starting, failures: i.failures}, nil
}

// await waits for an attempt; it fails when that did.
func (i *instance) await(ctx context.Context, a attempt) error {
	if a.over == nil {
		return sleep(ctx, a.pause)
	}
	select {
	case <-a.over:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.link == nil && i.failures > a.failures {
		return i.broken
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// free ends a use.
func (i *instance) free() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.users--
	i.used = i.m.Now()
}

// start starts the server and asks what it offers.
func (i *instance) start() {
	def := i.definition()
	ctx, cancel := context.WithTimeoutCause(i.m.base, def.StartTimeout, fmt.Errorf("was not ready within %s", def.StartTimeout))
	defer cancel()
	l, listing, err := i.m.open(ctx, def, i.dir, i.changed, i.noise)
	i.mu.Lock()
	defer i.mu.Unlock()
	close(i.starting)
	i.starting = nil
	switch {
	case err != nil:
		i.failed(err)
		return
	case i.m.base.Err() != nil:
		l.end()
		return
	}
	i.link, i.used = l, i.m.Now()
	i.learn(listing)
	i.m.wg.Go(func() { i.attend(l) })
}

// open starts a server and asks it for all that it offers.
func (m *Manager) open(ctx context.Context, def Server, dir string, changed func(), noise func(string)) (*link, *Listing, error) {
	r, err := m.resolve(def, dir)
	if err != nil {
		return nil, nil, err
	}
	l, err := m.connect(ctx, r, changed, noise)
	if err != nil {
		return nil, nil, err
	}
	listing, err := l.list(ctx, m.Now())
	if err != nil {
		err = l.failure(ctx, err)
		l.kill()
		return nil, nil, err
	}
	return l, listing, nil
}

// attend waits for the end of a server and gives back what it leaves. One that nobody
// asked to end has failed; until that is noted, what is called fails with it.
func (i *instance) attend(l *link) {
	<-l.gone
	i.drop(l, l.failure(i.m.base, errors.New("the connection has ended")))
	l.kill()
}

// drop ends a server that does not do its work.
func (i *instance) drop(l *link, err error) {
	i.mu.Lock()
	if i.link != l {
		i.mu.Unlock()
		return
	}
	i.link = nil
	i.failed(err)
	i.mu.Unlock()
	l.kill()
}

// failed notes a failure, and tells of it unless the server has failed since it did its
// work last. i.mu is held.
func (i *instance) failed(err error) {
	if i.m.base.Err() != nil {
		return
	}
	i.failures++
	i.broken = err
	i.retryAt = i.m.Now().Add(i.m.Backoff(i.failures))
	i.m.Logger.Warn("MCP server failed", "server", i.def.Name, "dir", i.dir, "failures", i.failures, "error", err)
	if i.failures == 1 {
		i.m.alert("the MCP server %s %v; podd starts it again when it is needed, and its calls fail until it works (podctl mcp test %s)", i.def.Name, err, i.def.Name)
	}
}

// worked notes that the server did its work.
func (i *instance) worked() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.failures, i.broken, i.retryAt = 0, nil, time.Time{}
}

// changed notes that the server's lists are not what they were.
func (i *instance) changed() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.stale = true
}

// noise tells once of a line that is no message.
func (i *instance) noise(line string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.greeted {
		return
	}
	i.greeted = true
	i.m.alert("the MCP server %s prints to its standard output what is no message, which is passed over%s", i.def.Name, colon(i.m.Redact(line)))
}

// idle ends the server when it was not used for long.
func (i *instance) idle(now time.Time) {
	i.mu.Lock()
	l := i.link
	if l == nil || i.users > 0 || now.Sub(i.used) < i.m.Idle {
		i.mu.Unlock()
		return
	}
	i.link = nil
	i.mu.Unlock()
	i.m.Logger.Info("MCP server ended, for nothing uses it", "server", i.definition().Name, "dir", i.dir)
	l.end()
}

// stop ends the server.
func (i *instance) stop() {
	i.mu.Lock()
	l := i.link
	i.link = nil
	i.mu.Unlock()
	if l != nil {
		l.end()
	}
}
