package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// wellKnown is where a server says which authorization servers it trusts.
const wellKnown = "/.well-known/oauth-protected-resource"

// revoker ends a sign-in at the authorization server that gave it: RFC 7009.
type revoker struct {
	signIn
	// server is the address of the MCP server.
	server string
	client *http.Client
}

// revoke revokes both tokens. An error is the rest of a sentence.
func (r revoker) revoke(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, renewTime)
	defer cancel()
	at := r.address(ctx)
	if at == "" {
		return errors.New("its authorization server names no address for that")
	}
	// The token for renewal comes first: with it, servers end the other one, too.
	for _, t := range []struct{ token, kind string }{{r.Refresh, "refresh_token"}, {r.Access, "access_token"}} {
		if t.token == "" {
			continue
		}
		if err := r.post(ctx, at, t.token, t.kind); err != nil {
			return err
		}
	}
	return nil
}

// address finds the address by the server's metadata, as a login does. It is at the host that
// gave the tokens: no other may see them.
func (r revoker) address(ctx context.Context) string {
	var issuers []string
	if u, err := url.Parse(r.server); err == nil {
		for _, path := range []string{strings.TrimSuffix(u.Path, "/"), ""} {
			if known, err := oauthex.GetProtectedResourceMetadata(ctx, origin(r.server)+wellKnown+path, r.Resource, r.client); err == nil {
				issuers = append(issuers, known.AuthorizationServers...)
			}
		}
	}
	issuers = append(issuers, origin(r.server), origin(r.TokenURL))
	for i, issuer := range issuers {
		if slices.Contains(issuers[:i], issuer) {
			continue
		}
		meta, err := auth.GetAuthServerMetadata(ctx, issuer, r.client)
		if err == nil && meta != nil && meta.TokenEndpoint == r.TokenURL && origin(meta.RevocationEndpoint) == origin(r.TokenURL) {
			return meta.RevocationEndpoint
		}
	}
	return ""
}

// origin is the scheme and host of an address.
func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// post revokes a token. It succeeds if the server no longer knows the token.
func (r revoker) post(ctx context.Context, at, token, kind string) error {
	form := url.Values{"token": {token}, "token_type_hint": {kind}}
	header := r.Style == oauth2.AuthStyleInHeader
	if !header {
		form.Set("client_id", r.ClientID)
		if r.ClientSecret != "" {
			form.Set("client_secret", r.ClientSecret)
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if header {
		req.SetBasicAuth(url.QueryEscape(r.ClientID), url.QueryEscape(r.ClientSecret))
	}
	resp, err := straight(r.client).Do(req)
	if err != nil {
		return errors.New("its authorization server cannot be reached: " + word(withoutURL(err).Error()))
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	if resp.StatusCode >= 300 {
		return fmt.Errorf("its authorization server answered with HTTP status %s", resp.Status)
	}
	return nil
}
