package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"podd/internal/commands/process"
	poddversion "podd/pkg/version"
)

// The versions of the protocol: podd asks for the first. In the second a server is greeted that does not know it.
const (
	protocol = "2026-07-28"
	greeted  = "2025-11-25"
)

const (
	// probeTime is for a server to answer whether it speaks the newest version.
	probeTime = 10 * time.Second
	// leaveTime is for a server to end by itself after its standard input is closed, or for
	// closing the session of one over HTTP; killTime is from SIGTERM to SIGKILL.
	leaveTime = 2 * time.Second
	killTime  = time.Second
	// noticeTime is for reading a server's remaining output after its end.
	noticeTime = 500 * time.Millisecond
)

// link is a connection to a running server.
type link struct {
	session *sdk.ClientSession
	// quit ends the server, or the connection to it, and waits; leave is the time that the
	// server gets to end by itself.
	quit func(leave time.Duration)
	once sync.Once
	// why is how a command failed or ended, as the rest of a sentence; nil if unknown.
	why func() error
	// gone is closed when the server sends nothing more.
	gone chan struct{}
	talk conversation
	// users are the requests in progress; the instance's lock guards it.
	users int

	mu sync.Mutex
	// progress has the receivers of progress reports, by the token of a call.
	progress map[string]func(*sdk.ProgressNotificationParams)
	tokens   int
	// ttl is how long its lists are good; 0 means until it says that they changed.
	ttl time.Duration
	// callings are the requests in progress, in the order of their beginning.
	callings []*calling
}

// connect starts a server, or opens the connection to one, and agrees with it on a version. changed is
// called when the server reports that its lists have changed, noise for output that is not a
// message. Some commands of before the newest version end when it is asked for: they are started once more.
func (m *Manager) connect(ctx context.Context, r resolved, changed func(), noise func(string)) (*link, error) {
	l, mute, err := m.greet(ctx, r, protocol, changed, noise)
	if err != nil && mute && r.url == "" && ctx.Err() == nil {
		l, _, err = m.greet(ctx, r, greeted, changed, noise)
	}
	return l, err
}

// greet is connect with a version. mute says that the server has answered nothing.
func (m *Manager) greet(ctx context.Context, r resolved, version string, changed func(), noise func(string)) (_ *link, mute bool, _ error) {
	l := &link{gone: make(chan struct{}), why: func() error { return nil }, progress: map[string]func(*sdk.ProgressNotificationParams){}}
	transport, err := m.transport(ctx, l, r, noise)
	if err != nil {
		return nil, false, err
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "podd", Version: poddversion.String()}, &sdk.ClientOptions{
		Logger: slog.New(slog.DiscardHandler),
		// No roots, no sampling: the configuration says what a server works on, and a server asks no model. It can ask a person.
		Capabilities: &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{
			Form: &sdk.FormElicitationCapabilities{}, URL: &sdk.URLElicitationCapabilities{},
		}},
		ElicitationHandler:          l.elicit,
		ToolListChangedHandler:      func(context.Context, *sdk.ToolListChangedRequest) { changed() },
		PromptListChangedHandler:    func(context.Context, *sdk.PromptListChangedRequest) { changed() },
		ResourceListChangedHandler:  func(context.Context, *sdk.ResourceListChangedRequest) { changed() },
		ProgressNotificationHandler: l.reportProgress,
	})
	client.AddSendingMiddleware(probeInTime)
	type answer struct {
		session *sdk.ClientSession
		err     error
	}
	done := make(chan answer, 1)
	m.wg.Go(func() {
		session, err := client.Connect(ctx, transport, &sdk.ClientSessionOptions{ProtocolVersion: version})
		done <- answer{session, err}
	})
	var g answer
	select {
	case g = <-done:
	case <-ctx.Done():
		// A write to a server that does not read ends with its pipes.
		l.kill()
		if g = <-done; g.err == nil {
			_ = g.session.Close()
		}
		return nil, false, context.Cause(ctx)
	}
	if g.err != nil {
		// Its exit may say what it did not say in the protocol.
		cause := l.failure(ctx, g.err)
		l.kill()
		return nil, l.talk.mute(), cause
	}
	l.session = g.session
	m.wg.Go(func() {
		defer close(l.gone)
		_ = l.session.Wait()
	})
	return l, false, nil
}

// probeInTime bounds the question whether a server speaks the newest version: some never answer what they do not know.
func probeInTime(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		if method == "server/discover" {
			if end, ok := ctx.Deadline(); ok {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, min(probeTime, time.Until(end)/2))
				defer cancel()
			}
		}
		return next(ctx, method, r)
	}
}

// end ends a server that works.
func (l *link) end() { l.once.Do(func() { l.quit(leaveTime) }) }

// kill ends a server that failed.
func (l *link) kill() { l.once.Do(func() { l.quit(0) }) }

// failure is what went wrong: how the server ended, otherwise the protocol's error.
func (l *link) failure(ctx context.Context, err error) error {
	if why := l.why(); why != nil {
		return why
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	if _, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return fmt.Errorf("refused a request of podd%s", colon(word(err.Error())))
	}
	return fmt.Errorf("does not speak the MCP protocol%s", colon(err.Error()))
}

// opened is a transport whose connection exists.
type opened struct{ sdk.Connection }

// Connect returns the connection.
func (o opened) Connect(context.Context) (sdk.Connection, error) { return o.Connection, nil }

func (m *Manager) transport(ctx context.Context, l *link, r resolved, noise func(string)) (sdk.Transport, error) {
	if r.url != "" {
		return opened{m.overHTTP(l, r)}, nil
	}
	connection, err := m.overPipes(ctx, l, r, noise)
	return opened{connection}, err
}

// overPipes starts a command and talks to it over its standard streams.
func (m *Manager) overPipes(ctx context.Context, l *link, r resolved, noise func(string)) (sdk.Connection, error) {
	cmd := exec.Command(r.argv[0], r.argv[1:]...)
	cmd.Dir, cmd.Env = r.dir, r.env
	var files [6]*os.File
	for i := 0; i < len(files); i += 2 {
		a, b, err := os.Pipe()
		if err != nil {
			closeAll(files[:i]...)
			return nil, fmt.Errorf("could not be started: %w", err)
		}
		files[i], files[i+1] = a, b
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = files[0], files[3], files[5]
	stdin, stdout, stderr := files[1], files[2], files[4]
	tree, err := m.running.run(ctx, cmd)
	closeAll(files[0], files[3], files[5])
	if err != nil {
		closeAll(stdin, stdout, stderr)
		return nil, notStarted(r.dir, err)
	}
	said, silent := &tail{}, make(chan struct{})
	go func() {
		defer close(silent)
		process.ReadPipe(stderr, said.add)
	}()
	conversing, broken := context.WithCancelCause(context.WithoutCancel(ctx))
	l.quit = func(leave time.Duration) {
		tree.Follow()
		_ = stdin.Close()
		within(tree.Exited(), leave)
		m.endTree(tree, r.argv[0])
		closeAll(stdout, stderr)
		<-silent
		if l.session != nil {
			_ = l.session.Close()
		}
	}
	l.why = func() error {
		ended := within(conversing.Done(), noticeTime)
		switch why := context.Cause(conversing); {
		case !ended:
			return nil
		case !errors.Is(why, errOutput) && !errors.Is(why, errInput):
			return why
		case !within(tree.Exited(), leaveTime):
			return fmt.Errorf("%w%s", why, m.Redact(said.last()))
		}
		// Its last output may still be in the pipe, which a child of it may have.
		_ = stderr.SetReadDeadline(time.Now().Add(noticeTime))
		<-silent
		return fmt.Errorf("ended (%s)%s", tree.State(), m.Redact(said.last()))
	}
	return &pipes{conversation: &l.talk, input: input{stdin, broken}, output: stdout, lines: linesOf(stdout), noise: noise}, nil
}

// within says whether something ends in time.
func within(end <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-end:
		return true
	case <-timer.C:
		return false
	}
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// notStarted says whether the command or its directory is missing.
func notStarted(dir string, err error) error {
	if info, missing := os.Stat(dir); missing != nil || !info.IsDir() {
		return fmt.Errorf("cannot be started in %s: the directory does not exist", dir)
	}
	if e, ok := errors.AsType[*exec.Error](err); ok && errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("cannot be started: the program %s is not in podd's PATH", e.Name)
	}
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return fmt.Errorf("cannot be started: %s: %w", e.Path, e.Err)
	}
	return fmt.Errorf("cannot be started: %w", err)
}

// overHTTP talks to a server over HTTP.
func (m *Manager) overHTTP(l *link, r resolved) sdk.Connection {
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.ResponseHeaderTimeout = 0
	w := &web{
		conversation: &l.talk, client: &http.Client{Transport: base, CheckRedirect: sameOrigin},
		url: r.url, headers: r.headers, oauth: r.oauth, pause: m.Backoff, inbox: make(chan jsonrpc.Message),
	}
	w.ctx, w.cut = context.WithCancel(context.WithoutCancel(m.base))
	l.quit = func(leave time.Duration) {
		if l.session != nil {
			timer := time.AfterFunc(max(leave, noticeTime), w.cut)
			_ = l.session.Close()
			timer.Stop()
		}
		w.end()
		base.CloseIdleConnections()
	}
	return w
}

// sameOrigin keeps a server's headers, which may be secret, from other servers.
func sameOrigin(next *http.Request, before []*http.Request) error {
	if first := before[0].URL; next.URL.Scheme != first.Scheme || next.URL.Host != first.Host {
		return errors.New("it redirects to another server")
	}
	if len(before) > 5 {
		return errors.New("it redirects again and again")
	}
	return nil
}

// reportProgress passes on the progress of a call.
func (l *link) reportProgress(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
	token, ok := r.Params.ProgressToken.(string)
	if !ok {
		return
	}
	l.mu.Lock()
	report := l.progress[token]
	l.mu.Unlock()
	if report != nil {
		report(r.Params)
	}
}

// watch calls report with the progress of the call with this token, until stop.
func (l *link) watch(report func(*sdk.ProgressNotificationParams)) (token string, stop func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tokens++
	token = fmt.Sprintf("call-%d", l.tokens)
	l.progress[token] = report
	return token, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.progress, token)
	}
}
