package plugin

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"podd/internal/sanitize"
	"podd/pkg/item"
	"podd/pkg/paths"
	"podd/pkg/scopefs"
)

// bookName is the record's file in the state directory.
const bookName = "plugins.json"

// Book is the plugins that a person added.
type Book struct {
	// Changed, if any, is called after a plugin was added or removed. It is set before use.
	Changed func(ctx context.Context) error

	stateDir string

	mu      sync.Mutex
	plugins map[string]record
	// known are the plugins as they were last looked at.
	known map[string]state
}

// record is a person's decision about one plugin.
type record struct {
	Dir    string    `json:"dir"`
	Digest string    `json:"digest"`
	At     time.Time `json:"at"`
}

// state is a plugin at a time; wrong says why nothing of it counts.
type state struct {
	signature string
	plugin    Plugin
	wrong     string
}

type contents struct {
	Plugins map[string]record `json:"plugins"`
}

// Open reads the record of a state directory.
func Open(stateDir string) (*Book, error) {
	b := &Book{stateDir: stateDir, known: map[string]state{}}
	var c contents
	if err := paths.ReadRecord(filepath.Join(stateDir, bookName), &c); err != nil {
		return nil, failed("use", err)
	}
	if b.plugins = c.Plugins; b.plugins == nil {
		b.plugins = map[string]record{}
	}
	return b, nil
}

func failed(what string, cause error) error {
	e := item.Errorf(item.KindPrecondition, "PLUGIN", "cannot %s the record of plugins: %v", what, cause)
	e.Cause = cause
	return e
}

// Look reads what a directory has, and says whether it was added as it is: added, changed, or new.
func (b *Book) Look(dir string) (p Plugin, state string, err error) {
	if p, err = read(dir, b.stateDir); err != nil {
		return p, "", err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	r, ok := b.plugins[p.Name]
	switch {
	case !ok:
		return p, "new", nil
	case r.Dir == p.Dir && r.Digest == p.Digest:
		return p, "added", nil
	}
	return p, "changed", nil
}

// Add adds a plugin with this digest, in place of one of its name. It is refused if the digest has
// changed: no person has seen it.
func (b *Book) Add(ctx context.Context, dir, digest string, now time.Time) (Plugin, error) {
	p, _, err := b.Look(dir)
	if err != nil {
		return p, err
	}
	if p.Digest != digest {
		return p, item.Errorf(item.KindPrecondition, "PLUGIN_CHANGED", "%s has changed since it was shown: review it again", scopefs.Display(p.Dir))
	}
	if err := os.MkdirAll(filepath.Join(b.stateDir, "plugins", p.Name), 0o700); err != nil {
		return p, failed("write", err)
	}
	return p, b.decide(ctx, p.Name, &record{p.Dir, digest, now.UTC()})
}

// Remove forgets a plugin.
func (b *Book) Remove(ctx context.Context, name string) error {
	b.mu.Lock()
	_, ok := b.plugins[name]
	b.mu.Unlock()
	if !ok {
		return item.Errorf(item.KindNotFound, "NO_PLUGIN", "there is no plugin %s: podctl plugin list names them", sanitize.Word(name))
	}
	return b.decide(ctx, name, nil)
}

// decide stores a decision. One that is not stored has no effect.
func (b *Book) decide(ctx context.Context, name string, r *record) error {
	b.mu.Lock()
	plugins := maps.Clone(b.plugins)
	delete(plugins, name)
	if r != nil {
		plugins[name] = *r
	}
	err := paths.WriteRecord(filepath.Join(b.stateDir, bookName), contents{plugins})
	if err == nil {
		b.plugins = plugins
		delete(b.known, name)
	}
	b.mu.Unlock()
	if err != nil {
		return failed("write", err)
	}
	if b.Changed != nil {
		return b.Changed(ctx)
	}
	return nil
}

// Any says whether a plugin was added.
func (b *Book) Any() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.plugins) > 0
}

// Listed is a plugin that a person added; Wrong says why nothing of it counts.
type Listed struct {
	Plugin
	Wrong string
}

// List looks at all plugins, in the order of their names.
func (b *Book) List() (all []Listed) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(b.plugins)) {
		s := b.look(name, b.plugins[name])
		if s.plugin.Name = name; s.wrong != "" {
			s.plugin = Plugin{Name: name, Dir: b.plugins[name].Dir}
		}
		all = append(all, Listed{s.plugin, s.wrong})
	}
	return all
}

// look looks at a plugin, and reads it only if a file of it may have changed.
func (b *Book) look(name string, r record) state {
	signature, err := digest(r.Dir, true)
	if known, ok := b.known[name]; ok && err == nil && known.signature == signature {
		return known
	}
	s := state{signature: signature}
	again := "podctl plugin add " + sanitize.Word(r.Dir)
	if err == nil {
		s.plugin, err = read(r.Dir, b.stateDir)
	}
	after, _ := digest(r.Dir, true)
	switch {
	case err != nil:
		s.wrong = fmt.Sprintf("the plugin %s cannot be read, so nothing of it runs (%v): mend it and run %s, or podctl plugin rm %s", name, err, again, name)
	case s.plugin.Digest != r.Digest || s.plugin.Name != name || after != signature:
		s.wrong = fmt.Sprintf("the plugin %s has changed since you added it, so nothing of it runs: review it with %s", name, again)
	}
	b.known[name] = s
	return s
}
