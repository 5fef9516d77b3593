package triggers

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"podd/internal/requests"
	"podd/pkg/item"
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
	server   *requests.Server
	// mu guards the fields below: the certificate, and the files' state when it was read.
	mu      sync.Mutex
	pair    *tls.Certificate
	written [2]time.Time
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
	l.server = requests.New(ctx, &http.Server{
		ReadHeaderTimeout: headerTime, ReadTimeout: readTime, WriteTimeout: writeTime, MaxHeaderBytes: maxHeaders,
	})
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
	var encrypted *tls.Config
	if len(l.files) > 0 {
		encrypted = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: l.certificate, NextProtos: []string{"http/1.1"}}
	}
	_ = l.server.Serve(l.listener, maxConnections, encrypted, http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		defer requests.Busy(r.Context())()
		h.ServeHTTP(out, r)
	}))
}

// Close ends all connections, also those of slow senders.
func (l *Listener) Close() {
	if l == nil {
		return
	}
	l.server.Close()
	_ = l.listener.Close()
}
