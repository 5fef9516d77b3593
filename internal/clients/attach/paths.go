package attach

import (
	"context"
	"strings"

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
	prefix, from, ok := a.draft.reference()
	if !ok || a.calls.answering || a.history.search != nil {
		if a.paths.tab {
			a.paths.tab, a.held = false, keyOther
		}
		a.paths.known = false
		a.paths.close()
		return
	}
	a.paths.tab = a.paths.tab || tab
	if a.paths.asking || !tab && a.paths.known && prefix == a.paths.prefix && from == a.paths.from {
		return
	}
	a.paths.asking = true
	var list []string
	a.call(func(ctx context.Context) (err error) {
		list, err = a.paths.find(ctx, prefix)
		return err
	}, func(err error) {
		a.paths.asking = false
		now, at, ok := a.draft.reference()
		if !ok || now != prefix || at != from {
			a.offerPaths(false) // The draft has changed meanwhile.
			return
		}
		tab := a.paths.tab
		a.paths.prefix, a.paths.from, a.paths.known, a.paths.tab, a.paths.list, a.paths.at = prefix, from, true, false, list, 0
		switch {
		case err != nil: // Completion is silent.
		case len(list) == 1 && list[0] == prefix:
			a.paths.close()
		case tab && len(list) == 1:
			a.takePath()
		case tab && len(list) == 0:
			a.said = "no such path"
		}
		if tab {
			a.completed(err == nil && len(list) == 1)
		}
	})
}

// takePath puts the chosen path into the draft.
func (a *app) takePath() {
	path := a.paths.list[a.paths.at]
	dir := strings.HasSuffix(strings.TrimSuffix(path, `"`), "/")
	if !dir {
		path += " "
	}
	a.draft.complete(a.paths.from, path)
	a.paths.close()
	a.offerPaths(false)
}

// choosePath handles a key while paths are offered; false if it is for others.
func (a *app) choosePath(k keyKind) bool {
	n := len(a.paths.list)
	if n == 0 || a.calls.answering {
		return false
	}
	switch k {
	case keyTab:
		a.takePath()
	case keyUp:
		a.paths.at = (a.paths.at + n - 1) % n
	case keyDown:
		a.paths.at = (a.paths.at + 1) % n
	case keyEscape:
		a.paths.close()
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
