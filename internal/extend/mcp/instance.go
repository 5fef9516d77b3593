package mcp

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// patience is how long a call waits for a server that will be restarted.
const patience = 5 * time.Second

// pingTime is how long a server that did not answer a call has to answer a ping.
const pingTime = 5 * time.Second

// instance is a server in a workspace. At most one process of it runs.
type instance struct {
	m   *Manager
	key string
	dir string

	mu  sync.Mutex
	def Server
	// link is the running server, or nil. starting is closed when a start has ended; nil if
	// no start is in progress.
	link     *link
	starting chan struct{}
	// listing is what the server offers, if known; stale says that the server has since
	// reported a change.
	listing *Listing
	stale   bool
	// failures counts the failures since its last success, and broken is the last one.
	failures int
	broken   error
	retryAt  time.Time
	// used is when the last request ended.
	used time.Time
	// unwanted says that the configuration no longer has the server.
	unwanted bool
	// greeted says that a line that is not a message has been reported.
	greeted bool
}

// errStopped is for requests while podd is stopping.
var errStopped = errors.New("was not started because podd is stopping")

// definition is the server's current configuration.
func (i *instance) definition() Server {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.def
}

// with passes the running server, or the reason why it does not run, to work; it starts the server if needed.
// With wait false it does not wait for a server that failed a moment ago. If the server has
// forgotten the session, it did nothing, and work runs once more in a new session.
func (i *instance) with(ctx context.Context, wait bool, work func(*link, error) error) error {
	for again := true; ; again = false {
		l, err := i.use(ctx, wait)
		if err != nil {
			return work(nil, err)
		}
		err = work(l, nil)
		f, failed := errors.AsType[*failure](err)
		gone := failed && f.gone
		i.free(l, gone)
		if !gone || !again {
			return err
		}
	}
}

// use returns the running server and starts it if needed. Call free afterwards. With wait
// false it does not wait for a server that failed a moment ago.
func (i *instance) use(ctx context.Context, wait bool) (*link, error) {
	for {
		l, start, err := i.acquire(wait)
		if l != nil || err != nil {
			return l, err
		}
		if err := i.await(ctx, start); err != nil {
			return nil, err
		}
	}
}

// attempt is a start of a server to wait for: one in progress, or the pause before the next.
type attempt struct {
	pause    time.Duration
	over     <-chan struct{}
	failures int
}

// acquire returns the running server, or what to wait for before the next try.
func (i *instance) acquire(wait bool) (*link, attempt, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.link != nil {
		i.link.users++
		return i.link, attempt{}, nil
	}
	if i.starting == nil {
		if pause := i.retryAt.Sub(i.m.Now()); pause > 0 {
			if !wait || pause > patience {
				return nil, attempt{}, fmt.Errorf("%w; podd restarts it in %s at the earliest", i.broken, pause.Round(time.Second))
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

// await waits for an attempt; it fails if the attempt failed.
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

// free ends a use. last says that the server must not be used again.
func (i *instance) free(l *link, last bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	l.users--
	i.used = i.m.Now()
	if i.link == l && (last || i.unwanted && l.users == 0) {
		i.link = nil
	}
	i.retire(l)
}

// retire ends a server that is unused and no longer the instance's. i.mu is held.
func (i *instance) retire(l *link) {
	if i.link != l && l.users == 0 {
		// If podd stops, attend ends it.
		i.m.begin(l.end)
	}
}

// unwant ends the server because the configuration no longer has it: now, or when its calls
// have ended.
func (i *instance) unwant() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.unwanted = true
	if l := i.link; l != nil && l.users == 0 {
		i.link = nil
		i.retire(l)
		i.m.Logger.Info("stopped an MCP server that the configuration no longer has", "server", i.def.Name, "dir", i.dir)
	}
}

// start starts the server and lists what it offers.
func (i *instance) start() {
	i.mu.Lock()
	def := i.def
	i.stale = false // What it reports from here on may come after its lists.
	i.mu.Unlock()
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

// open starts a server and lists everything that it offers.
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

// attend waits for the end of a server, or of podd, and releases its resources. A server that
// ends without being asked to has failed; until that is recorded, its calls fail with it.
func (i *instance) attend(l *link) {
	select {
	case <-l.gone:
		i.drop(l, l.failure(i.m.base, errors.New("the connection has ended")))
		l.kill()
	case <-i.m.base.Done():
		l.end()
		<-l.gone
	}
}

// drop ends a server that does not work.
func (i *instance) drop(l *link, err error) {
	if i.lost(l, err) {
		l.kill()
	}
}

// lost records that a server does not work. Requests in progress go on.
func (i *instance) lost(l *link, err error) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.link != l {
		return false
	}
	i.link = nil
	i.failed(err)
	i.retire(l)
	return true
}

// failed records a failure, and raises an alert for the first one since the last success.
// i.mu is held.
func (i *instance) failed(err error) {
	if i.m.base.Err() != nil {
		return
	}
	i.failures++
	i.broken = err
	i.retryAt = i.m.Now().Add(i.m.Backoff(i.failures))
	i.m.Logger.Warn("MCP server failed", "server", i.def.Name, "dir", i.dir, "failures", i.failures, "error", err)
	if e, ok := errors.AsType[*signInError](err); ok {
		i.m.alertSignIn(e)
		return
	}
	if i.failures == 1 {
		i.m.alert("the MCP server %s %v; podd restarts it when needed, and calls fail until it works: check it with podctl mcp test %s", i.def.Name, err, i.def.Name)
	}
}

// worked records a success of the server.
func (i *instance) worked() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.failures, i.broken, i.retryAt = 0, nil, time.Time{}
}

// changed records that the server's lists have changed.
func (i *instance) changed() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.stale = true
}

// noise reports a line that is not a message, once.
func (i *instance) noise(line string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.greeted {
		return
	}
	i.greeted = true
	i.m.alert("the MCP server %s prints text other than messages to its standard output; podd ignores it%s", i.def.Name, colon(i.m.Redact(line)))
}

// idle ends the server if it has not been used for long.
func (i *instance) idle(now time.Time) {
	i.mu.Lock()
	l := i.link
	if l == nil || l.users > 0 || now.Sub(i.used) < i.m.Idle {
		i.mu.Unlock()
		return
	}
	i.link = nil
	i.mu.Unlock()
	i.m.Logger.Info("stopped an unused MCP server", "server", i.definition().Name, "dir", i.dir)
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
