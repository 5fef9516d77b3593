package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"podd/pkg/item"
)

// loginTime is how long a person has to sign in.
const loginTime = 10 * time.Minute

// Login signs in at a server over HTTP. show gets the address that a person opens in a browser;
// the browser comes back to a port of this machine, 0 for any. It takes the place of a sign-in
// before. The error is a sentence.
func (m *Manager) Login(ctx context.Context, s Server, dir string, port int, show func(address string) error) (Look, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, loginTime, fmt.Errorf("was not signed in within %s", loginTime))
	defer cancel()
	defer context.AfterFunc(m.base, cancel)()
	look, err := m.login(ctx, s, dir, port, show)
	if err != nil {
		return Look{}, item.Errorf(item.KindPrecondition, "MCP_LOGIN", "the MCP server %s %s", s.Name, m.Redact(err.Error()))
	}
	return look, nil
}

func (m *Manager) login(ctx context.Context, s Server, dir string, port int, show func(string) error) (look Look, err error) {
	r, err := m.resolve(s, dir)
	switch {
	case err != nil:
		return look, err
	case r.url == "":
		return look, errors.New("is a command: only a server with a url has a sign-in")
	case r.oauth == nil:
		return look, errors.New("gets its key from the configuration: remove token_file or the header Authorization to sign in")
	case s.Grant != "":
		return look, errSignsIn(s)
	}
	back, err := m.listen(port)
	if err != nil {
		return look, err
	}
	defer back.close(ctx)
	f := &flow{m: m, server: s, key: signInKey(s, r.url), back: back, show: show}
	if f.OAuthHandler, err = f.handler(r.client); err != nil {
		return look, err
	}
	r.oauth = f
	l, err := m.connect(ctx, r, func() {}, func(string) {})
	if err != nil {
		return look, f.failure(err)
	}
	defer l.end()
	listing, err := l.list(ctx, m.Now())
	switch {
	case err != nil:
		return look, f.failure(l.failure(ctx, err))
	case !f.done:
		return look, errors.New("does not ask for a sign-in")
	}
	i := m.instance(s, dir)
	i.mu.Lock()
	i.learn(listing)
	i.mu.Unlock()
	m.retryNow(f.key)
	look = Look{Server: s, State: Idle, Listing: listing, SignIn: SignedIn}
	m.describe(&look, i.key)
	return look, nil
}

// retryNow lets the servers of a sign-in start at once.
func (m *Manager) retryNow(key string) {
	for _, i := range m.all() {
		i.mu.Lock()
		var e *signInError
		if errors.As(i.broken, &e) && e.key == key {
			i.failures, i.broken, i.retryAt = 0, nil, time.Time{}
		}
		i.mu.Unlock()
	}
}

// Logout forgets a sign-in, ends the server's connections, and revokes the tokens. It says
// whether there was a sign-in; warning is a sentence if the tokens still count at the server.
func (m *Manager) Logout(ctx context.Context, s Server, dir string) (was bool, warning string, err error) {
	r, err := m.resolve(s, dir)
	switch {
	case err == nil && (r.url == "" || r.oauth == nil):
		err = errors.New("has no sign-in")
	case err == nil && s.Grant != "":
		err = errSignsIn(s)
	}
	var one signIn
	if err == nil {
		one, err = m.forget(signInKey(s, r.url))
	}
	if err != nil {
		return false, "", item.Errorf(item.KindPrecondition, "MCP_LOGIN", "the MCP server %s %s", s.Name, m.Redact(err.Error()))
	}
	for _, i := range m.all() {
		if i.definition().Name == s.Name {
			i.stop()
		}
	}
	if one.Access == "" {
		return false, "", nil
	}
	if err := (revoker{one, r.url, m.oauth}).revoke(ctx); err != nil {
		warning = m.Redact(fmt.Sprintf("podd cannot revoke the tokens of the MCP server %s: %v; end the sign-in at the server, too", s.Name, err))
	}
	return true, warning, nil
}

// forget removes a sign-in; a renewal that runs ends first.
func (m *Manager) forget(key string) (signIn, error) {
	lock := m.signIns.lock(key)
	lock.Lock()
	defer lock.Unlock()
	one, _ := m.signIns.get(key)
	return one, m.signIns.remove(key)
}

// Answer gives a waiting login the address where the browser ended.
func (m *Manager) Answer(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Query().Get("state") == "" {
		return item.Errorf(item.KindInvalid, "MCP_LOGIN", "this is not the address where the browser ended: paste the whole address, with code and state")
	}
	m.mu.Lock()
	back := m.logins[u.Query().Get("state")]
	m.mu.Unlock()
	if back == nil {
		return item.Errorf(item.KindPrecondition, "MCP_LOGIN", "this address belongs to no open sign-in: paste the address of the last podctl mcp login")
	}
	back.deliver(u.Query())
	return nil
}

// flow is a sign-in in progress.
type flow struct {
	// OAuthHandler runs the protocol.
	auth.OAuthHandler
	m      *Manager
	server Server
	key    string
	back   *callback
	show   func(string) error
	// resource is the server as the authorization server knows it.
	resource string
	// asked says that a person was asked, done that the tokens are stored.
	asked, done bool
}

// handler is the SDK's.
func (f *flow) handler(client *oauthex.ClientCredentials) (auth.OAuthHandler, error) {
	before, _ := f.m.signIns.get(f.key)
	c := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: f.back.url, AuthorizationCodeFetcher: f.fetch, RequestRefreshToken: true, AcceptUnadvertisedIss: true,
		Client: f.m.oauth, NewTokenSource: f.store, PreregisteredClient: client,
		ScopeFilter: func(found []string) []string { return slices.Concat(before.Wanted, found) },
	}
	if client == nil {
		c.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "podd", RedirectURIs: []string{f.back.url}, GrantTypes: []string{"authorization_code", "refresh_token"},
			ResponseTypes: []string{"code"}, TokenEndpointAuthMethod: "none",
		}}
	}
	return auth.NewAuthorizationCodeHandler(c)
}

// fetch shows a person the address, and waits for the browser to come back.
func (f *flow) fetch(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	u, err := url.Parse(args.URL)
	if err != nil || u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())) {
		return nil, errors.New("names no https address for the sign-in")
	}
	f.asked, f.resource = true, u.Query().Get("resource")
	state := u.Query().Get("state")
	f.m.expect(state, f.back)
	defer f.m.expect(state, nil)
	if err := f.show(args.URL); err != nil {
		return nil, err
	}
	return f.back.wait(ctx)
}

// store keeps the tokens.
func (f *flow) store(_ context.Context, c *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
	one := signIn{
		Name: f.server.Name, ClientID: c.ClientID, ClientSecret: c.ClientSecret, TokenURL: c.Endpoint.TokenURL, Style: c.Endpoint.AuthStyle,
		Resource: f.resource, Scopes: c.Scopes, Access: t.AccessToken, Refresh: t.RefreshToken, Expiry: f.m.end(t),
	}
	f.m.Secret(one.secrets()...)
	lock := f.m.signIns.lock(f.key)
	lock.Lock()
	defer lock.Unlock()
	if err := f.m.signIns.put(f.key, one); err != nil {
		return nil, fmt.Errorf("cannot be signed in, because its tokens cannot be stored: %w", err)
	}
	f.done = true
	return oauth2.StaticTokenSource(t), nil
}

// failure is why a login failed, as the rest of a sentence.
func (f *flow) failure(err error) error {
	if f.done {
		return fmt.Errorf("is signed in, but %w", err)
	}
	if _, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		err = briefly(err)
	}
	why := text(err.Error(), maxWord)
	if !f.asked && f.server.ClientID == "" {
		why += "; if it lets no client register itself, set client_id"
	}
	return fmt.Errorf("is not signed in: %s", why)
}
