package web

import (
	"context"
	"crypto/tls"
	"errors"
	"log"
	"net"
	"net/http"
	"net/url"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"

	"podd/internal/guard/devices"
	"podd/pkg/socket"
)

// The limits of connections and requests.
const (
	maxConnections = 64
	// net/http allows 4 KiB more: together 16 KiB.
	maxHeaders = 12 << 10
	headerTime = 5 * time.Second
	// bodyTime is how long a body may take, writeTime an answer that is no stream.
	bodyTime  = 10 * time.Second
	writeTime = 30 * time.Second
	idleTime  = time.Minute
	// retryFirst and retryMost are the times between two connects to podd.
	retryFirst = 100 * time.Millisecond
	retryMost  = time.Second
	// maxMessage bounds an answer of podd, in bytes.
	maxMessage = 16 << 20
)

// Config is what Serve needs.
type Config struct {
	// Listener accepts the browsers' connections, TLS.Certificate on top of it.
	Listener net.Listener
	TLS      *tls.Certificate
	// Origin is where the page is: scheme, host and port, as browsers write it.
	Origin string
	// Dial connects to podd's socket for podd web.
	Dial func(context.Context) (net.Conn, error)

	// without is the rule that a test leaves out.
	without string
}

// Serve serves the page until ctx ends. Then it closes all connections and waits for their
// calls.
func Serve(ctx context.Context, c Config) error {
	conn, err := grpc.NewClient("passthrough:///podd", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return c.Dial(ctx) }),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.Config{BaseDelay: retryFirst, Multiplier: 2, MaxDelay: retryMost}, MinConnectTimeout: retryMost}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)))
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.Connect()
	g, err := newGate(c, conn)
	if err != nil {
		return err
	}
	limited := socket.Limit(c.Listener, maxConnections)
	listener := net.Listener(limited)
	if c.TLS != nil {
		listener = tls.NewListener(limited, &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{*c.TLS}, NextProtos: []string{"http/1.1"}})
	}
	calls, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	s := &http.Server{
		Handler: g, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeaders,
		// Otherwise net/http answers OPTIONS * itself, without the checks.
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     log.New(quiet{}, "", 0),
		BaseContext:                  func(net.Listener) context.Context { return calls },
		ConnContext:                  withConn,
	}
	stop := context.AfterFunc(ctx, func() {
		cancel()
		_ = s.Close()
	})
	defer stop()
	err = s.Serve(listener)
	// It waits for the requests, and lets no other in.
	g.running.Lock()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// quiet drops what net/http says of broken requests: anyone could fill the log with them.
type quiet struct{}

// Write drops p.
func (quiet) Write(p []byte) (int, error) { return len(p), nil }

// connKey is the key of a request's *socket.Conn.
type connKey struct{}

func withConn(ctx context.Context, conn net.Conn) context.Context {
	if encrypted, ok := conn.(*tls.Conn); ok {
		conn = encrypted.NetConn()
	}
	return context.WithValue(ctx, connKey{}, conn)
}

// busy counts a call on its connection, so that no new connection replaces it.
func busy(ctx context.Context) (ended func()) {
	if conn, ok := ctx.Value(connKey{}).(*socket.Conn); ok {
		conn.Begin()
		return conn.End
	}
	return func() {}
}

// newGate makes the handler of all requests.
func newGate(c Config, conn grpc.ClientConnInterface) (*gate, error) {
	where, err := url.Parse(c.Origin)
	if err != nil {
		return nil, err
	}
	g := &gate{origin: c.Origin, host: where.Host, methods: map[string]http.Handler{}, bearers: newBearers()}
	g.rules = slices.DeleteFunc(slices.Clone(rules), func(r rule) bool { return r.name == c.without })
	for _, path := range devices.Calls() {
		m, err := methodAt(path)
		if err != nil {
			return nil, err
		}
		g.methods[path] = m.handler(conn, g.bearers)
	}
	g.files, err = files(page())
	return g, err
}
