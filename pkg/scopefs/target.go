package scopefs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
)

// Target is where a path leads at one moment, with links followed: policy decides with it
// on a call that names the path. [FS.Bound] limits the call to it.
type Target struct {
	// named is the path as FS.Rel shows it, leads are the other paths that it then is.
	named string
	leads []string
	// file is the path's target, entry the name itself: a link if the last element is one.
	// broken says why the path leads nowhere in the scope.
	file, entry spot
	broken      string
}

// spot is one name in one directory.
type spot struct {
	place
	// held is the deepest existing directory on the way, relative to the root, and id
	// identifies it.
	held, id string
	// protected is why a change needs approval; empty if it does not, and for a target that
	// is only read.
	protected string
}

// Target looks up where a path leads now, for a call that reads it. A path that leads out
// of the scope has a Target too: a call bound to it fails as it would without.
func (f *FS) Target(path string) Target { return f.target(path, false) }

// ChangeTarget is Target for a call that changes the path: it also says what protects the
// path.
func (f *FS) ChangeTarget(path string) Target { return f.target(path, true) }

// target is Target and ChangeTarget.
func (s *scope) target(path string, changes bool) Target {
	t := Target{named: s.Rel(path)}
	named, err := s.locate(path)
	if err == nil {
		t.file, err = s.spot(named, true, changes)
	}
	if err == nil {
		t.entry, err = s.spot(named, false, changes)
	}
	if err != nil {
		return Target{named: t.named, broken: err.Error()}
	}
	for _, to := range []spot{t.file, t.entry} {
		for _, name := range to.names {
			if p := s.Rel(filepath.Join(name, to.rel)); p != t.named && !slices.Contains(t.leads, p) {
				t.leads = append(t.leads, p)
			}
		}
	}
	return t
}

// spot is the target of a place that is changed or only read, with links followed: all,
// or all but the last element.
func (s *scope) spot(named place, last, changes bool) (spot, error) {
	p, err := s.led(named, last)
	if err != nil {
		return spot{}, err
	}
	found := spot{place: p}
	if changes {
		found.protected, _ = protects(named, p)
	}
	top, err := p.Stat(".")
	if err != nil {
		return found, err
	}
	ways := p.rel + "/"
	if !last {
		ways = path.Dir(p.rel) + "/"
	}
	for at := range parents(ways) {
		info, err := p.Stat(at)
		if err != nil || !info.IsDir() {
			break
		}
		found.held, found.id = at, identityOf(info, top)
	}
	return found, nil
}

// led follows the links of a place in a root, and finds the root of the result.
func (s *scope) led(named place, last bool) (place, error) {
	p, err := s.follow(named, last)
	if err != nil {
		return p, err
	}
	if p, err = s.locate(p.abs()); err != nil {
		return p, err
	}
	p.given = named.given
	return p, nil
}

// identityOf identifies a directory on its file system, and distinguishes it from those
// on other file systems than that of top.
func identityOf(info, top fs.FileInfo) string {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "?"
	}
	// The device of a root may have another number after a reboot.
	if first, ok := top.Sys().(*syscall.Stat_t); ok && first.Dev == stat.Dev {
		return fmt.Sprint(stat.Ino)
	}
	return fmt.Sprint(stat.Dev, ":", stat.Ino)
}

// Named is the path in the call, as [FS.Rel] shows it.
func (t Target) Named() string { return t.named }

// Leads are the other paths that the named one becomes when its links are followed, the
// file's first; empty if it leads to itself.
func (t Target) Leads() []string { return t.leads }

// Protected says why a change of the path needs a person's approval, as [FS.Protected]
// does. A target that is only read does not have the reason.
func (t Target) Protected() (why string, protected bool) {
	why = cmp.Or(t.entry.protected, t.file.protected)
	return why, why != ""
}

// Seal is the target in one line: it differs for any two targets.
func (t Target) Seal() string {
	if t.broken != "" {
		return fmt.Sprintf("%q %q", t.named, t.broken)
	}
	return fmt.Sprintf("%q %s %s", t.named, t.file.seal(), t.entry.seal())
}

func (s spot) seal() string { return fmt.Sprintf("%q %q %s %q", s.abs(), s.held, s.id, s.protected) }

// Still says whether the path leads where it led earlier: missing directories may exist
// by now, unless they contain something protected.
func (t Target) Still(earlier Target) bool {
	return t.Seal() == earlier.Seal() ||
		t.broken == "" && earlier.broken == "" && t.named == earlier.named && t.file.still(earlier.file) && t.entry.still(earlier.entry)
}

func (s spot) still(earlier spot) bool {
	if s.root != earlier.root || s.rel != earlier.rel || s.protected != "" || earlier.protected != "" {
		return false
	}
	top, err := s.Stat(".")
	if err != nil {
		return false
	}
	info, err := s.Stat(earlier.held)
	return err == nil && identityOf(info, top) == earlier.id
}

// bound is what a call is limited to.
type bound struct {
	targets map[string]Target

	mu sync.Mutex
	// made are the directories created on the way to a target.
	made []fs.FileInfo
}

// Bound is f for one call that was decided on with these targets. A path must lead where
// its target says, and only the targets can change; files below one may be read. If a
// path leads elsewhere by now, the error is of kind [Changed], and nothing was done. Do
// not close a Bound.
func (f *FS) Bound(targets []Target) *FS {
	to := *f
	to.bound = &bound{targets: make(map[string]Target, len(targets))}
	for _, t := range targets {
		to.bound.targets[t.named] = t
	}
	return &to
}

// find is the target with which a path, or a directory above it, was decided on; rest is
// the path below that.
func (b *bound) find(named string) (t Target, rest string, ok bool) {
	for at := named; ; at = path.Dir(at) {
		if t, ok = b.targets[at]; ok {
			if rest = named; at != "." {
				rest, _ = within(at, named)
			}
			return t, rest, true
		}
		if at == "." || at == "/" {
			return Target{}, ".", false
		}
	}
}

// changed is the error of a path that does not lead where it did when it was decided on.
func changed(given string) error {
	return sayf(Changed, given, nil, "now leads to another file than when the call was checked, so nothing was done: check where it leads, then call again")
}

// decided is where a place was decided to lead, with its spot. last false is for the name
// itself, write for a change.
func (f *FS) decided(p place, last, write bool) (place, error) {
	t, rest, ok := f.bound.find(f.Rel(p.given))
	if !ok || write && rest != "." {
		return p, sayf(IO, p.given, nil, "is not one of the paths that were checked for this call")
	}
	s := t.file
	if !last {
		s = t.entry
	}
	if rest != "." && t.broken == "" {
		// A walk follows no links: strictly below, a path has none.
		at := s.place
		at.rel, at.given, at.spot = path.Join(s.rel, rest), p.given, &s
		return at, nil
	}
	now, err := f.led(p, last)
	if err != nil {
		return p, err
	}
	if now.root != s.root || now.rel != s.rel {
		return p, changed(p.given)
	}
	now.spot = &s
	return now, nil
}

// passes checks a directory opened on the way to a decided target: at is its path in the
// root.
func (o opening) passes(dir *os.Root, at string) error {
	s := o.spot
	if s == nil {
		return nil
	}
	if at == s.held {
		top, err := s.Stat(".")
		if err != nil {
			return err
		}
		info, err := dir.Stat(".")
		if err == nil && identityOf(info, top) != s.id {
			err = changed(s.given)
		}
		return err
	}
	if s.protected == "" || !s.missed(at) {
		return nil
	}
	// Its creator may have put a repository there.
	info, err := dir.Stat(".")
	if err == nil && !o.fs.bound.has(info) {
		err = changed(s.given)
	}
	return err
}

// moved says whether it may be the error of a directory that no longer exists.
func (s *scope) moved(err error) bool {
	gone := []error{errSwapped, fs.ErrNotExist, syscall.ENOTDIR, syscall.ELOOP, s.escapes}
	return slices.ContainsFunc(gone, func(is error) bool { return errors.Is(err, is) })
}

// missed says whether a directory on the way to the spot did not exist yet.
func (s *spot) missed(at string) bool {
	return at != s.held && inside(s.held, at) && inside(at, path.Dir(s.rel))
}

// inside says whether the path at in a root is, or is in, dir.
func inside(dir, at string) bool {
	_, ok := within(dir, at)
	return ok || dir == "."
}

// has says whether a directory was created on the way to a target.
func (b *bound) has(info fs.FileInfo) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.made, func(made fs.FileInfo) bool { return os.SameFile(made, info) })
}

// note records a created directory.
func (b *bound) note(info fs.FileInfo) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.made = append(b.made, info)
}
