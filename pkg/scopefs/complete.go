package scopefs

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

const (
	// usualCompletions is the default number of completions, and maxCompletions the maximum.
	usualCompletions = 50
	maxCompletions   = 1000
)

// Complete completes a reference from the text after its @: a path relative to the
// workspace or absolute, or one in quotes that are open or closed. Each completion can
// replace that text, as [ParseRefs] reads it: with the directory as it was typed, in
// quotes if the path needs them or the prefix has them, and with a trailing slash for a
// directory.
//
// Completions are the entries of the typed directory that begin with the rest, or look as if
// they did ([FS.Alike]), sorted by name. On the way to a root of the scope that is elsewhere, it is that root. Complete
// omits what a reference cannot name: what a [FS.Guarded] does not read, pipes and the
// like, links that lead nowhere or out of the scope, and names with invisible characters.
// It omits names that begin with a dot unless the typed one does, and what Walk omits
// unless there is nothing else or the typed directory is omitted itself.
//
// After those that begin with the prefix come the paths of a listing, if there is one, that have
// its characters in their order, the best first, and those whose last element has them before
// others. An upper-case letter is about that case. Names that begin with a dot are omitted unless
// the text has such a name. The search ends with ctx; it returns what it has found by then.
//
// At most limit completions are returned: 50 for zero or less, never more than 1000.
// A path that leads nowhere has none and is no error. An error is a *PathError: the
// directory is TooLarge, or its system failed.
func (f *FS) Complete(ctx context.Context, l *Listing, prefix string, limit int) ([]string, error) {
	if limit <= 0 {
		limit = usualCompletions
	}
	typed, quoted := typedPath(prefix)
	dir, base := typed, ""
	if path.Base(typed) != ".." {
		dir, base = path.Split(typed)
	} else if !strings.HasSuffix(dir, "/") {
		dir += "/"
	}
	c := completer{fs: f, dir: dir, base: base, quoted: quoted, limit: min(limit, maxCompletions)}
	exists, err := c.direct()
	if err == nil && l != nil && (base != "" || !exists) && path.Base(typed) != ".." {
		c.search(ctx, l, typed)
	}
	return c.found, err
}

// typedPath is the path that a prefix means, and whether it has quotes. Text after a
// closing quote belongs to the path: a user who continues after a completed directory
// need not move into the quotes first.
func typedPath(prefix string) (typed string, quoted bool) {
	rest, quoted := strings.CutPrefix(prefix, `"`)
	if !quoted {
		return prefix, false
	}
	var b strings.Builder
	for i := 0; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '\\' && i+1 < len(rest) && (rest[i+1] == '\\' || rest[i+1] == '"'):
			i++
			b.WriteByte(rest[i])
		case c == '"':
			return b.String() + rest[i+1:], true
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), true
}

// completer is one prefix and the completions found for it.
type completer struct {
	fs *FS
	// dir is empty or ends with a slash, base is the text after it; both as typed.
	dir, base string
	quoted    bool
	limit     int
	found     []string
}

// full says that no more completions are wanted.
func (c *completer) full() bool { return len(c.found) >= c.limit }

// written is a path as text after an @; ok is false for one that cannot be written so.
func (c *completer) written(name string) (text string, ok bool) {
	text = name
	if c.quoted || !bare(name) {
		text = quote(name)
	}
	return text, len(text) <= maxRefBytes && !strings.ContainsFunc(name, invisible)
}

func (c *completer) add(name string) {
	text, ok := c.written(name)
	if _, err := c.fs.allowed(name); ok && err == nil && !c.full() {
		c.found = append(c.found, text)
	}
}

// direct finds the paths that begin with the prefix, and says whether the typed directory
// exists.
func (c *completer) direct() (exists bool, err error) {
	b, all, err := c.listing()
	e, _ := errors.AsType[*PathError](err)
	switch {
	case e != nil && e.Kind == OutOfScope:
		c.roots()
		return false, nil
	case e != nil && (e.Kind == NotFound || e.Kind == Refused), errors.Is(err, syscall.ENAMETOOLONG):
		return false, nil
	case err != nil:
		return false, err
	}
	c.entries(&b, all)
	if len(c.found) == 0 && !all {
		c.entries(&b, true)
	}
	return true, nil
}

// entries adds the entries of the typed directory that fit; with all, it includes those
// that a walk omits.
func (c *completer) entries(b *branch, all bool) {
	for _, e := range b.entries {
		name := e.Name()
		if c.full() {
			return
		}
		if !hasLook(name, c.base) || hidden(name, c.base) || !all && b.leavesOut(path.Join(b.rel, name), e) {
			continue
		}
		mode := e.Type()
		if mode == fs.ModeSymlink {
			info, err := c.fs.Stat(c.dir + name)
			if err != nil {
				continue
			}
			mode = info.Mode()
		}
		switch {
		case mode.IsDir():
			c.add(c.dir + name + "/")
		case mode.IsRegular():
			c.add(c.dir + name)
		}
	}
}

// roots adds the roots that the typed directory, which is not in the scope, leads to. A
// relative path is in the workspace already.
func (c *completer) roots() {
	above := c.fs.abs(c.dir)
	roots := c.fs.roots
	if !filepath.IsAbs(c.dir) {
		roots = roots[1:]
	}
	var names []string
	for _, r := range roots {
		for _, name := range r.names {
			rel, ok := within(above, name)
			if ok && strings.HasPrefix(rel, c.base) && (!hasHidden(rel) || strings.HasPrefix(c.base, ".")) {
				names = append(names, c.dir+rel+"/")
			}
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		c.add(name)
	}
}

// hidden says whether to omit a name for this typed beginning.
func hidden(name, typed string) bool {
	return strings.HasPrefix(name, ".") && !strings.HasPrefix(typed, ".")
}

// hasHidden says whether a path has a name that begins with a dot.
func hasHidden(path string) bool { return strings.Contains("/"+path, "/.") }

// listing reads the typed directory as Walk does and closes it. ignored says that Walk
// would not reach it by itself.
func (c *completer) listing() (b branch, ignored bool, err error) {
	f := c.fs
	if dir, err := f.Alike(strings.TrimSuffix(c.dir, "/")); err == nil && c.dir != "" && dir != strings.TrimSuffix(c.dir, "/") {
		c.dir = dir + "/"
	}
	dir := c.dir
	p, err := f.locate(dir)
	if err != nil {
		return b, false, err
	}
	info, err := f.stat(p)
	if err != nil {
		return b, false, err
	}
	if !info.IsDir() {
		return b, false, &PathError{Kind: NotFound, Path: dir}
	}
	if p, err = f.follow(p, true); err != nil {
		return b, false, err
	}
	b = branch{rel: p.rel, shown: f.Rel(dir)}
	b.ignoring, ignored = rulesAbove(p)
	w := walker{fs: f}
	if err := w.openTop(&b, p); err != nil {
		return b, false, f.wrap(dir, err)
	}
	return b, ignored && !b.has(gitDir), b.dir.Close()
}
