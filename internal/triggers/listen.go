package triggers

import (
	"context"
	"crypto/tls"
	"log"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"podd/pkg/item"
	"podd/pkg/socket"
)

// The limits of connections and requests of webhooks.
const (
	maxConnections = 32
	maxHeaders     = 12 << 10
	headerTime     = 5 * time.Second
	readTime       = 15 * time.Second
	writeTime      = 30 * time.Second
)

// Listener is where webhooks arrive.
type Listener struct {
	listener net.Listener
	files    []string
	// mu guards the fields below: the certificate, and the files' state when it was read.
	mu      sync.Mutex
	pair    *tls.Certificate
	written [2]time.Time
	server  *http.Server
	// calls ends with the listener; running is held by each request.
	calls   context.Context //nolint:containedctx // That of all requests.
	cancel  context.CancelFunc
	running sync.RWMutex
}

// Listen opens a listener at HOST:PORT, with TLS if files are those of a certificate and its key.
func Listen(ctx context.Context, address string, files []string) (*Listener, error) {
	l := &Listener{files: files}
	if len(files) > 0 {
		if _, err := l.certificate(nil); err != nil {
			return nil, item.Errorf(item.KindPrecondition, "WEBHOOK_CERT", "cannot use triggers.tls: %v", err)
		}
	}
	var config net.ListenConfig
	raw, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, item.Errorf(item.KindPrecondition, "WEBHOOK_LISTEN", "cannot listen at %s for webhooks (%v): choose another address for triggers.listen, or stop the program that uses it", address, err)
	}
	l.listener = raw
	l.calls, l.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return l, nil
}

// URL is where it listens.
func (l *Listener) URL() string {
	if len(l.files) > 0 {
		return "https://" + l.listener.Addr().String()
	}
	return "http://" + l.listener.Addr().String()
}

// certificate reads the certificate, again if its files have changed. While they can't be used, the one before stays.
func (l *Listener) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var written [2]time.Time
	for i, file := range l.files {
		if info, err := os.Stat(file); err == nil {
			written[i] = info.ModTime()
		}
	}
	if l.pair != nil && written == l.written {
		return l.pair, nil
	}
	pair, err := tls.LoadX509KeyPair(l.files[0], l.files[1])
	switch {
	case err == nil:
		l.pair, l.written = &pair, written
	case l.pair == nil:
		return nil, err
	}
	return l.pair, nil
}

// Serve answers requests until Close. Then no request is under way.
func (l *Listener) Serve(h http.Handler) {
	limited := net.Listener(socket.Limit(l.listener, maxConnections))
	if len(l.files) > 0 {
		limited = tls.NewListener(limited, &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: l.certificate, NextProtos: []string{"http/1.1"}})
	}
	l.mu.Lock()
	l.server = &http.Server{
		Handler: l.counted(h), ReadHeaderTimeout: headerTime, ReadTimeout: readTime, WriteTimeout: writeTime, MaxHeaderBytes: maxHeaders,
		DisableGeneralOptionsHandler: true, ErrorLog: log.New(quiet{}, "", 0),
		BaseContext: func(net.Listener) context.Context { return l.calls },
		ConnContext: withConn,
	}
	server := l.server
	l.mu.Unlock()
	_ = server.Serve(limited)
	l.running.Lock()
	defer l.running.Unlock()
}

// Close ends all connections, also those of slow senders.
func (l *Listener) Close() {
	if l == nil {
		return
	}
	l.cancel()
	_ = l.listener.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.server != nil {
		_ = l.server.Close()
	}
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

// counted lets no new connection replace one with a request, and Serve wait for it.
func (l *Listener) counted(h http.Handler) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		l.running.RLock()
		defer l.running.RUnlock()
		if conn, ok := r.Context().Value(connKey{}).(*socket.Conn); ok {
			conn.Begin()
			defer conn.End()
		}
		if l.calls.Err() != nil {
			return // Serve may have returned.
		}
		h.ServeHTTP(out, r)
	})
}
