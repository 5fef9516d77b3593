package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The limits of a list: its pages, how many in a row may say nothing new, and how long podd uses it at least.
const (
	maxPages = 100
	maxStale = 3
	minTTL   = 10 * time.Second
)

// list asks a server for everything that it offers. It fails only if there are no tools for it
// to return.
func (l *link) list(ctx context.Context, now time.Time) (*Listing, error) {
	greeting := l.session.InitializeResult()
	out := &Listing{Protocol: word(greeting.ProtocolVersion), At: now.UTC()}
	if info := greeting.ServerInfo; info != nil {
		out.Title, out.Version = word(cmp.Or(info.Title, info.Name)), word(info.Version)
	}
	can := cmp.Or(greeting.Capabilities, &sdk.ServerCapabilities{})
	var err error
	if can.Tools != nil {
		tools := pages[*sdk.Tool]{out: out, what: "tools", ask: l.askTools, name: func(t *sdk.Tool) string { return t.Name }}
		err = tools.read(ctx, out.addTool)
	}
	if can.Resources != nil && err == nil {
		resources := pages[*sdk.Resource]{out: out, what: "resources", optional: true, ask: l.askResources, name: func(r *sdk.Resource) string { return r.URI }}
		err = resources.read(ctx, out.addResource)
	}
	if can.Resources != nil && err == nil {
		// Few servers have templates, and some don't know the request.
		templates := pages[*sdk.ResourceTemplate]{out: &Listing{}, optional: true, ask: l.askTemplates, name: func(r *sdk.ResourceTemplate) string { return r.URITemplate }}
		err = templates.read(ctx, out.addTemplate)
	}
	if can.Prompts != nil && err == nil {
		prompts := pages[*sdk.Prompt]{out: out, what: "prompts", optional: true, ask: l.askPrompts, name: func(p *sdk.Prompt) string { return p.Name }}
		err = prompts.read(ctx, out.addPrompt)
	}
	slices.SortFunc(out.Tools, func(a, b Tool) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(out.Resources, func(a, b Resource) int { return strings.Compare(a.URI, b.URI) })
	slices.SortFunc(out.Prompts, func(a, b Prompt) int { return strings.Compare(a.Name, b.Name) })
	return out, err
}

func (l *link) askTools(ctx context.Context, cursor string) ([]*sdk.Tool, string, error) {
	r, err := l.session.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
	if err != nil {
		return nil, "", err
	}
	l.lasts(r.TTLMs)
	return r.Tools, r.NextCursor, nil
}

func (l *link) askResources(ctx context.Context, cursor string) ([]*sdk.Resource, string, error) {
	r, err := l.session.ListResources(ctx, &sdk.ListResourcesParams{Cursor: cursor})
	if err != nil {
		return nil, "", err
	}
	l.lasts(r.TTLMs)
	return r.Resources, r.NextCursor, nil
}

func (l *link) askTemplates(ctx context.Context, cursor string) ([]*sdk.ResourceTemplate, string, error) {
	r, err := l.session.ListResourceTemplates(ctx, &sdk.ListResourceTemplatesParams{Cursor: cursor})
	if err != nil {
		return nil, "", err
	}
	l.lasts(r.TTLMs)
	return r.ResourceTemplates, r.NextCursor, nil
}

func (l *link) askPrompts(ctx context.Context, cursor string) ([]*sdk.Prompt, string, error) {
	r, err := l.session.ListPrompts(ctx, &sdk.ListPromptsParams{Cursor: cursor})
	if err != nil {
		return nil, "", err
	}
	l.lasts(r.TTLMs)
	return r.Prompts, r.NextCursor, nil
}

// lasts notes for how many milliseconds the server wants a list to be used; 0 says nothing.
func (l *link) lasts(ms int) {
	if ms <= 0 {
		return
	}
	ttl := max(time.Duration(ms)*time.Millisecond, minTTL)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ttl == 0 || ttl < l.ttl {
		l.ttl = ttl
	}
}

// over says whether lists of this age are too old by the word of the server.
func (l *link) over(age time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ttl > 0 && age > l.ttl
}

// pages reads a list page by page.
type pages[T comparable] struct {
	out  *Listing
	what string
	// optional says that the server is of use without the first page, too.
	optional bool
	ask      func(ctx context.Context, cursor string) ([]T, string, error)
	name     func(T) string
}

// read takes entries until take has enough. What was read stays, whatever becomes of later
// pages: a list that does not end, or comes too slowly, ends early.
func (p pages[T]) read(ctx context.Context, take func(T) bool) error {
	cursors, names := map[string]bool{}, map[string]bool{}
	cursor, stale := "", 0
	for n := 0; n < maxPages && stale < maxStale && !cursors[cursor]; n++ {
		cursors[cursor] = true
		entries, next, err := p.page(ctx, cursor, p.optional || n > 0)
		if err != nil {
			return err
		}
		entries = slices.DeleteFunc(entries, func(e T) bool { return e == *new(T) })
		if n > 0 && !slices.ContainsFunc(entries, func(e T) bool { return !names[p.name(e)] }) {
			entries, stale = nil, stale+1
		} else {
			stale = 0
		}
		for _, e := range entries {
			names[p.name(e)] = true
			if !take(e) {
				return nil
			}
		}
		if next == "" {
			return nil
		}
		cursor = next
	}
	p.out.leaveOut("its list of %s does not end, so podd uses the beginning", p.what)
	return nil
}

// page asks for one page. A server that does not know the request has no entries, whatever
// capabilities it announced. If podd can do without the page, it takes at most half of the time.
func (p pages[T]) page(ctx context.Context, cursor string, optional bool) ([]T, string, error) {
	asking, cancel := ctx, context.CancelFunc(func() {})
	if end, ok := ctx.Deadline(); ok && optional {
		asking, cancel = context.WithDeadline(ctx, end.Add(-time.Until(end)/2))
	}
	defer cancel()
	entries, next, err := p.ask(asking, cursor)
	refusal, refused := errors.AsType[*jsonrpc.Error](err)
	f, failed := errors.AsType[*failure](err)
	switch {
	case err == nil:
		return entries, next, nil
	case refused && refusal.Code == jsonrpc.CodeMethodNotFound:
		return nil, "", nil
	case ctx.Err() == nil && optional && (refused || failed && !f.gone || asking.Err() != nil):
		p.out.leaveOut("the server does not list all of its %s%s", p.what, colon(word(err.Error())))
		return nil, "", nil
	}
	return nil, "", fmt.Errorf("does not list its %s: %w", p.what, err)
}
