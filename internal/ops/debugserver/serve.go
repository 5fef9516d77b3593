// Package debugserver serves metrics and profiles to podd's operator, over HTTP on a Unix
// socket of its own. The socket follows the rules of podd's socket and serves only podd's
// user.
//
// Rank 3: it imports internal/ops/metrics and pkg/socket.
package debugserver

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"time"

	"podd/internal/ops/metrics"
	"podd/pkg/socket"
)

// Server serves until Close.
type Server struct {
	http   *http.Server
	served chan struct{}
}

// Config configures a Server; all fields are required.
type Config struct {
	// Path is the socket's path; see socket.Listen.
	Path string
	// Samples returns the current metrics.
	Samples func(context.Context) ([]metrics.Sample, error)
	Logger  *slog.Logger
}

// Serve listens and serves in the background.
func Serve(ctx context.Context, c Config) (*Server, error) {
	l, err := socket.Listen(ctx, c.Path)
	if err != nil {
		return nil, err
	}
	s := &Server{
		http: &http.Server{
			Handler: handler(c), ReadHeaderTimeout: 5 * time.Second, MaxHeaderBytes: 16 << 10,
			ErrorLog: slog.NewLogLogger(c.Logger.Handler(), slog.LevelDebug),
		},
		served: make(chan struct{}),
	}
	go func() {
		defer close(s.served)
		if err := s.http.Serve(own{l, os.Geteuid()}); !errors.Is(err, http.ErrServerClosed) {
			c.Logger.Error("the debug socket is no longer served", "error", err)
		}
	}()
	return s, nil
}

// Close closes all connections and waits until nothing is left.
func (s *Server) Close() {
	_ = s.http.Close()
	<-s.served
}

// own is a listener for the connections of one user.
type own struct {
	net.Listener
	uid int
}

// Accept closes the connections of other users.
func (o own) Accept() (net.Conn, error) {
	for {
		conn, err := o.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if uid, err := socket.PeerUID(conn); err == nil && uid == o.uid {
			return conn, nil
		}
		_ = conn.Close()
	}
}

func handler(c Config) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		samples, err := c.Samples(r.Context())
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", metrics.ContentType)
		// A client that has gone away needs no answer.
		_ = metrics.Write(w, samples)
	})
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}
