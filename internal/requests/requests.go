// Package requests answers requests of HTTP on a bounded number of connections: those of the page, and webhooks.
package requests

import (
	"context"
	"crypto/tls"
	"errors"
	"log"
	"net"
	"net/http"
	"sync"

	"podd/pkg/socket"
)

// Server answers requests.
type Server struct {
	http *http.Server
	// end ends the context of all requests.
	end context.CancelFunc
	// running is held by each request for reading.
	running sync.RWMutex
}

// New makes a Server with the limits of s. Requests have the values of ctx.
func New(ctx context.Context, s *http.Server) *Server {
	calls, end := context.WithCancel(context.WithoutCancel(ctx))
	// Otherwise net/http answers OPTIONS * itself, without the checks of the handler.
	s.DisableGeneralOptionsHandler = true
	s.ErrorLog = log.New(quiet{}, "", 0)
	s.BaseContext = func(net.Listener) context.Context { return calls }
	s.ConnContext = withConn
	return &Server{http: s, end: end}
}

// Serve lets a handler answer requests on at most so many connections, until Close. Then no request is under way. encrypted is
// nil for plain HTTP.
func (s *Server) Serve(l net.Listener, most int, encrypted *tls.Config, h http.Handler) error {
	s.http.Handler = http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if s.running.TryRLock() { // Else the Server ends.
			defer s.running.RUnlock()
			h.ServeHTTP(out, r)
		}
	})
	l = socket.Limit(l, most)
	if encrypted != nil {
		l = tls.NewListener(l, encrypted)
	}
	err := s.http.Serve(l)
	s.Close()
	s.running.Lock() // It lets no other request in.
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Close ends all requests and connections.
func (s *Server) Close() {
	s.end()
	_ = s.http.Close()
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

// Busy keeps the connection of a request until ended is called: no new one replaces it.
func Busy(ctx context.Context) (ended func()) {
	if conn, ok := ctx.Value(connKey{}).(*socket.Conn); ok {
		conn.Begin()
		return conn.End
	}
	return func() {}
}
