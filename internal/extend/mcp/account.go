package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// accountTime bounds all requests for a token of an account.
const accountTime = 20 * time.Second

// account is how podd signs in at a server by itself. Its tokens are in memory alone: the next podd gets others.
type account struct {
	m      *Manager
	server Server
	url    string

	mu sync.Mutex
	// access is the token of requests, until expiry; zero means unknown.
	access string
	expiry time.Time
	// named is where the server says what it wants, scopes are the rights that podd asked for with access.
	named  string
	scopes []string
	// pending is the request for the next token; nil without one.
	pending *pending
}

// pending is one request for a token; all who need one wait for it.
type pending struct {
	// scopes are the rights that it asks for; without any, it asks for those that the server has.
	scopes []string
	done   chan struct{}
	err    error
}

// account returns podd's account at a server.
func (m *Manager) account(s Server, address string) *account {
	key := keyOf(s, "")
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.accounts[key] == nil {
		m.accounts[key] = &account{m: m, server: s, url: address}
	}
	return m.accounts[key]
}

// errSignsIn says that no person signs in at a server.
func errSignsIn(s Server) error {
	return fmt.Errorf("signs in by itself (grant = %q), which podctl mcp test %s tries: remove grant to sign in as a person", s.Grant, s.Name)
}

// TokenSource gives nothing before the server has said what it wants.
func (a *account) TokenSource(ctx context.Context) (oauth2.TokenSource, error) {
	access, over := a.current()
	if over {
		if err := a.renew(ctx, access, nil); err != nil {
			return nil, err
		}
		access, _ = a.current()
	}
	if access == "" {
		return nil, nil
	}
	return oauth2.StaticTokenSource(&oauth2.Token{AccessToken: access}), nil
}

// current is the token, and says whether it is over.
func (a *account) current() (access string, over bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.access, a.access != "" && !a.expiry.IsZero() && !a.expiry.After(a.m.Now())
}

// Authorize gets a token in place of one that the server did not accept, or with the rights that it lacks.
func (a *account) Authorize(ctx context.Context, r *http.Request, resp *http.Response) error {
	f, _ := refusal(resp)
	used := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	rights, other := a.wants(resp.Header, used)
	forbidden := resp.StatusCode == http.StatusForbidden
	if forbidden && !other {
		if used != "" {
			f.error = fmt.Errorf("%w; if podd's account has too few rights, grant them at the authorization server", f.error)
		}
		return f
	}
	err := a.renew(ctx, used, rights)
	if err != nil && forbidden {
		f.error = err // The token serves other calls.
		return f
	}
	return err
}

// wants is the rights that the server wants, and says whether another token than the one used may have them.
func (a *account) wants(h http.Header, used string) (rights []string, other bool) {
	challenges, _ := oauthex.ParseWWWAuthenticate(h.Values("WWW-Authenticate"))
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range challenges {
		a.named = cmp.Or(c.Params["resource_metadata"], a.named)
		rights = append(rights, missing(strings.Fields(c.Params["scope"]), rights)...)
	}
	return rights, a.access != used || a.pending != nil || len(missing(rights, a.scopes)) > 0
}

// missing are the rights that are not in scopes.
func missing(rights, scopes []string) []string {
	return slices.DeleteFunc(slices.Clone(rights), func(one string) bool { return slices.Contains(scopes, one) })
}

// renew gets a token in place of the one used, asked for with some rights.
func (a *account) renew(ctx context.Context, used string, rights []string) error {
	for {
		now, err := a.next(used, rights)
		if now == nil {
			return err
		}
		select {
		case <-now.done:
			if len(missing(rights, now.scopes)) == 0 {
				return now.err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// next is the request to wait for, one at a time; nil if there is such a token.
func (a *account) next(used string, rights []string) (*pending, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	more := missing(rights, a.scopes)
	if a.access != used && len(more) == 0 {
		return nil, nil
	}
	if a.pending == nil {
		now := &pending{scopes: slices.Concat(a.scopes, more), done: make(chan struct{})}
		if !a.m.begin(func() { a.ask(now) }) {
			return nil, errStopped
		}
		a.pending = now
	}
	return a.pending, nil
}

// ask asks for a token.
func (a *account) ask(now *pending) {
	a.mu.Lock()
	named := a.named
	a.mu.Unlock()
	ctx, cancel := context.WithTimeoutCause(a.m.base, accountTime, fmt.Errorf("it did not answer within %s", accountTime))
	defer cancel()
	t, scopes, err := a.token(ctx, named, now.scopes)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err == nil {
		a.access, a.expiry, a.scopes = t.AccessToken, a.m.end(t), scopes
	}
	now.err, a.pending = err, nil
	close(now.done)
}

// token is the next token, and the rights that podd asked for. An error is the rest of a sentence.
func (a *account) token(ctx context.Context, named string, scopes []string) (*oauth2.Token, []string, error) {
	client := a.m.oauth
	if a.server.Issuer != "" {
		client = a.m.inside
	}
	resource, issuer, found, err := a.resource(ctx, named, client)
	if err != nil {
		return nil, nil, err
	}
	failed := func(err error, advice string) error {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return fmt.Errorf("gets no token from %s: %w%s", word(issuer), err, advice)
	}
	meta, err := auth.GetAuthServerMetadata(ctx, issuer, client)
	switch {
	case err != nil && a.server.Issuer == "":
		return nil, nil, failed(errors.New(word(err.Error())), "; if that is the right server, perhaps in a private network, set issuer")
	case err != nil:
		return nil, nil, failed(errors.New(word(err.Error())), "")
	case meta == nil || meta.TokenEndpoint == "":
		return nil, nil, failed(errors.New("it does not say where to ask for one (RFC 8414)"), "; check the address with its operator")
	}
	if len(scopes) == 0 {
		scopes = found
	}
	c := &clientcredentials.Config{
		ClientID: a.server.ClientID, TokenURL: meta.TokenEndpoint, Scopes: scopes, AuthStyle: oauth2.AuthStyleInParams,
		EndpointParams: url.Values{"resource": {resource}},
	}
	if err := a.prove(c, meta); err != nil {
		return nil, nil, err
	}
	t, err := c.Token(context.WithValue(ctx, oauth2.HTTPClient, straight(client)))
	if err != nil {
		return nil, nil, failed(briefly(err), a.advice(err))
	}
	a.m.Secret(t.AccessToken)
	return t, scopes, nil
}

// resource is the server as its authorization server knows it, that server, and the rights that the server has.
func (a *account) resource(ctx context.Context, named string, client *http.Client) (resource, issuer string, scopes []string, err error) {
	only, at := strings.TrimSuffix(a.server.Issuer, "/"), origin(a.url)
	if only != "" { // Nothing leads podd to another place in a private network.
		client = straight(client)
		if origin(named) != at {
			named = ""
		}
	}
	u, err := url.Parse(a.url)
	if err != nil {
		return "", "", nil, err
	}
	for _, place := range [][2]string{{named, a.url}, {at + wellKnown + strings.TrimSuffix(u.Path, "/"), a.url}, {at + wellKnown, at}} {
		meta, err := oauthex.GetProtectedResourceMetadata(ctx, place[0], place[1], client)
		if err != nil || len(meta.AuthorizationServers) == 0 {
			continue
		}
		trusted := meta.AuthorizationServers
		for _, one := range trusted {
			if one = strings.TrimSuffix(one, "/"); only == "" || one == only {
				return meta.Resource, one, meta.ScopesSupported, nil
			}
		}
		return "", "", nil, fmt.Errorf("takes tokens of %s, and its issuer is %s: correct one of them", word(strings.Join(trusted, ", ")), only)
	}
	return a.url, cmp.Or(only, at), nil, nil
}

// advice is what to do about the refusal of an authorization server.
func (a *account) advice(err error) string {
	e, _ := errors.AsType[*oauth2.RetrieveError](err)
	if e == nil {
		return ""
	}
	file := cmp.Or(a.server.ClientSecretFile, a.server.PrivateKeyFile, a.server.AssertionFile)
	switch e.ErrorCode {
	case "invalid_client", "invalid_grant":
		return "; check client_id and " + file
	case "unauthorized_client", "unsupported_grant_type":
		return fmt.Sprintf("; allow its client %s there, or sign in as a person without grant", a.server.Grant)
	case "invalid_scope", "invalid_target", "access_denied":
		return "; give podd's account the rights there"
	}
	return ""
}

// straight is a client that sends secrets to no other address.
func straight(client *http.Client) *http.Client {
	c := *client
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &c
}
