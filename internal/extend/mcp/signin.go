package mcp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"podd/pkg/item"
	"podd/pkg/paths"
)

// signInsName is the file of sign-ins in the state directory.
const signInsName = "mcp-tokens.json"

// early is how long before its end a token is renewed that does not end sooner, renewTime bounds a renewal.
const (
	early     = 30 * time.Second
	renewTime = 30 * time.Second
)

// signIn is what podd keeps of a sign-in at a server.
type signIn struct {
	Name string `json:"name"`
	// ClientID and ClientSecret identify podd at TokenURL; Style is how they are sent.
	ClientID     string           `json:"client_id,omitempty"`
	ClientSecret string           `json:"client_secret,omitempty"`
	TokenURL     string           `json:"token_url,omitempty"`
	Style        oauth2.AuthStyle `json:"style,omitempty"`
	// Resource is the server as its authorization server knows it.
	Resource string `json:"resource,omitempty"`
	// Scopes are the rights that podd asked for, Wanted those that the next sign-in asks for besides: the server refused a call for them.
	Scopes []string `json:"scopes,omitempty"`
	Wanted []string `json:"wanted,omitempty"`
	// Access is the token of requests, until Expiry, which comes a little before its end; zero means
	// unknown. Refresh gets the next one.
	Access  string    `json:"access,omitempty"`
	Refresh string    `json:"refresh,omitempty"`
	Expiry  time.Time `json:"expiry,omitzero"`
	// Told says that an alert has asked for a sign-in since the last one.
	Told bool `json:"told,omitempty"`
}

func (s signIn) secrets() []string {
	return slices.DeleteFunc([]string{s.Access, s.Refresh, s.ClientSecret}, func(text string) bool { return text == "" })
}

// signIns are the sign-ins at servers over HTTP.
type signIns struct {
	path string

	mu  sync.Mutex
	all map[string]signIn
	// renewing has a lock for each sign-in: a token for renewal counts once.
	renewing map[string]*sync.Mutex
}

// signInKey identifies a sign-in: that of a server, in all workspaces.
func signInKey(s Server, address string) string {
	sum := sha256.Sum256([]byte(s.Name + "\x00" + address + "\x00" + s.ClientID))
	return hex.EncodeToString(sum[:])
}

func openSignIns(stateDir string, secret func(...string)) (*signIns, error) {
	s := &signIns{path: filepath.Join(stateDir, signInsName), all: map[string]signIn{}, renewing: map[string]*sync.Mutex{}}
	_ = os.Chmod(s.path, 0o600)
	if err := paths.ReadRecord(s.path, &s.all); err != nil {
		e := item.Errorf(item.KindPrecondition, "MCP_TOKENS", "podd cannot read the sign-ins of MCP servers in %s (%v): repair or remove the file, then sign in again with podctl mcp login", s.path, err)
		e.Cause = err
		return nil, e
	}
	for _, one := range s.all {
		secret(one.secrets()...)
	}
	return s, nil
}

func (s *signIns) get(key string) (signIn, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, ok := s.all[key]
	return one, ok
}

// put stores a sign-in. If that fails, it counts until podd ends.
func (s *signIns) put(key string, one signIn) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[key] = one
	return paths.WriteRecord(s.path, s.all)
}

// tell stores that a person is asked to sign in, in what is stored now: there may be a new sign-in. It is false if that was
// so before.
func (s *signIns) tell(key, name string) (first bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.all[key]
	if one.Told {
		return false, nil
	}
	one.Name, one.Told = name, true
	s.all[key] = one
	return true, paths.WriteRecord(s.path, s.all)
}

// want stores the rights that a server misses.
func (m *Manager) want(key, name string, h http.Header) {
	challenges, err := oauthex.ParseWWWAuthenticate(h.Values("WWW-Authenticate"))
	lock := m.signIns.lock(key)
	lock.Lock()
	defer lock.Unlock()
	one, known := m.signIns.get(key)
	if err != nil || !known {
		return
	}
	for _, c := range challenges {
		if c.Params["error"] == "insufficient_scope" {
			one.Wanted = append(slices.Clone(one.Scopes), strings.Fields(c.Params["scope"])...)
			m.stored(m.signIns.put(key, one), name)
		}
	}
}

// remove forgets a sign-in.
func (s *signIns) remove(key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.all[key]; !ok {
		return nil
	}
	before := maps.Clone(s.all)
	delete(s.all, key)
	if err := paths.WriteRecord(s.path, s.all); err != nil {
		s.all = before
		return err
	}
	return nil
}

// lock is held while a sign-in is renewed.
func (s *signIns) lock(key string) *sync.Mutex {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.renewing[key] == nil {
		s.renewing[key] = &sync.Mutex{}
	}
	return s.renewing[key]
}

// signInError says that a person has to sign in, as the rest of a sentence.
type signInError struct{ key, name string }

// Error names the command.
func (e *signInError) Error() string {
	return "needs you to sign in: run podctl mcp login " + e.name
}

// token is the token for a server's requests. refused is one that the server did not accept;
// may be empty. Renewals of a sign-in run one after the other, and a new token is stored
// before it is used: the one before may be void.
func (m *Manager) token(ctx context.Context, key, name, refused string) (string, error) {
	lock := m.signIns.lock(key)
	lock.Lock()
	defer lock.Unlock()
	one, _ := m.signIns.get(key)
	valid := one.Access != "" && one.Access != refused && (one.Expiry.IsZero() || one.Expiry.After(m.Now()))
	switch {
	case valid:
		return one.Access, nil
	case one.Refresh == "":
		return "", &signInError{key, name}
	}
	next, err := m.renew(ctx, one)
	if over(err) {
		one.Access, one.Refresh = "", ""
		m.stored(m.signIns.put(key, one), name)
		return "", &signInError{key, name}
	}
	if err != nil {
		return "", fmt.Errorf("cannot renew its sign-in: %w", briefly(err))
	}
	m.Secret(next.secrets()...)
	m.stored(m.signIns.put(key, next), name)
	return next.Access, nil
}

// stored reports a sign-in that could not be stored.
func (m *Manager) stored(err error, name string) {
	if err != nil {
		m.Logger.Error("cannot store the sign-in of an MCP server; it is lost when podd ends", "server", name, "error", err)
	}
}

// renew gets the next token.
func (m *Manager) renew(ctx context.Context, one signIn) (signIn, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), renewTime)
	defer cancel()
	c := oauth2.Config{
		ClientID: one.ClientID, ClientSecret: one.ClientSecret,
		Endpoint: oauth2.Endpoint{TokenURL: one.TokenURL, AuthStyle: one.Style},
	}
	// Parameters replace those of an exchange; a parameter without a value is removed.
	t, err := c.Exchange(context.WithValue(ctx, oauth2.HTTPClient, straight(m.oauth)), "",
		oauth2.SetAuthURLParam("grant_type", "refresh_token"), oauth2.SetAuthURLParam("refresh_token", one.Refresh), oauth2.SetAuthURLParam("resource", one.Resource))
	if err != nil {
		return one, err
	}
	one.Access, one.Expiry, one.Refresh = t.AccessToken, m.end(t), cmp.Or(t.RefreshToken, one.Refresh)
	return one, nil
}

// end is when podd renews a token, by podd's clock; zero means unknown.
func (m *Manager) end(t *oauth2.Token) time.Time {
	life := time.Until(t.Expiry)
	if life <= 0 {
		return time.Time{}
	}
	return m.Now().Add(life - min(early, life/2)).UTC()
}

// over says whether an error means that a token for renewal is void.
func over(err error) bool {
	e, ok := errors.AsType[*oauth2.RetrieveError](err)
	return ok && slices.Contains([]string{"invalid_grant", "invalid_client", "unauthorized_client"}, e.ErrorCode)
}

// briefly is an error of an authorization server without the body of its answer.
func briefly(err error) error {
	e, ok := errors.AsType[*oauth2.RetrieveError](err)
	switch {
	case !ok && !strings.HasPrefix(err.Error(), "oauth2: "):
		return errors.New(word(withoutURL(err).Error()))
	case ok && e.ErrorCode != "":
		return fmt.Errorf("the authorization server answered %s%s", word(e.ErrorCode), colon(text(e.ErrorDescription, 200)))
	case ok && e.Response != nil:
		return fmt.Errorf("the authorization server answered with HTTP status %s", e.Response.Status)
	}
	return errors.New("the authorization server gave no token")
}

// alertSignIn raises the one alert about a sign-in that is needed.
func (m *Manager) alertSignIn(e *signInError) {
	first, err := m.signIns.tell(e.key, e.name)
	if !first {
		return
	}
	m.stored(err, e.name)
	m.alert("the MCP server %s %v; its calls fail until then", e.name, e)
}

// bearer gives the requests to a server their token. It opens no browser.
type bearer struct {
	m         *Manager
	key, name string
}

// TokenSource gives nothing where a person has to sign in: the server may not want it.
func (b bearer) TokenSource(context.Context) (oauth2.TokenSource, error) {
	if one, _ := b.m.signIns.get(b.key); one.Access == "" {
		return nil, nil
	}
	return b, nil
}

// Token is the token for the next request.
func (b bearer) Token() (*oauth2.Token, error) {
	access, err := b.m.token(b.m.base, b.key, b.name, "")
	if err != nil {
		return nil, err
	}
	return &oauth2.Token{AccessToken: access, TokenType: "Bearer"}, nil
}

// Authorize renews a token that the server did not accept.
func (b bearer) Authorize(ctx context.Context, r *http.Request, resp *http.Response) error {
	used := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if resp.StatusCode == http.StatusForbidden {
		f, _ := refusal(resp)
		b.m.want(b.key, b.name, resp.Header)
		if used != "" {
			f.error = fmt.Errorf("%w; if you granted too few rights, run podctl mcp login %s", f.error, b.name)
		}
		return f
	}
	_ = resp.Body.Close()
	if used == "" {
		return &signInError{b.key, b.name}
	}
	_, err := b.m.token(ctx, b.key, b.name, used)
	return err
}
