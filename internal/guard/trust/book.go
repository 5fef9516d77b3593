package trust

import (
	"maps"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"podd/pkg/item"
	"podd/pkg/paths"
	"podd/pkg/scopefs"
)

// bookName is the record's file in the state directory.
const bookName = "trust.json"

// Book records what is trusted. Its methods may be called from any goroutine.
type Book struct {
	// Checkouts is a directory in a hidden one; see [scopefs.Config]. It is set before use.
	Checkouts string
	// Changed, if any, is called after each decision of a person. It is set before use.
	Changed func()
	// HookFiles are the files of a workspace, below its directory, that may have hooks; nil means
	// none. It is set before use.
	HookFiles func() []string

	path   string
	hidden []string
	parser Parser

	mu   sync.Mutex
	dirs map[string]record
}

// record is a person's decision about one directory.
type record struct {
	Digest string    `json:"digest"`
	At     time.Time `json:"at"`
	// Config is the trusted configuration: its rules apply until that person decides
	// otherwise.
	Config string `json:"config,omitempty"`
}

// contents are the record in its stored form.
type contents struct {
	Dirs map[string]record `json:"dirs"`
}

// Open reads the record of a state directory, which need not exist yet. hidden are podd's
// own files, which are never treated as a workspace's.
func Open(stateDir string, hidden []string, parser Parser) (*Book, error) {
	b := &Book{path: filepath.Join(stateDir, bookName), hidden: hidden, parser: parser, dirs: map[string]record{}}
	var c contents
	if err := paths.ReadRecord(b.path, &c); err != nil {
		e := item.Errorf(item.KindPrecondition, "TRUST", "cannot use the record of trusted directories %s (%v): repair or remove it; without it nothing is trusted", b.path, err)
		e.Cause = err
		return nil, e
	}
	if c.Dirs != nil {
		b.dirs = c.Dirs
	}
	return b, nil
}

// Look returns a workspace's files and whether they are trusted.
func (b *Book) Look(dir string) (Look, error) {
	look, err := b.files(dir)
	if err != nil {
		return Look{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	look.State = b.state(look)
	return look, nil
}

// state compares a look with the record.
func (b *Book) state(look Look) State {
	known, ok := b.dirs[look.Dir]
	switch {
	case look.Digest == "" && !ok:
		return None
	case !ok:
		return Never
	case known.Digest != look.Digest:
		return Changed
	}
	return Trusted
}

// Trust records that a person trusts the files with this digest. It is refused if their
// digest has changed: no person has seen them.
func (b *Book) Trust(dir, digest string, now time.Time) (Look, error) {
	look, err := b.files(dir)
	switch {
	case err != nil:
		return Look{}, err
	case look.Digest == "":
		return Look{}, item.Errorf(item.KindPrecondition, "NOTHING_TO_TRUST", "%s has no .podd/config.toml, .mcp.json or hooks, so there is nothing to trust", scopefs.Display(look.Dir))
	case look.Digest != digest:
		return Look{}, item.Errorf(item.KindPrecondition, "PROJECT_CHANGED", "the files of %s have changed since they were shown: review them again", scopefs.Display(look.Dir))
	}
	if p, refused := look.Follows(); len(refused) > 0 && p.Instructions == "" && len(p.Rules)+len(p.Servers)+len(p.Hooks) == 0 {
		return Look{}, item.Errorf(item.KindPrecondition, "NOTHING_TO_TRUST", "podd would ignore everything in the files of %s: fix them first: %s",
			names(look), strings.Join(refused, "; "))
	}
	look.State = Trusted
	return look, b.decide(look.Dir, &record{Digest: digest, At: now.UTC(), Config: look.config()})
}

// Remove withdraws the trust in a directory, which need not exist any more.
func (b *Book) Remove(dir string) (Look, error) {
	dir = filepath.Clean(resolved(dir))
	return Look{Dir: dir, State: Never}, b.decide(dir, nil)
}

// decide stores a decision.
func (b *Book) decide(dir string, r *record) error {
	if err := b.write(dir, r); err != nil {
		return err
	}
	if b.Changed != nil {
		b.Changed()
	}
	return nil
}

// write stores the record with one directory changed; nil removes it. A change that is
// not stored has no effect.
func (b *Book) write(dir string, r *record) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	dirs := maps.Clone(b.dirs)
	delete(dirs, dir)
	if r != nil {
		dirs[dir] = *r
	}
	if err := paths.WriteRecord(b.path, contents{dirs}); err != nil {
		e := item.Errorf(item.KindPrecondition, "TRUST", "cannot write the record of trusted directories %s: %v", b.path, err)
		e.Cause = err
		return e
	}
	b.dirs = dirs
	return nil
}
