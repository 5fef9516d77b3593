package scopefs

import (
	"path"
	"strings"
)

// Typos distinguishes a mistyped reference, which leads to nothing, from text that only
// looks like one: @pytest.fixture, @types/node, @alice. It is for one goroutine and one
// moment.
type Typos struct {
	fs *FS
	// endings are those of the names in the workspace itself; nil before they are read.
	endings map[string]bool
}

// NewTypos looks at the scope of f.
func NewTypos(f *FS) *Typos { return &Typos{fs: f} }

// Has says whether a reference to nothing was meant as one: it is in quotes or has a
// range, it begins with a dot or a slash or ends with one, its first directory exists, or
// a file of the workspace itself has its ending.
func (t *Typos) Has(p Piece) bool {
	name := p.Ref.Path
	if p.Ref.StartLine != 0 || strings.HasPrefix(p.Source, `@"`) || strings.HasPrefix(name, ".") ||
		strings.HasPrefix(name, "/") || strings.HasSuffix(name, "/") {
		return true
	}
	if first, _, nested := strings.Cut(name, "/"); nested {
		return t.fs.ExistsRef(first)
	}
	ending := path.Ext(name)
	return ending != "" && t.known()[ending]
}

// known reads the endings. A workspace that can't be read has none.
func (t *Typos) known() map[string]bool {
	if t.endings == nil {
		t.endings = make(map[string]bool)
		entries, _ := t.fs.ReadDir(".")
		for _, e := range entries {
			t.endings[path.Ext(e.Name())] = true
		}
	}
	return t.endings
}
