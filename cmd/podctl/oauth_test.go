package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync/atomic"

	"github.com/rogpeppe/go-internal/testscript"
)

// oauthKey finds the server of a script.
type oauthKey struct{}

// protected is an MCP server for scripts that wants a sign-in. Its tools are those of tickets.
type protected struct {
	*httptest.Server
	// made counts tokens; the last one counts, unless it is revoked. denies refuses people.
	made            atomic.Int64
	revoked, denies atomic.Bool
	// withdrawn has the tokens that a client gave back.
	withdrawn chan string
	// held, if set, gets a request for a renewal, which is never answered.
	held atomic.Pointer[chan struct{}]
}

func newProtected() *protected {
	p := &protected{withdrawn: make(chan string, 8)}
	answer := func(w http.ResponseWriter, v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Arguments map[string]any `json:"arguments"`
			} `json:"params"`
		}
		switch {
		case p.revoked.Load() || r.Header.Get("Authorization") != fmt.Sprintf("Bearer access-secret-%d", p.made.Load()):
			w.Header().Set("WWW-Authenticate", "Bearer")
			w.WriteHeader(http.StatusUnauthorized)
		case r.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case json.NewDecoder(r.Body).Decode(&m) != nil || m.ID == nil:
			w.WriteHeader(http.StatusAccepted)
		default:
			answer(w, map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": mcpAnswer(m.Method, m.Params.Arguments)})
		}
	})
	mux.HandleFunc("/.well-known/oauth-protected-resource/mcp", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"resource": p.URL + "/mcp", "authorization_servers": []string{p.URL}})
	})
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{
			"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token", "registration_endpoint": p.URL + "/register",
			"revocation_endpoint":      p.URL + "/revoke",
			"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
		})
	})
	mux.HandleFunc("POST /register", func(w http.ResponseWriter, r *http.Request) {
		var asked map[string]any
		_ = json.NewDecoder(r.Body).Decode(&asked)
		asked["client_id"] = "registered"
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(asked)
	})
	mux.HandleFunc("GET /authorize", func(w http.ResponseWriter, r *http.Request) {
		back := r.URL.Query().Get("redirect_uri") + "?state=" + url.QueryEscape(r.URL.Query().Get("state"))
		if p.denies.Load() {
			back += "&error=access_denied"
		} else {
			back += "&code=the-code"
		}
		http.Redirect(w, r, back, http.StatusFound)
	})
	mux.HandleFunc("POST /revoke", func(_ http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		p.withdrawn <- r.PostForm.Get("token")
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		grant := r.PostForm.Get("grant_type")
		if held := p.held.Swap(nil); held != nil && grant != "authorization_code" {
			close(*held)
			<-r.Context().Done()
			return
		}
		if _, secret, _ := r.BasicAuth(); grant == "client_credentials" && secret != "account-secret" {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"error": "invalid_client"}`)
			return
		}
		if grant == "refresh_token" && p.revoked.Load() {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error": "invalid_grant"}`)
			return
		}
		p.revoked.Store(false)
		n := p.made.Add(1)
		answer(w, map[string]any{"access_token": fmt.Sprintf("access-secret-%d", n), "token_type": "Bearer", "refresh_token": fmt.Sprintf("refresh-secret-%d", n)})
	})
	p.Server = httptest.NewServer(mux)
	return p
}

// scriptOAuth starts an MCP server that wants a sign-in and writes a configuration with it, with further lines for the server,
// or changes the server of the script.
func scriptOAuth(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) >= 2 && args[0] == "start" {
		p := newProtected()
		ts.Defer(p.Close)
		*ts.Value(oauthKey{}).(**protected) = p
		ts.Check(os.WriteFile(ts.MkAbs(args[1]), fmt.Appendf(nil, "[mcp.servers.tickets]\nurl = %q\n%s\n[[rule]]\ntool = \"mcp__tickets__*\"\ndecision = \"allow\"\n", p.URL+"/mcp", strings.Join(args[2:], "\n")), 0o600))
		return
	}
	p := *ts.Value(oauthKey{}).(**protected)
	switch {
	case len(args) == 1 && args[0] == "revoke":
		p.revoked.Store(true)
	case len(args) == 1 && args[0] == "rotate":
		p.made.Add(1)
	case len(args) == 1 && args[0] == "hold":
		held := make(chan struct{})
		p.held.Store(&held)
		*ts.Value(heldKey{}).(*chan struct{}) = held
	case len(args) == 1 && args[0] == "held":
		<-*ts.Value(heldKey{}).(*chan struct{})
	case len(args) == 2 && args[0] == "withdrawn":
		if token := <-p.withdrawn; !strings.HasPrefix(token, args[1]) {
			ts.Fatalf("%s was revoked, want %s", token, args[1])
		}
	case len(args) == 2 && args[0] == "deny":
		p.denies.Store(args[1] == "on")
	default:
		ts.Fatalf("usage: oauth start FILE [LINE...]|revoke|rotate|hold|held|withdrawn TOKEN|deny on|deny off")
	}
}

// heldKey finds the renewal that the server of the script does not answer.
type heldKey struct{}

// browserProgram is a browser for scripts: it follows an address to its end. Without one it reads
// what podctl prints and gives back the address where the sign-in ends, as a person pastes it.
func browserProgram() {
	if len(os.Args) < 2 {
		pasteProgram()
		return
	}
	resp, err := http.Get(os.Args[1])
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	fmt.Printf("%s", text)
}

func pasteProgram() {
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		fmt.Fprintln(os.Stderr, lines.Text())
		if !strings.HasPrefix(lines.Text(), "http") {
			continue
		}
		resp, err := client.Get(lines.Text())
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		_ = resp.Body.Close()
		fmt.Println(resp.Header.Get("Location"))
	}
}
