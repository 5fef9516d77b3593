package mcp

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
)

// callbackPath is where the browser comes back to.
const callbackPath = "/callback"

// callback waits for the browser on a port of this machine.
type callback struct {
	url    string
	server *http.Server
	served chan struct{}
	// answers has the first answer with that secret.
	answers chan url.Values

	mu sync.Mutex
	// state is the secret that the browser brings back; empty before the address is shown.
	state string
}

// listen opens a port on loopback; 0 means any.
func (m *Manager) listen(port int) (*callback, error) {
	at, err := (&net.ListenConfig{}).Listen(m.base, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, fmt.Errorf("is not signed in: podd cannot wait for the browser: %w", err)
	}
	c := &callback{url: "http://" + at.Addr().String() + callbackPath, served: make(chan struct{}), answers: make(chan url.Values, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+callbackPath, c.answer)
	c.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	go func() {
		defer close(c.served)
		_ = c.server.Serve(at)
	}()
	return c, nil
}

// close waits for the page that the browser shows.
func (c *callback) close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if c.server.Shutdown(ctx) != nil {
		_ = c.server.Close()
	}
	<-c.served
}

// expect says which state a login waits for; nil ends that.
func (m *Manager) expect(state string, c *callback) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c == nil {
		delete(m.logins, state)
		return
	}
	m.logins[state] = c
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state = state
}

// answer is the browser that comes back. One with another secret changes nothing: any page can
// send a browser here.
func (c *callback) answer(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Connection", "close")
	c.mu.Lock()
	state := c.state
	c.mu.Unlock()
	if state != "" && subtle.ConstantTimeCompare([]byte(state), []byte(r.URL.Query().Get("state"))) == 1 {
		c.deliver(r.URL.Query())
		_, _ = fmt.Fprintln(w, "podd has the answer. Close this page and go back to the terminal.")
		return
	}
	w.WriteHeader(http.StatusBadRequest)
	_, _ = fmt.Fprintln(w, "podd does not wait for this sign-in. Start again with podctl mcp login.")
}

// deliver hands on the first answer.
func (c *callback) deliver(answer url.Values) {
	select {
	case c.answers <- answer:
	default:
	}
}

// wait waits for the answer.
func (c *callback) wait(ctx context.Context) (*auth.AuthorizationResult, error) {
	select {
	case a := <-c.answers:
		if refused := a.Get("error"); refused != "" {
			return nil, fmt.Errorf("the authorization server answered %s%s", word(refused), colon(text(a.Get("error_description"), 200)))
		}
		if a.Get("code") == "" {
			return nil, errors.New("the authorization server gave no code")
		}
		return &auth.AuthorizationResult{Code: a.Get("code"), State: a.Get("state"), Iss: a.Get("iss")}, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
