package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// learn stores a listing. i.mu is held.
func (i *instance) learn(l *Listing) {
	before := i.listing
	i.listing = l
	changed, err := i.m.record.learn(i.key, i.def.Name, i.dir, l)
	if err != nil {
		i.m.Logger.Error("cannot store what an MCP server offers", "server", i.def.Name, "error", err)
	}
	if len(changed) > 0 {
		i.m.alert("the MCP server %s has changed its tools (%s); each needs approval before it runs: review them with podctl mcp list", i.def.Name, some(changed))
	}
	if len(l.LeftOut) > 0 && (before == nil || !slices.Equal(before.LeftOut, l.LeftOut)) {
		i.m.alert("podd does not use everything that the MCP server %s offers: %s", i.def.Name, some(l.LeftOut))
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

// refresh lists what the server offers again, if the server reported a change or the lists are too old.
func (i *instance) refresh(ctx context.Context, l *link) error {
	i.mu.Lock()
	stale, timeout := i.stale, i.def.StartTimeout
	i.stale = false
	fresh := !stale && !l.over(i.m.Now().Sub(i.listing.At))
	i.mu.Unlock()
	if fresh {
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

// offered is what the server offers, if known. With start, an unknown server is started.
func (i *instance) offered(ctx context.Context, start bool) *Listing {
	i.mu.Lock()
	known := i.listing
	ask := i.link != nil && (i.stale || i.link.over(i.m.Now().Sub(known.At)))
	i.mu.Unlock()
	if !start || known != nil && !ask {
		return known
	}
	_ = i.with(ctx, false, func(l *link, err error) error {
		if err != nil {
			return err
		}
		if err = i.refresh(ctx, l); err != nil {
			i.m.Logger.Warn("cannot list what an MCP server offers again", "server", i.definition().Name, "error", err)
		}
		return err
	})
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.listing
}
