package mcp_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"testing"

	"podd/internal/extend/mcp"
)

// wrap puts a handler before that of the server.
func (g *guarded) wrap(before func(w http.ResponseWriter, r *http.Request, inner http.Handler)) {
	inner := g.server.Config.Handler
	g.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { before(w, r, inner) })
}

// callOf is the number of the call of a tool in a request; empty for another request.
func callOf(r *http.Request) string {
	text, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(text))
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if json.Unmarshal(text, &m) != nil || m.Method != "tools/call" {
		return ""
	}
	return string(m.ID)
}

// forbid refuses a call for a right that it lacks; empty names none.
func forbid(w http.ResponseWriter, right string) {
	challenge := `Bearer error="insufficient_scope"`
	if right != "" {
		challenge += fmt.Sprintf(", scope=%q", right)
	}
	w.Header().Set("WWW-Authenticate", challenge)
	http.Error(w, "too few rights", http.StatusForbidden)
}

// rights are those that podd asked for with the token of a request. g.mu is held.
func (g *guarded) rights(r *http.Request) []string {
	var token int
	_, _ = fmt.Sscanf(r.Header.Get("Authorization"), "Bearer access-token-%d", &token)
	return strings.Fields(g.asked[token-1].Get("scope"))
}

// Calls at once that lack rights get them, whether they wait for the token of another call or come after it.
func TestAccountAsksForRightsOfCallsAtOnce(t *testing.T) {
	t.Parallel()
	for second, want := range map[string]string{"read": "tickets read", "": "tickets read", "write": "tickets read write"} {
		for _, later := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s %t", second, later), func(t *testing.T) { atOnce(t, second, want, later) })
		}
	}
}

// atOnce has a call that lacks the right read, and a second one that is refused while podd asks for a token for the first, or later.
func atOnce(t *testing.T, second, want string, later bool) {
	b, g := accounted(t)
	b.works()
	asked, give, came, refuse := make(chan struct{}, 2), make(chan struct{}), make(chan struct{}), make(chan struct{})
	lacks := map[string]string{} // The right that each call lacks.
	g.wrap(func(w http.ResponseWriter, r *http.Request, inner http.Handler) {
		if r.URL.Path == "/token" {
			asked <- struct{}{}
			<-give
		}
		if id := callOf(r); id != "" {
			g.mu.Lock()
			right, again := lacks[id]
			if !again {
				right = []string{"read", second}[len(lacks)]
				lacks[id] = right
			}
			has := slices.Contains(g.rights(r), cmp.Or(right, "read"))
			r.Header.Set("Authorization", "Bearer "+g.access)
			hold := !again && len(lacks) == 2
			g.mu.Unlock()
			if hold {
				close(came)
				<-refuse
			}
			if !has {
				forbid(w, right)
				return
			}
		}
		inner.ServeHTTP(w, r)
	})
	call := func() <-chan struct{} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			if text, err := b.findTicket(); text != "ticket 7" {
				t.Errorf("%q, %v", text, err)
			}
		}()
		return done
	}
	one := call()
	<-asked
	other := call()
	<-came
	if later {
		close(give)
		<-one
		close(refuse)
	} else {
		close(refuse)
		close(give)
	}
	<-one
	<-other
	if got := g.asked[len(g.asked)-1].Get("scope"); got != want || len(g.asked) != len(strings.Fields(want)) {
		t.Errorf("asked for %q at last, %d times", got, len(g.asked))
	}
}

// Rights that podd does not get cost the call alone. The next token is without them, and another call asks for them again.
func TestAccountDoesNotGetRights(t *testing.T) {
	t.Parallel()
	b, g := accounted(t)
	g.scope = "" // Its metadata alone names the first rights.
	b.works()
	forbids := true
	g.wrap(func(w http.ResponseWriter, r *http.Request, inner http.Handler) {
		id := callOf(r)
		g.mu.Lock()
		forbidden := id != "" && forbids && !slices.Contains(g.rights(r), "root")
		g.mu.Unlock()
		if forbidden {
			forbid(w, "root")
			return
		}
		inner.ServeHTTP(w, r)
	})
	g.with(func() {
		g.answer = func(w http.ResponseWriter, form url.Values) bool {
			refused := form.Get("scope") == "tickets root"
			if refused {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusBadRequest)
				_, _ = w.Write([]byte(`{"error": "invalid_scope"}`))
			}
			return refused
		}
	})
	if _, err := b.findTicket(); err == nil || !strings.Contains(err.Error(), "answered invalid_scope; give podd's account the rights there") {
		t.Errorf("%v", err)
	}
	if look := b.Look(b.server, b.dir); look.State != mcp.Running || len(b.told()) != 0 {
		t.Errorf("%+v, alerts %q", look, b.told())
	}
	g.with(func() { forbids, g.access, g.made = false, "gone", len(g.asked) })
	b.works()
	if got := g.asked[len(g.asked)-1].Get("scope"); got != "tickets" {
		t.Errorf("asked for %q", got)
	}
	g.with(func() { forbids, g.answer = true, nil })
	b.works()
	if got := g.asked[len(g.asked)-1].Get("scope"); got != "tickets root" {
		t.Errorf("asked for %q", got)
	}
}

// With an issuer, the server redirects podd to no other place.
func TestAccountIsNotRedirected(t *testing.T) {
	t.Parallel()
	b, g := accounted(t)
	b.server.Issuer = g.server.URL
	g.wrap(func(w http.ResponseWriter, r *http.Request, inner http.Handler) {
		if strings.HasPrefix(r.URL.Path, "/.well-known/oauth-protected-resource") {
			http.Redirect(w, r, "http://203.0.113.1/", http.StatusFound)
			return
		}
		inner.ServeHTTP(w, r)
	})
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GetConn: func(address string) {
		if address != g.server.Listener.Addr().String() {
			t.Errorf("podd asks %s", address)
		}
	}})
	m, err := mcp.New(ctx, mcp.Config{StateDir: t.TempDir(), SecretFiles: []string{b.server.ClientSecretFile}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	b.Manager = m
	b.works()
}
