package mcp

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"podd/pkg/item"
	"podd/pkg/tool"
)

// Config configures a Manager. StateDir is required; zero values of the other fields mean
// their defaults.
type Config struct {
	// StateDir contains the record of what servers offered.
	StateDir string
	// Environ is podd's own environment without its keys, from which a server may get
	// variables.
	Environ []string
	// Servers are the servers of a workspace. One that it no longer has is ended, once its calls
	// have ended. nil means that a server stays until it is unused.
	Servers func(dir string) []Server
	// SecretFiles are the files with secrets of servers. Tools cannot read them.
	SecretFiles []string
	// Secret, if set, is called with each secret that a server gets.
	Secret func(values ...string)
	// Redact removes secrets from text; nil removes nothing.
	Redact func(string) string
	// Alert raises an alert with a sentence.
	Alert func(text string)
	// Idle is how long an unused server keeps running; default ten minutes.
	Idle time.Duration
	// Backoff is the pause after a number of consecutive failures, or ends of an optional stream,
	// from 1; by default a second, doubled with each one, up to a minute.
	Backoff func(failures int) time.Duration
	// PingTime is how long a server that did not answer a call in time has to answer a ping
	// before it is stopped; default five seconds.
	PingTime time.Duration
	// Logger gets what an operator should know; nil means none.
	Logger *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

func (c Config) withDefaults() Config {
	if c.Secret == nil {
		c.Secret = func(...string) {}
	}
	if c.Redact == nil {
		c.Redact = func(text string) string { return text }
	}
	if c.Alert == nil {
		c.Alert = func(string) {}
	}
	if c.Idle == 0 {
		c.Idle = 10 * time.Minute
	}
	if c.Backoff == nil {
		c.Backoff = func(failures int) time.Duration {
			return min(time.Second<<min(failures-1, 10), time.Minute)
		}
	}
	if c.PingTime == 0 {
		c.PingTime = pingTime
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// Manager owns the running servers.
type Manager struct {
	Config
	record  *record
	signIns *signIns
	running *running
	// oauth reaches public authorization servers; inside also reaches private ones that the configuration names.
	oauth, inside *http.Client
	// base is the context of the servers' own work; stop ends it.
	base context.Context
	stop context.CancelCauseFunc
	wg   sync.WaitGroup

	mu        sync.Mutex
	closed    bool
	instances map[string]*instance
	// logins are the sign-ins that wait for a browser, by their state.
	logins map[string]*callback
	// accounts are those of servers at which podd signs in by itself.
	accounts map[string]*account
}

// New creates a Manager. It lives until Close, not until ctx ends.
func New(ctx context.Context, c Config) (*Manager, error) {
	record, err := openRecord(c.StateDir)
	if err != nil {
		return nil, err
	}
	c = c.withDefaults()
	signIns, err := openSignIns(c.StateDir, c.Secret)
	if err != nil {
		return nil, err
	}
	running, err := openRunning(c.StateDir)
	if err != nil {
		c.Logger.Warn("cannot read which MCP servers ran, so they may run on", "file", running.path, "error", err)
	}
	m := &Manager{Config: c, record: record, signIns: signIns, running: running, instances: map[string]*instance{}, logins: map[string]*callback{}, accounts: map[string]*account{}}
	// The SDK adds its guard against private addresses to a transport without a dialer of its own.
	m.oauth = &http.Client{Timeout: renewTime, Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, DisableKeepAlives: true}}
	open := m.oauth.Transport.(*http.Transport).Clone()
	open.DialContext = new(net.Dialer).DialContext
	m.inside = &http.Client{Timeout: renewTime, Transport: open}
	m.base, m.stop = context.WithCancelCause(context.WithoutCancel(ctx))
	m.wg.Go(m.endEarlier)
	m.wg.Go(m.sweep)
	return m, nil
}

// Close ends all servers with everything that they started, and waits.
func (m *Manager) Close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	// Whoever attends a server ends it, and a start that ends after this does.
	m.stop(errStopped)
	m.wg.Wait()
}

// begin runs work in a goroutine, unless the Manager is closed.
func (m *Manager) begin(work func()) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	m.wg.Go(work)
	return true
}

// sweep ends unused servers.
func (m *Manager) sweep() {
	ticks := time.NewTicker(max(m.Idle/4, time.Millisecond))
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
		case <-m.base.Done():
			return
		}
		m.Keep()
		for _, i := range m.all() {
			i.idle(m.Now())
		}
	}
}

// Keep ends the servers that the configuration no longer has, or has in another form.
func (m *Manager) Keep() {
	if m.Servers == nil {
		return
	}
	for _, i := range m.all() {
		if !slices.ContainsFunc(m.Servers(i.dir), func(s Server) bool { return keyOf(s, i.dir) == i.key }) {
			i.unwant()
		}
	}
}

func (m *Manager) all() []*instance {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []*instance
	for _, i := range m.instances {
		all = append(all, i)
	}
	return all
}

func (m *Manager) alert(format string, args ...any) {
	text := m.Redact(fmt.Sprintf(format, args...))
	// The receiver may lock, too.
	if !m.begin(func() { m.Alert(text) }) {
		m.Logger.Warn("alert of an MCP server while podd stops", "text", text)
	}
}

// instance is the instance of a server in a workspace.
func (m *Manager) instance(s Server, dir string) *instance {
	key := keyOf(s, dir)
	m.mu.Lock()
	i := m.instances[key]
	if i == nil {
		i = &instance{m: m, key: key, dir: dir, def: s, listing: m.record.listing(key)}
		m.instances[key] = i
	}
	m.mu.Unlock()
	i.mu.Lock()
	defer i.mu.Unlock()
	i.def, i.unwanted = s, false
	return i
}

// Tools are the tools of servers for a workspace, sorted by name. With start, an unknown
// server is started to list its tools; otherwise, and if that fails, it has none.
func (m *Manager) Tools(ctx context.Context, servers []Server, dir string, start bool) []tool.Tool {
	offers := make([][]tool.Tool, len(servers))
	var asking sync.WaitGroup
	for n, s := range servers {
		i := m.instance(s, dir)
		asking.Go(func() { offers[n] = i.offer(i.offered(ctx, start)) })
	}
	asking.Wait()
	tools := slices.Concat(offers...)
	slices.SortFunc(tools, func(a, b tool.Tool) int { return strings.Compare(a.Spec().Name, b.Spec().Name) })
	return tools
}

// State says what a server is doing.
type State string

// The states of a server.
const (
	// Idle: it is not running, and starts at the next use.
	Idle State = "idle"
	// Starting: it was started and has not listed what it offers yet.
	Starting State = "starting"
	// Running: it is running.
	Running State = "running"
	// Failed: it is not running because it failed.
	Failed State = "failed"
)

// Look is a server as shown to people.
type Look struct {
	Server Server
	State  State
	// Error is the server's last failure, as the rest of a sentence; empty if it works.
	Error string
	// Listing is what it offers; nil if unknown.
	Listing *Listing
	// Names are the names of its tools as a model sees them; "" for one that is not offered.
	// Changed says which of them need approval because they have changed.
	Names   []string
	Changed []bool
	// SignIn is the state of its sign-in; empty for a server that has none.
	SignIn SignIn
}

// SignIn says how podd is signed in at a server.
type SignIn string

// The states of a sign-in.
const (
	// SignedIn: podd has a token, and renews it.
	SignedIn SignIn = "signed in"
	// SignInNeeded: podd asked a person to sign in.
	SignInNeeded SignIn = "needed"
	// SignsIn: podd has a machine account there, and gets its tokens without a person.
	SignsIn SignIn = "by itself"
)

// Look describes a server in a workspace without starting it.
func (m *Manager) Look(s Server, dir string) Look {
	i := m.instance(s, dir)
	i.mu.Lock()
	look := Look{Server: i.def, State: Idle, Listing: i.listing}
	switch {
	case i.link != nil:
		look.State = Running
	case i.starting != nil:
		look.State = Starting
	case i.broken != nil:
		look.State, look.Error = Failed, i.broken.Error()
	}
	i.mu.Unlock()
	if r, err := m.resolve(s, dir); err == nil && r.oauth != nil {
		switch one, _ := m.signIns.get(signInKey(s, r.url)); {
		case s.Grant != "":
			look.SignIn = SignsIn
		case one.Access != "":
			look.SignIn = SignedIn
		case one.Told:
			look.SignIn = SignInNeeded
		}
	}
	m.describe(&look, i.key)
	return look
}

// describe fills in what a model gets to know about a server's tools.
func (m *Manager) describe(look *Look, key string) {
	if look.Listing == nil {
		return
	}
	taken := map[string]bool{}
	for _, t := range look.Listing.Tools {
		name := ""
		if wanted(look.Server.Tools, t.Name) {
			name = nameOf(look.Server.Name, t.Name, taken)
		}
		look.Names = append(look.Names, name)
		look.Changed = append(look.Changed, !m.record.accepted(key, t))
	}
}

// Test starts a separate process of a server, lists everything that it offers, and ends it.
// The error is a sentence that says what to do.
func (m *Manager) Test(ctx context.Context, s Server, dir string) (look Look, took time.Duration, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.StartTimeout, fmt.Errorf("was not ready within %s (start_timeout)", s.StartTimeout))
	defer cancel()
	begun := time.Now()
	l, listing, err := m.open(ctx, s, dir, func() {}, func(string) {})
	if err != nil {
		e := item.Errorf(item.KindPrecondition, "MCP_SERVER", "the MCP server %s (%s) %s", s.Name, s.Origin, m.Redact(err.Error()))
		return Look{}, 0, e
	}
	took = time.Since(begun)
	l.end()
	<-l.gone
	look = Look{Server: s, State: Idle, Listing: listing}
	i := m.instance(s, dir)
	i.mu.Lock()
	i.failures, i.broken, i.retryAt = 0, nil, time.Time{}
	i.learn(listing)
	i.mu.Unlock()
	m.describe(&look, i.key)
	return look, took, nil
}

// Accept accepts the current tools of a server: podd does not ask about their form until it
// changes again. It returns how many had changed.
func (m *Manager) Accept(s Server, dir string) (int, error) {
	i := m.instance(s, dir)
	look := m.Look(s, dir)
	if look.Listing == nil {
		return 0, item.Errorf(item.KindPrecondition, "MCP_SERVER", "podd does not know the tools of the MCP server %s yet: run podctl mcp test %s first", s.Name, s.Name)
	}
	var tools []Tool
	for n, t := range look.Listing.Tools {
		if look.Changed[n] {
			tools = append(tools, t)
		}
	}
	return len(tools), m.record.accept(i.key, tools...)
}
