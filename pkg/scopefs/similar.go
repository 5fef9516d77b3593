package scopefs

import (
	"context"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
)

// maxSimilar bounds the entries that a search for similar names visits.
const maxSimilar = 20_000

// similar adds files of the workspace that resemble the typed text. It goes through the
// workspace level by level, so that the bound cuts off distant files, not those late in
// the alphabet.
func (c *completer) similar(ctx context.Context) {
	l := likeness{base: c.base, folded: strings.ToLower(look(c.base))}
	if dir := path.Clean(c.dir); dir != "." {
		l.dir = dir + "/"
	}
	// No file of the workspace is in a directory outside of it.
	if filepath.IsAbs(c.dir) || strings.HasPrefix(l.dir, "../") {
		return
	}
	var like [unlike][]string
	c.levels(ctx, c.fs.roots[0], maxSimilar, hasHidden(l.dir+l.base), func(rel string, dir bool) bool {
		if dir {
			return true
		}
		if n := l.of(rel); n < unlike && len(like[n]) < c.limit {
			like[n] = append(like[n], rel)
		}
		return len(like[0]) < c.limit
	})
	for _, names := range like {
		for _, name := range names {
			c.add(name)
		}
	}
}

// likeness compares files with the typed text.
type likeness struct {
	// dir is empty or ends with a slash.
	dir, base, folded string
}

// unlike is the likeness of files that do not resemble it.
const unlike = 3

// of is how well a path matches, 0 being the best.
func (l likeness) of(rel string) int {
	dir, name := path.Split(rel)
	if !strings.HasSuffix("/"+dir, "/"+l.dir) && l.dir != "" {
		return unlike
	}
	folded := strings.ToLower(look(name))
	switch {
	case hasLook(name, l.base):
		return 0
	case strings.HasPrefix(folded, l.folded):
		return 1
	case strings.Contains(folded, l.folded):
		return 2
	}
	return unlike
}

// levels calls fn for the directories and regular files below a root that Walk visits, level
// by level, until fn returns false, it has looked at most entries or ctx ends. It skips names
// that begin with a dot unless dots is set.
func (c *completer) levels(ctx context.Context, root *root, most int, dots bool, fn func(rel string, dir bool) bool) {
	w := walker{ctx: ctx, fs: c.fs}
	looked := 0
	for queue := []branch{{rel: "."}}; len(queue) > 0 && ctx.Err() == nil; queue = queue[1:] {
		b := queue[0]
		if w.openTop(&b, place{root: root, rel: b.rel, given: b.rel}) != nil {
			continue // It is gone, or not accessible.
		}
		_ = b.dir.Close()
		for _, e := range b.entries {
			if looked++; looked > most {
				return
			}
			rel := path.Join(b.rel, e.Name())
			dir, visited := b.visited(rel, e, dots)
			if dir {
				queue = append(queue, branch{rel: rel, shown: rel, ignoring: b.ignoring})
			}
			if visited && !fn(rel, dir) {
				return
			}
		}
	}
}

// visited says whether levels visits an entry, and whether that is a directory.
func (b *branch) visited(rel string, e fs.DirEntry, dots bool) (dir, visited bool) {
	if b.leavesOut(rel, e) || !dots && strings.HasPrefix(e.Name(), ".") {
		return false, false
	}
	return e.IsDir(), e.IsDir() || e.Type().IsRegular()
}
