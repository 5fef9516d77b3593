package attach

import (
	"context"

	"podd/internal/sanitize"
	"podd/pkg/client"
	poddv1 "podd/proto/podd/v1"
)

// pathOffers are the paths offered for the @path that is being written.
type pathOffers struct {
	// find asks podd for them.
	find func(ctx context.Context, prefix string) ([]string, error)
	// prefix is what they are for, which begins at from; known says that they were asked for.
	prefix string
	from   int
	known  bool
	// list is what is offered, of which at is chosen.
	list []string
	at   int
	// asking says that podd is being asked, tab that the person waits for it.
	asking, tab bool
}

// finder asks podd for the paths that fit.
func finder(c *client.Client, pod string) func(ctx context.Context, prefix string) ([]string, error) {
	return func(ctx context.Context, prefix string) ([]string, error) {
		resp, err := c.Pods().CompletePath(ctx, &poddv1.CompletePathRequest{Pod: pod, Prefix: prefix, Limit: mostOffered})
		return resp.GetPaths(), err
	}
}

// close withdraws what is offered.
func (p *pathOffers) close() { p.list, p.at = nil, 0 }

// offerPaths offers paths for the @path before the cursor, if it has changed. With tab the
// person has asked for them.
func (a *app) offerPaths(tab bool) {
	prefix, from, ok := a.prompt.draft.reference()
	if !ok || a.calls.answering || a.prompt.history.search != nil {
		if a.prompt.paths.tab {
			a.prompt.paths.tab, a.prompt.held = false, keyOther
		}
		a.prompt.paths.known = false
		a.prompt.paths.close()
		return
	}
	a.prompt.paths.tab = a.prompt.paths.tab || tab
	if a.prompt.paths.asking || !tab && a.prompt.paths.known && prefix == a.prompt.paths.prefix && from == a.prompt.paths.from {
		return
	}
	a.prompt.paths.asking = true
	var list []string
	a.call(func(ctx context.Context) (err error) {
		list, err = a.prompt.paths.find(ctx, prefix)
		return err
	}, func(err error) {
		a.prompt.paths.asking = false
		now, at, ok := a.prompt.draft.reference()
		if !ok || now != prefix || at != from {
			a.offerPaths(false) // The draft has changed meanwhile.
			return
		}
		tab := a.prompt.paths.tab
		a.prompt.paths.prefix, a.prompt.paths.from, a.prompt.paths.known, a.prompt.paths.tab, a.prompt.paths.list, a.prompt.paths.at = prefix, from, true, false, list, 0
		switch {
		case err != nil: // Completion is silent.
		case len(list) == 1 && list[0] == prefix:
			a.prompt.paths.close()
		case tab && len(list) == 1:
			a.prompt.takePath()
			a.offerPaths(false)
		case tab && len(list) == 0:
			a.said = "no such path"
		}
		if tab {
			a.completed(err == nil && len(list) == 1)
		}
	})
}

// choosePath handles a key while paths are offered; false if it is for others.
func (a *app) choosePath(k keyKind) bool {
	switch {
	case len(a.prompt.paths.list) == 0 || a.calls.answering:
		return false
	case k == keyTab:
		a.prompt.takePath()
		a.offerPaths(false)
		return true
	}
	return a.prompt.paths.choose(k)
}

// choose moves between the paths that are offered, or withdraws them; false if the key does neither.
func (p *pathOffers) choose(k keyKind) bool {
	n := len(p.list)
	switch k {
	case keyUp:
		p.at = (p.at + n - 1) % n
	case keyDown:
		p.at = (p.at + 1) % n
	case keyEscape:
		p.close()
	default:
		return false
	}
	return true
}

// pathRows are the offered paths, of which the chosen one is marked and among the first most.
func (p *pathOffers) rows(most int) (rows []string) {
	from := max(p.at-most+1, 0)
	for i, path := range p.list[from:min(from+most, len(p.list))] {
		mark := "  "
		if from+i == p.at {
			mark = "> "
		}
		rows = append(rows, mark+"@"+sanitize.Line(path))
	}
	return rows
}
