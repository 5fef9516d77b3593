package mcp_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"podd/internal/extend/mcp"
	"podd/pkg/item"
	"podd/pkg/tool"
)

// findTicket calls the one tool of a guarded server.
func (b *bench) findTicket() (string, error) {
	b.t.Helper()
	for _, t := range b.Tools(b.t.Context(), []mcp.Server{b.server}, b.dir, true) {
		out, err := t.Run(b.t.Context(), &tool.Invocation{Arguments: "{}"})
		return out.Text(), err
	}
	return "", errors.New("no tools")
}

func (b *bench) works() {
	b.t.Helper()
	if text, err := b.findTicket(); err != nil || text != "ticket 7" {
		b.t.Fatalf("%q, %v; alerts %q", text, err, b.told())
	}
}

// A server that wants a sign-in says so once, with the command. After that podd works, and goes on
// after a restart.
func TestLogin(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	var logged bytes.Buffer
	b, state := atGuarded(t, g, func(c *mcp.Config) {
		c.Logger = slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	for range 3 {
		if _, err := b.findTicket(); err == nil {
			t.Fatal("it works without a sign-in")
		}
	}
	look := b.Look(b.server, b.dir)
	if look.SignIn != mcp.SignInNeeded || look.State != mcp.Failed || look.Error != "needs you to sign in: run podctl mcp login tickets" {
		t.Errorf("%+v", look)
	}
	if err := b.login(g); err != nil {
		t.Fatal(err)
	}
	b.works()
	if look := b.Look(b.server, b.dir); look.SignIn != mcp.SignedIn || look.State != mcp.Running {
		t.Errorf("%+v", look)
	}
	b.Close()
	if told := b.told(); len(told) != 1 || told[0] != "the MCP server tickets needs you to sign in: run podctl mcp login tickets; its calls fail until then" {
		t.Errorf("alerts %q", told)
	}
	b.open(state)
	b.works()
	info, err := os.Stat(filepath.Join(state, "mcp-tokens.json"))
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	for _, secret := range []string{"access-token-1", "refresh-token-1"} {
		if !slices.Contains(b.secrets, secret) {
			t.Errorf("%s is not hidden", secret)
		}
		if strings.Contains(logged.String()+strings.Join(b.told(), " "), secret) {
			t.Errorf("%s is shown", secret)
		}
	}
}

// A file that others may read is closed to them.
func TestTokensArePrivate(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	b, state := atGuarded(t, g)
	if err := b.login(g); err != nil {
		t.Fatal(err)
	}
	b.Close()
	path := filepath.Join(state, "mcp-tokens.json")
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	b.open(state)
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	b.Close()
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := mcp.New(t.Context(), mcp.Config{StateDir: state})
	if item.ReasonOf(err) != "MCP_TOKENS" || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "access-token") {
		t.Errorf("%v", err)
	}
}

// An old token is renewed, once for all calls.
func TestTokenIsRenewed(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	var now sync.Mutex
	at := time.Now()
	b, state := atGuarded(t, g, func(c *mcp.Config) {
		c.Now = func() time.Time { now.Lock(); defer now.Unlock(); return at }
	})
	if err := b.login(g); err != nil {
		t.Fatal(err)
	}
	b.works()
	now.Lock()
	at = at.Add(2 * time.Hour)
	now.Unlock()
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() { b.works() })
	}
	calls.Wait()
	text, err := os.ReadFile(filepath.Join(state, "mcp-tokens.json"))
	if err != nil || !strings.Contains(string(text), "refresh-token-2") || g.renewals.Load() != 1 {
		t.Errorf("%d renewals, %v", g.renewals.Load(), err)
	}
	b.Close()
	if len(b.told()) > 0 {
		t.Errorf("alerts %q", b.told())
	}
}

// A token that the server no longer takes is renewed too; the call runs once.
func TestRefusedTokenIsRenewed(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.expires = 0
	b, _ := atGuarded(t, g)
	if err := b.login(g); err != nil {
		t.Fatal(err)
	}
	b.works()
	g.with(func() { g.access = "gone" })
	b.works()
	if g.calls.Load() != 2 || g.renewals.Load() != 1 {
		t.Errorf("%d calls, %d renewals", g.calls.Load(), g.renewals.Load())
	}
}

// When the token for renewal is void, too, one alert names the command, the call says that nothing
// happened, and a new sign-in fixes it.
func TestRevokedSignIn(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	b, state := atGuarded(t, g)
	if err := b.login(g); err != nil {
		t.Fatal(err)
	}
	b.works()
	g.with(func() { g.access, g.refresh = "", "" })
	for range 3 {
		_, err := b.findTicket()
		if err == nil || !strings.Contains(err.Error(), "the MCP server tickets needs you to sign in: run podctl mcp login tickets") || strings.Contains(err.Error(), "taken effect") {
			t.Errorf("%v", err)
		}
	}
	if g.renewals.Load() != 1 {
		t.Errorf("%d renewals", g.renewals.Load())
	}
	b.Close()
	b.open(state)
	_, _ = b.findTicket()
	if err := b.login(g); err != nil {
		t.Fatal(err)
	}
	b.works()
	b.Close()
	if told := b.told(); len(told) != 1 || !strings.Contains(told[0], "podctl mcp login tickets") {
		t.Errorf("alerts %q", told)
	}
}

// An authorization server that fails for a while costs the call, not the sign-in.
func TestRenewalFailsForAWhile(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	b, _ := atGuarded(t, g)
	if err := b.login(g); err != nil {
		t.Fatal(err)
	}
	b.works()
	g.with(func() {
		g.access = "gone"
		g.answer = func(w http.ResponseWriter, _ url.Values) bool {
			http.Error(w, "secret details access-token-1", http.StatusBadGateway)
			return true
		}
	})
	_, err := b.findTicket()
	if err == nil || !strings.Contains(err.Error(), "cannot renew its sign-in: the authorization server answered with HTTP status 502") || strings.Contains(err.Error(), "secret details") {
		t.Errorf("%v", err)
	}
	g.with(func() { g.answer = nil })
	b.works()
	if look := b.Look(b.server, b.dir); look.SignIn != mcp.SignedIn {
		t.Errorf("%+v", look)
	}
}

// podd that is killed while it renews a token has the old token or the new one, never half of it:
// what the server answered is stored before a request carries it.
func TestKilledWhileRenewing(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	b, state := atGuarded(t, g)
	if err := b.login(g); err != nil {
		t.Fatal(err)
	}
	b.works()
	path := filepath.Join(state, "mcp-tokens.json")
	var seen []string
	g.with(func() { g.access = "gone" })
	// Each request that carries the new token finds it on disk.
	inner := g.server.Config.Handler
	g.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if carried := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "); carried == "access-token-2" {
			text, _ := os.ReadFile(path)
			g.with(func() { seen = append(seen, string(text)) })
		}
		inner.ServeHTTP(w, r)
	})
	b.works()
	if len(seen) == 0 || slices.ContainsFunc(seen, func(text string) bool {
		return !strings.Contains(text, "access-token-2") || !strings.Contains(text, "refresh-token-2")
	}) {
		t.Errorf("on disk: %q", seen)
	}
	// The kill: another podd goes on with what is on disk.
	kill := t.TempDir()
	if err := os.WriteFile(filepath.Join(kill, "mcp-tokens.json"), []byte(seen[0]), 0o600); err != nil {
		t.Fatal(err)
	}
	b.Close()
	b.open(kill)
	b.works()
}

// A person who says no, another page that sends a browser, and a wrong address change nothing.
func TestLoginRefused(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	b, state := atGuarded(t, g)
	g.denies = true
	if err := b.login(g); err == nil || err.Error() != "the MCP server tickets is not signed in: the authorization server answered access_denied: ada said no" {
		t.Errorf("%v", err)
	}
	g.denies = false
	if _, err := os.Stat(filepath.Join(state, "mcp-tokens.json")); !errors.Is(err, fs.ErrNotExist) {
		text, _ := os.ReadFile(filepath.Join(state, "mcp-tokens.json"))
		if strings.Contains(string(text), "token-") {
			t.Errorf("stored %s", text)
		}
	}
	pages := make(chan string, 2)
	_, err := b.Login(t.Context(), b.server, b.dir, 0, func(address string) error {
		u, _ := url.Parse(address)
		back := u.Query().Get("redirect_uri")
		pages <- g.browse(back + "?code=code-0&state=guessed")
		if err := b.Answer(back + "?code=code-0&state=guessed"); item.ReasonOf(err) != "MCP_LOGIN" || !strings.Contains(err.Error(), "belongs to no open sign-in") {
			t.Errorf("%v", err)
		}
		if err := b.Answer("code-0"); item.ReasonOf(err) != "MCP_LOGIN" || !strings.Contains(err.Error(), "paste the whole address") {
			t.Errorf("%v", err)
		}
		go func() { pages <- g.browse(address) }()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if page := <-pages; !strings.Contains(page, "podd does not wait for this sign-in") {
		t.Errorf("page %q", page)
	}
	if page := <-pages; !strings.Contains(page, "podd has the answer") {
		t.Errorf("page %q", page)
	}
}

// Without a browser on this machine a person pastes the address where theirs ended.
func TestLoginByPasting(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	b, _ := atGuarded(t, g)
	_, err := b.Login(t.Context(), b.server, b.dir, 0, func(address string) error {
		client := *g.server.Client()
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		resp, err := client.Get(address)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		return b.Answer(resp.Header.Get("Location"))
	})
	if err != nil {
		t.Fatal(err)
	}
	b.works()
}

// A client that the configuration names does not register, and keeps its secret.
func TestConfiguredClient(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.noRegistration = true
	g.clients["podd-at-tickets"] = "client-secret"
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("client-secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b, _ := atGuarded(t, g, func(c *mcp.Config) { c.SecretFiles = []string{file} })
	if err := b.login(g); err == nil || !strings.Contains(err.Error(), "set client_id") {
		t.Errorf("%v", err)
	}
	b.server.ClientID, b.server.ClientSecretFile = "podd-at-tickets", file
	if err := b.login(g); err != nil {
		t.Fatal(err)
	}
	b.works()
	g.with(func() { g.access = "gone" })
	b.works()
	if !slices.Contains(b.secrets, "client-secret") {
		t.Error("the secret is not hidden")
	}
}

func TestLogout(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	b, state := atGuarded(t, g)
	if err := b.login(g); err != nil {
		t.Fatal(err)
	}
	b.works()
	for _, want := range []bool{true, false} {
		if was, _, err := b.Logout(t.Context(), b.server, b.dir); was != want || err != nil {
			t.Errorf("%v, %v, want %v", was, err, want)
		}
	}
	if text, err := os.ReadFile(filepath.Join(state, "mcp-tokens.json")); err != nil || strings.Contains(string(text), "token") {
		t.Errorf("%s, %v", text, err)
	}
	if _, err := b.findTicket(); err == nil {
		t.Error("it works without a sign-in")
	}
}

// A logout revokes both tokens where the authorization server names an address for that. If it
// fails, one sentence says so, and podd has no tokens any more either way.
func TestLogoutRevokes(t *testing.T) {
	t.Parallel()
	away := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a token was sent to another host") }))
	defer away.Close()
	for name, c := range map[string]struct {
		adjust  func(*guarded)
		revoked int
		warning string
	}{
		"revoked":        {func(g *guarded) { g.revocation = g.server.URL + "/revoke" }, 2, ""},
		"no address":     {func(*guarded) {}, 0, "its authorization server names no address for that"},
		"another host's": {func(g *guarded) { g.revocation = away.URL + "/revoke" }, 0, "its authorization server names no address for that"},
		"it fails": {func(g *guarded) { g.revocation, g.refusesRevocation = g.server.URL+"/revoke", 503 }, 1,
			"its authorization server answered with HTTP status 503 Service Unavailable"},
		"it redirects": {func(g *guarded) { g.revocation, g.refusesRevocation = g.server.URL+"/revoke", 307 }, 1,
			"its authorization server answered with HTTP status 307 Temporary Redirect"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGuarded(t)
			b, state := atGuarded(t, g)
			if err := b.login(g); err != nil {
				t.Fatal(err)
			}
			b.works()
			g.with(func() { c.adjust(g) })
			was, warning, err := b.Logout(t.Context(), b.server, b.dir)
			want := ""
			if c.warning != "" {
				want = "podd cannot revoke the tokens of the MCP server tickets: " + c.warning + "; end the sign-in at the server, too"
			}
			if !was || err != nil || warning != want {
				t.Errorf("%v, %q, %v, want %q", was, warning, err, want)
			}
			if len(g.revoked) != c.revoked {
				t.Fatalf("asked to revoke %v", g.revoked)
			}
			if c.revoked > 0 && (g.revoked[0].Get("token") != "refresh-token-1" || g.revoked[0].Get("token_type_hint") != "refresh_token" || g.revoked[0].Get("client_id") != "registered") {
				t.Errorf("revoked %v", g.revoked[0])
			}
			if c.revoked > 1 && g.revoked[1].Get("token") != "access-token-1" {
				t.Errorf("revoked %v", g.revoked[1])
			}
			if text, err := os.ReadFile(filepath.Join(state, "mcp-tokens.json")); err != nil || strings.Contains(string(text), "token") {
				t.Errorf("%s, %v", text, err)
			}
		})
	}
}

// A logout during a renewal ends the sign-in: the token that the renewal brings is not kept.
func TestLogoutDuringARenewal(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	b, state := atGuarded(t, g)
	if err := b.login(g); err != nil {
		t.Fatal(err)
	}
	b.works()
	asked, answer := make(chan struct{}), make(chan struct{})
	g.with(func() {
		g.access = "gone"
		g.answer = func(w http.ResponseWriter, _ url.Values) bool {
			close(asked)
			<-answer
			g.json(w, map[string]any{"access_token": "late-token", "token_type": "Bearer", "refresh_token": "late-token-too"})
			return true
		}
	})
	var both sync.WaitGroup
	both.Go(func() { _, _ = b.findTicket() })
	<-asked
	both.Go(func() {
		if was, _, err := b.Logout(t.Context(), b.server, b.dir); !was || err != nil {
			t.Errorf("%v, %v", was, err)
		}
	})
	close(answer)
	both.Wait()
	if text, err := os.ReadFile(filepath.Join(state, "mcp-tokens.json")); err != nil || strings.Contains(string(text), "late-token") {
		t.Errorf("%s, %v", text, err)
	}
}

// What has no sign-in says so.
func TestLoginOfOthers(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	b, _ := atGuarded(t, g)
	show := func(string) error { return nil }
	for want, s := range map[string]mcp.Server{
		"is a command: only a server with a url has a sign-in": serverOf("plain"),
		"gets its key from the configuration":                  {Name: "keyed", URL: b.server.URL, Headers: map[string]string{"Authorization": "Bearer x"}, StartTimeout: time.Second},
	} {
		_, err := b.Login(t.Context(), s, b.dir, 0, show)
		if item.ReasonOf(err) != "MCP_LOGIN" || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := b.Login(ctx, b.server, b.dir, 0, func(string) error { cancel(errors.New("was not signed in: the client went away")); return nil })
	if err == nil || !strings.Contains(err.Error(), "the client went away") {
		t.Errorf("%v", err)
	}
}
