package mcp_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"podd/internal/extend/mcp"
)

// guarded is an MCP server behind OAuth, and its authorization server: discovery, registration,
// authorization codes with PKCE, and tokens for renewal that count once.
type guarded struct {
	t      *testing.T
	server *httptest.Server

	mu sync.Mutex
	// codes have the challenge of each code, clients the secrets of clients.
	codes   map[string]url.Values
	clients map[string]string
	// access and refresh are the tokens that count; made counts them.
	access, refresh string
	made            int
	// renewals counts requests for renewal, calls those of tools.
	renewals, calls atomic.Int64
	// expires is the life of a token in seconds; 0 is unknown.
	expires int
	// answer, if set, answers a request for a token in the server's place.
	answer func(w http.ResponseWriter, form url.Values) bool
	// denies answers the browser with an error.
	denies bool
	// revocation is the address at which tokens are revoked; empty for none. revoked has what was
	// asked there, refusesRevocation is the status of the answer.
	revocation        string
	revoked           []url.Values
	refusesRevocation int
	// noRegistration leaves out the registration of clients.
	noRegistration bool
	// methods are how clients may prove who they are.
	methods []string
	// proves, if set, says whether a program gets a token; asked has its requests.
	proves func(form url.Values) bool
	asked  []url.Values
	// scope is what the server wants of a token, issuer the authorization server that it names; empty for this one.
	scope, issuer string
}

func newGuarded(t *testing.T) *guarded {
	t.Helper()
	g := &guarded{
		t: t, codes: map[string]url.Values{}, clients: map[string]string{}, expires: 3600, methods: []string{"none", "client_secret_post"}, scope: "tickets",
	}
	inner := sdk.NewServer(&sdk.Implementation{Name: "tickets", Version: "1"}, nil)
	sdk.AddTool(inner, &sdk.Tool{Name: "find", Description: "Finds a ticket."}, func(_ context.Context, _ *sdk.CallToolRequest, _ empty) (*sdk.CallToolResult, any, error) {
		g.calls.Add(1)
		return said("ticket 7"), nil, nil
	})
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return inner }, nil)
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		ok, scope := g.access != "" && r.Header.Get("Authorization") == "Bearer "+g.access, g.scope
		g.mu.Unlock()
		if !ok {
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer resource_metadata="%s/.well-known/oauth-protected-resource/mcp", scope=%q`, g.server.URL, scope))
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	})
	mux.HandleFunc("/.well-known/oauth-protected-resource/mcp", func(w http.ResponseWriter, _ *http.Request) {
		g.json(w, map[string]any{"resource": g.server.URL + "/mcp", "authorization_servers": []string{cmp.Or(g.issuer, g.server.URL)}, "scopes_supported": []string{"tickets"}})
	})
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		m := map[string]any{
			"issuer": g.server.URL, "authorization_endpoint": g.server.URL + "/authorize", "token_endpoint": g.server.URL + "/token",
			"response_types_supported": []string{"code"}, "grant_types_supported": []string{"authorization_code", "refresh_token"},
			"code_challenge_methods_supported": []string{"S256"}, "scopes_supported": []string{"tickets", "offline_access"},
			"token_endpoint_auth_methods_supported": g.methods,
		}
		if g.revocation != "" {
			m["revocation_endpoint"] = g.revocation
		}
		if !g.noRegistration {
			m["registration_endpoint"] = g.server.URL + "/register"
		}
		g.json(w, m)
	})
	mux.HandleFunc("POST /register", func(w http.ResponseWriter, r *http.Request) {
		var asked map[string]any
		_ = json.NewDecoder(r.Body).Decode(&asked)
		asked["client_id"] = "registered"
		g.mu.Lock()
		g.clients["registered"] = ""
		g.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(asked)
	})
	mux.HandleFunc("GET /authorize", g.authorize)
	mux.HandleFunc("POST /token", g.token)
	mux.HandleFunc("POST /revoke", func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		g.with(func() { g.revoked = append(g.revoked, r.PostForm) })
		if g.refusesRevocation == http.StatusTemporaryRedirect {
			w.Header().Set("Location", "/elsewhere")
		}
		if g.refusesRevocation != 0 {
			w.WriteHeader(g.refusesRevocation)
		}
	})
	mux.HandleFunc("/elsewhere", func(http.ResponseWriter, *http.Request) { t.Error("a token was sent elsewhere") })
	g.server = httptest.NewServer(mux)
	t.Cleanup(func() {
		for session := range inner.Sessions() {
			_ = session.Close()
		}
		g.server.Close()
	})
	return g
}

func (g *guarded) json(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// authorize sends the browser back, as if a person had agreed.
func (g *guarded) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	g.mu.Lock()
	defer g.mu.Unlock()
	_, known := g.clients[q.Get("client_id")]
	if !known || q.Get("code_challenge_method") != "S256" || q.Get("response_type") != "code" || q.Get("resource") != g.server.URL+"/mcp" || !strings.Contains(q.Get("scope"), "offline_access") {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	back, _ := url.Parse(q.Get("redirect_uri"))
	answer := url.Values{"state": {q.Get("state")}}
	if g.denies {
		answer.Set("error", "access_denied")
		answer.Set("error_description", "ada said no")
	} else {
		code := fmt.Sprint("code-", len(g.codes))
		g.codes[code] = q
		answer.Set("code", code)
	}
	back.RawQuery = answer.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

// token gives tokens for a code, or for a token for renewal.
func (g *guarded) token(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	g.mu.Lock()
	defer g.mu.Unlock()
	refuse := func(code string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]string{"error": code})
	}
	if id, secret, ok := r.BasicAuth(); ok {
		r.PostForm.Set("client_id", id)
		r.PostForm.Set("basic_secret", secret)
	}
	if g.proves != nil {
		g.asked = append(g.asked, r.PostForm)
	}
	if g.answer != nil && g.answer(w, r.PostForm) {
		return
	}
	if g.proves != nil {
		if !g.proves(r.PostForm) {
			refuse("invalid_client")
			return
		}
		g.give(w, false)
		return
	}
	secret, known := g.clients[r.PostForm.Get("client_id")]
	switch {
	case !known || secret != r.PostForm.Get("client_secret"):
		refuse("invalid_client")
		return
	case r.PostForm.Get("resource") != g.server.URL+"/mcp":
		refuse("invalid_target")
		return
	case r.PostForm.Get("grant_type") == "refresh_token":
		g.renewals.Add(1)
		if g.refresh == "" || r.PostForm.Get("refresh_token") != g.refresh {
			g.refresh = ""
			refuse("invalid_grant")
			return
		}
	default:
		asked, ok := g.codes[r.PostForm.Get("code")]
		sum := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
		if !ok || asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) || asked.Get("redirect_uri") != r.PostForm.Get("redirect_uri") {
			refuse("invalid_grant")
			return
		}
		delete(g.codes, r.PostForm.Get("code"))
	}
	g.give(w, true)
}

// give gives a token. g.mu is held.
func (g *guarded) give(w http.ResponseWriter, renewable bool) {
	g.made++
	g.access, g.refresh = fmt.Sprintf("access-token-%d", g.made), fmt.Sprintf("refresh-token-%d", g.made)
	answer := map[string]any{"access_token": g.access, "token_type": "Bearer"}
	if renewable {
		answer["refresh_token"] = g.refresh
	}
	if g.expires > 0 {
		answer["expires_in"] = g.expires
	}
	g.json(w, answer)
}

// with changes the server.
func (g *guarded) with(change func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change()
}

// browse opens an address as a browser does, and gives what it shows at the end.
func (g *guarded) browse(address string) string {
	resp, err := g.server.Client().Get(address)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	return string(text)
}

// atGuarded is a bench whose server is behind OAuth.
func atGuarded(t *testing.T, g *guarded, adjust ...func(*mcp.Config)) (*bench, string) {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir()}
	b.server = mcp.NewServer("tickets", "config.toml:1")
	b.server.URL = g.server.URL + "/mcp"
	state := t.TempDir()
	b.open(state, adjust...)
	return b, state
}

// login signs in with a browser.
func (b *bench) login(g *guarded) error {
	_, err := b.Login(b.t.Context(), b.server, b.dir, 0, func(address string) error {
		go g.browse(address)
		return nil
	})
	return err
}
