package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// learn takes a listing. i.mu is held.
func (i *instance) learn(l *Listing) {
	before := i.listing
	i.listing, i.stale = l, false
	changed, err := i.m.record.learn(i.key, i.def.Name, i.dir, l)
	if err != nil {
		i.m.Logger.Error("what an MCP server offers could not be stored", "server", i.def.Name, "error", err)
	}
	if len(changed) > 0 {
		i.m.alert("the MCP server %s offers other tools than before (%s): a person is asked before each of them runs", i.def.Name, some(changed))
	}
	if len(l.LeftOut) > 0 && (before == nil || !slices.Equal(before.LeftOut, l.LeftOut)) {
		i.m.alert("of the MCP server %s not all is taken: %s", i.def.Name, some(l.LeftOut))
	}
}

// some are the first of a few words in a sentence.
func some(words []string) string {
	const most = 5
	if len(words) > most {
		return strings.Join(words[:most], ", ") + fmt.Sprintf(" and %d more", len(words)-most)
	}
	return strings.Join(words, ", ")
}

// refresh asks the server again for what it offers when it said that this changed.
func (i *instance) refresh(ctx context.Context, l *link) error {
	i.mu.Lock()
	stale, timeout := i.stale, i.def.StartTimeout
	i.stale = false
	i.mu.Unlock()
	if !stale {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("did not list what it offers within %s", timeout))
	defer cancel()
	listing, err := l.list(ctx, i.m.Now())
	i.mu.Lock()
	defer i.mu.Unlock()
	if err != nil {
		i.stale = true
		return l.failure(ctx, err)
	}
	i.learn(listing)
	return nil
}

// offered is what the server offers, as far as that is known. With start it is started
// when nothing is known.
func (i *instance) offered(ctx context.Context, start bool) *Listing {
	i.mu.Lock()
	known, ask := i.listing, i.link != nil && i.stale
	i.mu.Unlock()
	if !start || known != nil && !ask {
		return known
	}
	l, err := i.use(ctx, false)
	if err != nil {
		return known
	}
	defer i.free()
	if err := i.refresh(ctx, l); err != nil {
		i.m.Logger.Warn("MCP server not asked again", "server", i.definition().Name, "error", err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.listing
}
