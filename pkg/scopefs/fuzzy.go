package scopefs

import (
	"cmp"
	"container/heap"
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/junegunn/fzf/src/algo"
	"github.com/junegunn/fzf/src/util"
)

// maxListed bounds the paths of a listing.
const maxListed = 200_000

// Listing is the paths of a scope as they were when [FS.List] read them: files and
// directories that Walk visits, those near the roots first.
type Listing struct {
	paths []listed
	// text has the bytes of all paths.
	text []byte
}

// listed is a path of a listing.
type listed struct {
	// from is where it begins in the text, size its length, and name the begin of its last
	// element, in bytes.
	from       int
	size, name int32
	// has are the characters of the path, and of the name alone.
	has, nameHas letters
	dir, dots    bool
}

// letters is a set of characters, in which upper and lower case are one. Those beyond ASCII
// are left out.
type letters uint64

func lettersOf(text []byte) (set letters) {
	for _, c := range text {
		switch {
		case c >= 'a' && c <= 'z':
			set |= 1 << (c - 'a')
		case c >= 'A' && c <= 'Z':
			set |= 1 << (c - 'A')
		case c >= '0' && c <= '9':
			set |= 1 << (26 + c - '0')
		case c < 0x80:
			set |= 1 << (36 + c%28)
		}
	}
	return set
}

// List reads the paths of the scope, at most 200,000. When ctx ends it returns those that it
// has.
func (f *FS) List(ctx context.Context) *Listing {
	l := &Listing{}
	for i, r := range f.roots {
		known := func(other *root) bool { _, ok := within(other.names[0], r.names[0]); return ok }
		if r.shown || slices.ContainsFunc(f.roots[:i], known) {
			continue
		}
		f.levels(ctx, r, func(rel string, dir bool) bool {
			l.add(r, rel, dir, i > 0)
			return len(l.paths) < maxListed
		})
	}
	return l
}

// add adds a path below a root. Those outside of the workspace are absolute.
func (l *Listing) add(r *root, rel string, dir, absolute bool) {
	path := rel
	if absolute {
		path = filepath.Join(r.names[0], rel)
	}
	p := listed{
		from: len(l.text), size: int32(len(path)), name: int32(strings.LastIndexByte(path, '/') + 1), //nolint:gosec // A path is short.
		dir: dir, dots: hasHidden(rel),
	}
	l.text = append(l.text, path...)
	p.has, p.nameHas = lettersOf(looks(l.text[p.from:])), lettersOf(looks(l.text[p.from+int(p.name):]))
	l.paths = append(l.paths, p)
}

// looks is what a path looks like.
func looks(text []byte) []byte {
	if !slices.ContainsFunc(text, func(c byte) bool { return c >= utf8.RuneSelf || c == '`' }) {
		return text
	}
	return []byte(look(string(text)))
}

// bytes is a path, or its last element.
func (l *Listing) bytes(p *listed, name bool) []byte {
	whole := l.text[p.from : p.from+int(p.size)]
	if name {
		return whole[p.name:]
	}
	return whole
}

// search adds the paths of a listing that match, the best first.
func (c *completer) search(ctx context.Context, l *Listing, typed string) {
	for _, p := range l.search(ctx, typed, 2*c.limit) { // Rules may deny some.
		name := string(l.bytes(p, false))
		if p.dir {
			name += "/"
		}
		if text, ok := c.written(name); ok && !slices.Contains(c.found, text) {
			c.add(name)
		}
	}
}

// scored is a path that matches, with its score.
type scored struct {
	*listed
	score int
}

// worst is a heap of matches, the worst on top.
type worst []scored

func (w worst) Len() int           { return len(w) }
func (w worst) Less(i, j int) bool { return better(w[j], w[i]) < 0 }
func (w worst) Swap(i, j int)      { w[i], w[j] = w[j], w[i] }
func (w *worst) Push(x any)        { *w = append(*w, x.(scored)) } //nolint:forcetypeassert // only search pushes
func (w *worst) Pop() any {
	last := (*w)[len(*w)-1]
	*w = (*w)[:len(*w)-1]
	return last
}

// better compares matches: by score, then the shorter first, then the one that was listed first.
func better(a, b scored) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.size, b.size), cmp.Compare(a.from, b.from))
}

var initFuzzy = sync.OnceFunc(func() { algo.Init("path") })

// search is the paths that match, the best first: those whose names do, then others.
func (l *Listing) search(ctx context.Context, typed string, limit int) (found []*listed) {
	initFuzzy()
	typed = look(typed)
	q := query{ctx: ctx, of: l, typed: []rune(typed), slab: util.MakeSlab(100<<10, 2<<10), limit: limit, dots: hasHidden(typed)}
	q.exact = strings.ToLower(typed) != typed
	q.has = lettersOf([]byte(typed))
	if !strings.Contains(typed, "/") {
		found = q.best(true)
	}
	if len(found) < limit {
		for _, p := range q.best(false) {
			if !slices.Contains(found, p) {
				found = append(found, p)
			}
		}
	}
	return found[:min(len(found), limit)]
}

// query is a text that paths are compared with.
type query struct {
	ctx   context.Context
	of    *Listing
	typed []rune
	has   letters
	// exact says that case matters, dots that names may begin with a dot.
	exact, dots bool
	slab        *util.Slab
	limit       int
}

// best are the best matches, of names alone or of whole paths.
func (q *query) best(names bool) (found []*listed) {
	var top worst
	for i := range q.of.paths {
		if i%4096 == 0 && q.ctx.Err() != nil {
			break
		}
		p := &q.of.paths[i]
		has, match := p.has, algo.FuzzyMatchV1
		if names {
			has, match = p.nameHas, algo.FuzzyMatchV2
		}
		if q.has&^has != 0 || p.dots && !q.dots {
			continue
		}
		text := util.ToChars(looks(q.of.bytes(p, names)))
		r, _ := match(q.exact, false, true, &text, q.typed, false, q.slab)
		if r.Start < 0 {
			continue
		}
		s := scored{p, r.Score}
		switch {
		case len(top) < q.limit:
			heap.Push(&top, s)
		case better(s, top[0]) < 0:
			top[0] = s
			heap.Fix(&top, 0)
		}
	}
	slices.SortFunc(top, better)
	for _, s := range top {
		found = append(found, s.listed)
	}
	return found
}

// levels calls fn for the directories and regular files below a root that Walk visits, level
// by level, until fn returns false, it has looked at maxListed entries or ctx ends.
func (f *FS) levels(ctx context.Context, root *root, fn func(rel string, dir bool) bool) {
	w := walker{ctx: ctx, fs: f}
	looked := 0
	for queue := []branch{{rel: "."}}; len(queue) > 0 && ctx.Err() == nil; queue = queue[1:] {
		b := queue[0]
		if w.openTop(&b, place{root: root, rel: b.rel, given: b.rel}) != nil {
			continue // It is gone, or not accessible.
		}
		_ = b.dir.Close()
		for _, e := range b.entries {
			if looked++; looked > maxListed {
				return
			}
			rel := path.Join(b.rel, e.Name())
			if b.leavesOut(rel, e) || !e.IsDir() && !e.Type().IsRegular() {
				continue
			}
			if e.IsDir() {
				queue = append(queue, branch{rel: rel, shown: rel, ignoring: b.ignoring})
			}
			if !fn(rel, e.IsDir()) {
				return
			}
		}
	}
}
