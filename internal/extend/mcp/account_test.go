package mcp_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	_ "crypto/sha512"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io/fs"
	"log/slog"
	"math/big"
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
)

// accounted is a bench whose podd signs in by itself with a secret.
func accounted(t *testing.T, adjust ...func(*mcp.Config)) (*bench, *guarded) {
	t.Helper()
	g := newGuarded(t)
	g.methods = []string{"client_secret_basic"}
	g.proves = func(form url.Values) bool { return form.Get("basic_secret") == "client-secret" }
	file := written(t, "client-secret\n", 0o600)
	b, _ := atGuarded(t, g, append(adjust, func(c *mcp.Config) { c.SecretFiles = append(c.SecretFiles, file) })...)
	b.server.Grant, b.server.ClientID, b.server.ClientSecretFile = mcp.GrantClient, "nightly", file
	return b, g
}

// written is a new file.
func written(t *testing.T, text string, mode fs.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// podd with a machine account signs in without a person. Its tokens are nowhere to be seen, and in no file.
func TestAccount(t *testing.T) {
	t.Parallel()
	var logged bytes.Buffer
	b, g := accounted(t, func(c *mcp.Config) {
		c.Logger = slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	b.works()
	want := url.Values{"grant_type": {"client_credentials"}, "resource": {g.server.URL + "/mcp"}, "scope": {"tickets"}, "client_id": {"nightly"}, "basic_secret": {"client-secret"}}
	if len(g.asked) != 1 || g.asked[0].Encode() != want.Encode() {
		t.Errorf("asked %v, want %v", g.asked, want)
	}
	if look := b.Look(b.server, b.dir); look.SignIn != mcp.SignsIn || look.State != mcp.Running {
		t.Errorf("%+v", look)
	}
	if _, err := os.Stat(filepath.Join(b.StateDir, "mcp-tokens.json")); err == nil {
		t.Error("its token is stored")
	}
	if err := b.login(g); err == nil || !strings.Contains(err.Error(), `signs in by itself (grant = "client_credentials")`) {
		t.Errorf("%v", err)
	}
	if _, _, err := b.Logout(t.Context(), b.server, b.dir); err == nil || !strings.Contains(err.Error(), "signs in by itself") {
		t.Errorf("%v", err)
	}
	b.Close()
	for _, secret := range []string{"access-token-1", "client-secret"} {
		if !slices.Contains(b.secrets, secret) {
			t.Errorf("%s is not hidden", secret)
		}
		if strings.Contains(logged.String()+strings.Join(b.told(), " "), secret) {
			t.Errorf("%s is shown", secret)
		}
	}
}

// Where the authorization server wants the secret in the request, it is there.
func TestAccountOfSecretPost(t *testing.T) {
	t.Parallel()
	b, g := accounted(t)
	g.methods = []string{"client_secret_post"}
	g.proves = func(form url.Values) bool { return form.Get("client_secret") == "client-secret" }
	b.works()
}

// Each kind of key proves who podd is, in each form that programs write.
func TestAccountOfKey(t *testing.T) {
	t.Parallel()
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	_, edKey, _ := ed25519.GenerateKey(rand.Reader)
	curve := func(c elliptic.Curve) *ecdsa.PrivateKey {
		k, err := ecdsa.GenerateKey(c, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	ecKey := curve(elliptic.P256())
	sec1, _ := x509.MarshalECPrivateKey(ecKey)
	block := func(kind string, text []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: text}))
	}
	pkcs8 := func(key any) string {
		text, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		return block("PRIVATE KEY", text)
	}
	p384, p521 := curve(elliptic.P384()), curve(elliptic.P521())
	for name, c := range map[string]struct {
		key  crypto.Signer
		text string
		alg  string
	}{
		"RSA":         {rsaKey, pkcs8(rsaKey), "RS256"},
		"RSA of old":  {rsaKey, block("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(rsaKey)), "RS256"},
		"P-256":       {ecKey, pkcs8(ecKey), "ES256"},
		"EC of old":   {ecKey, block("EC PARAMETERS", []byte{6}) + block("EC PRIVATE KEY", sec1), "ES256"},
		"P-384":       {p384, pkcs8(p384), "ES384"},
		"P-521":       {p521, pkcs8(p521), "ES512"},
		"Ed25519":     {edKey, pkcs8(edKey), "EdDSA"},
		"behind text": {edKey, "Bag Attributes\n" + pkcs8(edKey), "EdDSA"},
	} {
		t.Run(name, func(t *testing.T) {
			file := written(t, c.text, 0o600)
			g := newGuarded(t)
			var wrong string
			g.proves = func(form url.Values) bool {
				wrong = wrongProof(form, g.server.URL, c.alg, c.key.Public())
				return wrong == ""
			}
			b, _ := atGuarded(t, g, func(c *mcp.Config) { c.SecretFiles = []string{file} })
			b.server.Grant, b.server.ClientID, b.server.PrivateKeyFile = mcp.GrantClient, "nightly", file
			if text, err := b.findTicket(); text != "ticket 7" {
				t.Errorf("%q, %v: %s", text, err, wrong)
			}
			b.Close()
			if !slices.Contains(b.secrets, strings.TrimSpace(c.text)) {
				t.Error("the key is not hidden")
			}
		})
	}
}

// wrongProof says what is wrong with a client's proof by a key.
func wrongProof(form url.Values, issuer, alg string, key crypto.PublicKey) string {
	parts := strings.Split(form.Get("client_assertion"), ".")
	if form.Get("client_assertion_type") != "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" || len(parts) != 3 || form.Get("client_secret") != "" || form.Get("client_id") != "nightly" {
		return "form " + form.Encode()
	}
	var texts [3][]byte
	for i, part := range parts {
		texts[i], _ = base64.RawURLEncoding.DecodeString(part)
	}
	var head struct{ Alg, Typ string }
	var claims struct {
		Iss, Sub, Aud, Jti string
		Iat, Exp           int64
	}
	if json.Unmarshal(texts[0], &head) != nil || head.Alg != alg || head.Typ != "JWT" {
		return "head " + string(texts[0])
	}
	now := time.Now().Unix()
	if json.Unmarshal(texts[1], &claims) != nil || claims.Iss != "nightly" || claims.Sub != "nightly" || claims.Aud != issuer || claims.Jti == "" || claims.Iat > now || claims.Exp <= now {
		return "claims " + string(texts[1])
	}
	text := []byte(parts[0] + "." + parts[1])
	digest := func(h crypto.Hash) []byte { w := h.New(); w.Write(text); return w.Sum(nil) }
	ok := false
	switch k := key.(type) {
	case *rsa.PublicKey:
		sum := sha256.Sum256(text)
		ok = rsa.VerifyPKCS1v15(k, crypto.SHA256, sum[:], texts[2]) == nil
	case ed25519.PublicKey:
		ok = ed25519.Verify(k, text, texts[2])
	case *ecdsa.PublicKey:
		half := (k.Curve.Params().BitSize + 7) / 8
		h := map[string]crypto.Hash{"ES256": crypto.SHA256, "ES384": crypto.SHA384, "ES512": crypto.SHA512}[alg]
		ok = len(texts[2]) == 2*half && ecdsa.Verify(k, digest(h), new(big.Int).SetBytes(texts[2][:half]), new(big.Int).SetBytes(texts[2][half:]))
	}
	if !ok {
		return "signature"
	}
	return ""
}

// The token of a workload is what podd exchanges, or its proof. It is read again for each token, as the platform renews it, and others
// in the container may read it too.
func TestAccountOfWorkload(t *testing.T) {
	t.Parallel()
	for grant, keys := range map[mcp.Grant][2]string{
		mcp.GrantAssertion: {"grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion"},
		mcp.GrantClient:    {"client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer", "client_assertion"},
	} {
		file := written(t, "workload-1", 0o644)
		g := newGuarded(t)
		token := "workload-1"
		name, value, _ := strings.Cut(keys[0], "=")
		g.proves = func(form url.Values) bool { return form.Get(name) == value && form.Get(keys[1]) == token }
		b, _ := atGuarded(t, g, func(c *mcp.Config) { c.SecretFiles = []string{file} })
		b.server.Grant, b.server.AssertionFile = grant, file
		if grant == mcp.GrantClient {
			b.server.ClientID = "nightly"
		}
		b.works()
		g.with(func() { g.access, token = "gone", "workload-2" })
		if err := os.WriteFile(file, []byte("workload-2"), 0o600); err != nil {
			t.Fatal(err)
		}
		b.works()
		b.Close()
		if !slices.Contains(b.secrets, "workload-1") || !slices.Contains(b.secrets, "workload-2") {
			t.Errorf("not hidden: %q", b.secrets)
		}
	}
}

// An old token is renewed, once for all calls, and so is one that the server no longer takes. If it takes no token at all, the call
// says so after one more.
func TestAccountRenews(t *testing.T) {
	t.Parallel()
	var clock sync.Mutex
	at := time.Now()
	b, g := accounted(t, func(c *mcp.Config) {
		c.Now = func() time.Time { clock.Lock(); defer clock.Unlock(); return at }
	})
	together := func() {
		var calls sync.WaitGroup
		for range 8 {
			calls.Go(func() {
				if text, err := b.findTicket(); text != "ticket 7" {
					t.Errorf("%q, %v", text, err)
				}
			})
		}
		calls.Wait()
	}
	b.works()
	clock.Lock()
	at = at.Add(2 * time.Hour)
	clock.Unlock()
	together()
	if len(g.asked) != 2 {
		t.Fatalf("%d tokens for an old one", len(g.asked))
	}
	// The answer comes when all calls have been refused.
	refused, all := make(chan struct{}, 16), make(chan struct{})
	inner := g.server.Config.Handler
	g.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			<-all
		}
		inner.ServeHTTP(w, r)
		if r.URL.Path == "/mcp" && r.Method == http.MethodPost && r.Header.Get("Authorization") == "Bearer access-token-2" {
			refused <- struct{}{}
		}
	})
	g.with(func() { g.access = "gone" })
	go func() {
		for range 8 {
			<-refused
		}
		close(all)
	}()
	together()
	if len(g.asked) != 3 {
		t.Errorf("%d tokens for a refused one", len(g.asked)-2)
	}
	g.with(func() {
		g.answer = func(w http.ResponseWriter, _ url.Values) bool {
			g.json(w, map[string]any{"access_token": "useless", "token_type": "Bearer"})
			return true
		}
		g.access = "gone"
	})
	_, err := b.findTicket()
	if err == nil || !strings.Contains(err.Error(), "the MCP server tickets answered with HTTP status 401 Unauthorized: who are you?") || len(g.asked) != 4 {
		t.Errorf("%v after %d tokens", err, len(g.asked)-3)
	}
}

// A server that wants more rights gets a token with these and those before, once.
func TestAccountAsksForMoreRights(t *testing.T) {
	t.Parallel()
	b, g := accounted(t)
	b.works()
	g.with(func() { g.access, g.scope = "gone", "tickets admin" })
	b.works()
	if got := g.asked[1].Get("scope"); got != "tickets admin" {
		t.Errorf("asked for %q", got)
	}
	inner := g.server.Config.Handler
	g.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/mcp" || r.Method != http.MethodPost {
			inner.ServeHTTP(w, r)
			return
		}
		w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="tickets root"`)
		http.Error(w, "too few rights", http.StatusForbidden)
	})
	_, err := b.findTicket()
	if err == nil || !strings.Contains(err.Error(), "403 Forbidden: too few rights") || len(g.asked) != 3 || g.asked[2].Get("scope") != "tickets admin root" {
		t.Errorf("%v, asked %v", err, g.asked[2:])
	}
	_, err = b.findTicket()
	if err == nil || !strings.Contains(err.Error(), "too few rights; if podd's account has too few rights, grant them at the authorization server") || len(g.asked) != 3 {
		t.Errorf("%v, asked %v", err, g.asked[3:])
	}
}

// What goes wrong is a sentence that says what, where, and what to do.
func TestAccountFails(t *testing.T) {
	t.Parallel()
	answers := func(status int, kind, body string) func(*guarded, *mcp.Server) {
		return func(g *guarded, _ *mcp.Server) {
			g.answer = func(w http.ResponseWriter, _ url.Values) bool {
				w.Header().Set("Content-Type", kind)
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(status)
				_, _ = w.Write([]byte(body))
				return true
			}
		}
	}
	key := func(text string) func(*guarded, *mcp.Server) {
		return func(_ *guarded, s *mcp.Server) {
			s.PrivateKeyFile, s.ClientSecretFile = s.ClientSecretFile, ""
			if err := os.WriteFile(s.PrivateKeyFile, []byte(text), 0o600); err != nil {
				t.Error(err)
			}
		}
	}
	for name, c := range map[string]struct {
		adjust func(*guarded, *mcp.Server)
		want   string
	}{
		"wrong secret":   {func(g *guarded, _ *mcp.Server) { g.proves = func(url.Values) bool { return false } }, "gets no token from ISSUER: the authorization server answered invalid_client; check client_id and FILE"},
		"no such grant":  {answers(400, "application/json", `{"error": "unsupported_grant_type"}`), "gets no token from ISSUER: the authorization server answered unsupported_grant_type; allow its client client_credentials there, or sign in as a person without grant"},
		"too few rights": {answers(400, "application/json", `{"error": "invalid_scope", "error_description": "no tickets"}`), "gets no token from ISSUER: the authorization server answered invalid_scope: no tickets; give podd's account the rights there"},
		"a failure":      {answers(500, "text/html", "<h1>access-token-1</h1>"), "gets no token from ISSUER: the authorization server answered with HTTP status 500 Internal Server Error"},
		"a page":         {answers(200, "text/html", "<h1>Sign in</h1>"), "gets no token from ISSUER: the authorization server gave no token"},
		"garbage":        {answers(200, "application/json", "\x00\xff{"), "gets no token from ISSUER: the authorization server gave no token"},
		"nothing":        {answers(200, "application/json", "{}"), "gets no token from ISSUER: the authorization server gave no token"},
		"elsewhere":      {answers(307, "", ""), "gets no token from ISSUER: the authorization server answered with HTTP status 307 Temporary Redirect"},
		"open file": {func(_ *guarded, s *mcp.Server) { _ = os.Chmod(s.ClientSecretFile, 0o644) },
			"has no secret: the key file FILE is open to other users (mode 0644): run chmod 600 on it, and replace the key if others may have read it"},
		"no file":      {func(_ *guarded, s *mcp.Server) { _ = os.Remove(s.ClientSecretFile) }, "has no secret: cannot read the key file FILE (no such file or directory): check its owner and mode"},
		"no key":       {key("not a key"), "has no private key in FILE: it takes an RSA, EC or Ed25519 key as PEM, without a password"},
		"a locked key": {key("-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIB\n-----END ENCRYPTED PRIVATE KEY-----\n"), "has no private key in FILE: it takes an RSA, EC or Ed25519 key as PEM, without a password"},
		"an open workload": {func(_ *guarded, s *mcp.Server) {
			s.AssertionFile, s.ClientSecretFile = s.ClientSecretFile, ""
			_ = os.Chmod(s.AssertionFile, 0o666)
		}, "has no secret: the key file FILE is open to other users (mode 0666): run chmod 600 on it, and replace the key if others may have read it"},
		"no server": {func(g *guarded, _ *mcp.Server) { g.issuer = "http://127.0.0.1:1" }, "gets no token from http://127.0.0.1:1: Get \"http://127.0.0.1:1/.well-known/oauth-authorization-server\": dial tcp 127.0.0.1:1: connect: connection refused; if that is the right server, perhaps in a private network, set issuer"},
		"another server": {func(g *guarded, s *mcp.Server) { g.issuer, s.Issuer = "https://auth.example.com", g.server.URL },
			"takes tokens of https://auth.example.com, and its issuer is ISSUER: correct one of them"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, g := accounted(t)
			file := b.server.ClientSecretFile
			c.adjust(g, &b.server)
			want := strings.NewReplacer("ISSUER", g.server.URL, "FILE", file).Replace(c.want)
			_, _, err := b.Test(t.Context(), b.server, b.dir)
			if err == nil || !strings.HasPrefix(err.Error(), "the MCP server tickets (config.toml:1) "+want) || strings.Contains(err.Error(), "access-token") || strings.Contains(err.Error(), "oauth2") {
				t.Errorf("%v\nwant %s", err, want)
			}
			if len(g.asked) > 1 {
				t.Errorf("asked %d times", len(g.asked))
			}
		})
	}
}

// An authorization server that never answers costs the call, not the end of podd.
func TestAccountHangs(t *testing.T) {
	t.Parallel()
	b, g := accounted(t)
	asked, over := make(chan struct{}), make(chan struct{})
	defer close(over)
	g.answer = func(http.ResponseWriter, url.Values) bool { close(asked); <-over; return true }
	done := make(chan error)
	go func() { _, err := b.findTicket(); done <- err }()
	<-asked
	b.Close()
	if err := <-done; err == nil || strings.Contains(err.Error(), "did not answer within") {
		t.Errorf("the end waits for a token: %v", err)
	}
}

// The secret goes only to the authorization server that the configuration names.
func TestAccountSecretStaysAtItsIssuer(t *testing.T) {
	t.Parallel()
	b, g := accounted(t)
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s is asked", r.URL)
	}))
	defer thief.Close()
	b.server.Issuer = g.server.URL + "/"
	b.works()
	inner := g.server.Config.Handler
	g.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/mcp" {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+thief.URL+`/metadata"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	})
	g.with(func() { g.issuer = thief.URL })
	if _, err := b.findTicket(); err == nil || !strings.Contains(err.Error(), "takes tokens of "+thief.URL+", and its issuer is "+g.server.URL) {
		t.Errorf("%v", err)
	}
}
