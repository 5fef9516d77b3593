package web

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"

	"podd/internal/guard/devices"
	"podd/internal/requests"
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
	// answerMost is how long a podd that accepts a connection may take to answer: on a busy machine it takes a while.
	answerMost = 10 * time.Second
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
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.Config{BaseDelay: retryFirst, Multiplier: 2, MaxDelay: retryMost}, MinConnectTimeout: answerMost}),
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
	var encrypted *tls.Config
	if c.TLS != nil {
		encrypted = &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{*c.TLS}, NextProtos: []string{"http/1.1"}}
	}
	s := requests.New(ctx, &http.Server{ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeaders})
	defer context.AfterFunc(ctx, s.Close)()
	return s.Serve(c.Listener, maxConnections, encrypted, g)
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
