package git

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Bounds of what is read of a repository's references. Of one beyond them nothing is known.
const (
	maxRefs     = 50_000
	maxRefDepth = 20
	maxRef      = 4 << 10
	maxPacked   = 16 << 20
	// manyLoose is how many references of a directory are read again only if its own time changed.
	manyLoose = 256
	// settled is how old the time of a change has to be before the file is taken as unchanged: clocks of
	// file systems move in steps.
	settled = 20 * time.Millisecond
)

// Refs are the HEAD, the branches, the tags and the stash of a repository at a moment, and what git has begun
// there and not ended.
type Refs struct {
	head string
	// loose maps the name of each loose reference, or of what has not ended, to its file. packed is the file packed-refs. stash is the
	// log of the stash.
	loose         map[string]*refFile
	dirs          map[string]*refDir
	packed, stash *refFile
}

// refStamp is what a file or a directory was when it was read; sure says that it shows every later change.
type refStamp struct {
	info os.FileInfo
	sure bool
}

func stampOf(path string) (refStamp, error) {
	began := time.Now()
	info, err := os.Lstat(path)
	if err != nil {
		return refStamp{}, err
	}
	return refStamp{info, began.Sub(info.ModTime()) > settled}, nil
}

// same says that nothing changed until another one.
func (s refStamp) same(now refStamp) bool {
	return s.sure && os.SameFile(s.info, now.info) && s.info.ModTime().Equal(now.info.ModTime()) && s.info.Size() == now.info.Size()
}

// refFile is a file that has references.
type refFile struct {
	refStamp
	refs map[string]string
}

// refDir is a directory of loose references: their names, and the directories in it.
type refDir struct {
	refStamp
	names, dirs []string
}

// Stash begins the name of an entry of the stash, which ends in its commit: the number of an entry changes.
const Stash = "refs/stash@"

// The names of branches and tags begin so.
const (
	Branches = "refs/heads/"
	Tags     = "refs/tags/"
)

// Rebase names a rebase that has not ended, with the commit that it began with. A merge has the name MERGE_HEAD, with
// the commit that it merges; so have a cherry-pick and a revert.
const Rebase = "REBASE_HEAD"

// ReadRefs reads those of the repository with this working tree. It starts no git, and reads again only what
// changed since an earlier moment, which may be nil. It is nil without a repository, and where the references
// are too many or are kept in another format than files.
func ReadRefs(tree string, before *Refs) *Refs {
	_, dirs, ok := dirsOf(tree)
	if !ok || len(dirs) == 0 {
		return nil
	}
	own, common := dirs[0], dirs[len(dirs)-1]
	if before == nil {
		before = new(Refs)
	}
	now := &Refs{loose: make(map[string]*refFile), dirs: make(map[string]*refDir)}
	now.head = line(filepath.Join(own, "HEAD"))
	if !isCommit(now.head) && (!isRef(now.branch()) || exists(filepath.Join(common, "reftable"))) {
		return nil
	}
	now.begun(own, before)
	for _, kind := range []string{"refs/heads", "refs/tags"} {
		if !now.walk(common, kind, before, 0) {
			return nil
		}
	}
	// Packing writes this file before it removes the others: one of them is seen.
	if now.packed, ok = before.packed.again(filepath.Join(common, "packed-refs"), maxPacked, packedRefs); !ok {
		return nil
	}
	if now.stash, ok = before.stash.again(filepath.Join(common, "logs", "refs", "stash"), maxPacked, stashed); !ok {
		return nil
	}
	if len(now.loose)+len(now.packed.all()) > maxRefs {
		return nil
	}
	return now
}

// Enclosing is the nearest directory, this one or one above it, that has a repository; empty without one.
func Enclosing(dir string) string {
	for ; ; dir = filepath.Dir(dir) {
		if exists(filepath.Join(dir, ".git")) {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// begun reads what git has begun and not ended. A rebase may contain one of the others.
func (r *Refs) begun(own string, before *Refs) {
	for _, name := range []string{"rebase-merge/orig-head", "rebase-apply/orig-head", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"} {
		ref := name
		if strings.HasPrefix(name, "rebase") {
			ref = Rebase
		}
		if f, _ := before.loose[ref].again(filepath.Join(own, filepath.FromSlash(name)), maxRef, loose(ref)); f != nil {
			r.loose[ref] = f
			return
		}
	}
}

// walk reads the loose references of a directory. It is false if there are too many.
func (r *Refs) walk(common, rel string, before *Refs, depth int) bool {
	at := filepath.Join(common, filepath.FromSlash(rel))
	stamp, err := stampOf(at)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if err != nil || depth > maxRefDepth {
		return false
	}
	d := before.dirs[rel]
	// git replaces files, which shows in the time of the directory; other programs write to files of a few.
	known := d != nil && len(d.names) > manyLoose && stamp.info.IsDir() && d.same(stamp)
	if !known {
		if d, err = readRefDir(at, rel); err != nil || len(r.loose)+len(d.names) > maxRefs {
			return false
		}
		d.refStamp = stamp
	}
	r.dirs[rel] = d
	for _, name := range d.names {
		f, ok := before.loose[name], true
		if !known {
			f, ok = f.again(filepath.Join(common, filepath.FromSlash(name)), maxRef, loose(name))
		}
		if ok && f != nil {
			r.loose[name] = f
		}
	}
	return !slices.ContainsFunc(d.dirs, func(name string) bool { return !r.walk(common, name, before, depth+1) })
}

func readRefDir(at, rel string) (*refDir, error) {
	entries, err := os.ReadDir(at)
	if err != nil {
		return nil, err
	}
	d := new(refDir)
	for _, e := range entries {
		name := path.Join(rel, e.Name())
		switch {
		case e.IsDir():
			d.dirs = append(d.dirs, name)
		case isRef(name) && !strings.HasSuffix(name, ".lock"):
			d.names = append(d.names, name)
		}
	}
	return d, nil
}

// again reads the file if it changed. It returns nil if the file does not exist, and false if it is too large.
func (f *refFile) again(path string, limit int64, parse func(text string) map[string]string) (*refFile, bool) {
	stamp, err := stampOf(path)
	if err != nil || !stamp.info.Mode().IsRegular() {
		return nil, true
	}
	if f != nil && f.same(stamp) {
		return f, true
	}
	if stamp.info.Size() > limit {
		return nil, false
	}
	return &refFile{stamp, parse(readUpTo(path, limit))}, true
}

func (f *refFile) all() map[string]string {
	if f == nil {
		return nil
	}
	return f.refs
}

// loose reads the file of one reference, of a merge of several commits the first one. One that names another
// reference is left out.
func loose(name string) func(text string) map[string]string {
	return func(text string) map[string]string {
		text, _, _ = strings.Cut(text, "\n")
		if text = strings.TrimSpace(text); isCommit(text) {
			return map[string]string{name: text}
		}
		return nil
	}
}

// packedRefs reads the file of many.
func packedRefs(text string) map[string]string {
	refs := make(map[string]string)
	for l := range strings.Lines(text) {
		hash, name, ok := strings.Cut(strings.TrimSuffix(l, "\n"), " ")
		if ok && isCommit(hash) && isRef(name) && (strings.HasPrefix(name, Branches) || strings.HasPrefix(name, Tags)) {
			refs[name] = hash
		}
	}
	return refs
}

// stashed are the entries of the stash, the newest last.
func stashed(text string) map[string]string {
	refs := make(map[string]string)
	for l := range strings.Lines(text) {
		if words := strings.Fields(l); len(words) > 1 && isCommit(words[1]) {
			refs[Stash+words[1]] = words[1]
		}
	}
	return refs
}

// branch is what HEAD names; empty for a commit.
func (r *Refs) branch() string {
	name, ok := strings.CutPrefix(r.head, "ref: ")
	if !ok {
		return ""
	}
	return strings.TrimSpace(name)
}

// At returns the commit or the object that a reference names, or "" if the reference does not exist.
func (r *Refs) At(ref string) string {
	if strings.HasPrefix(ref, Stash) {
		return r.stash.all()[ref]
	}
	if f := r.loose[ref]; f.all() != nil {
		return f.refs[ref]
	}
	return r.packed.all()[ref]
}

// Head are the branch that HEAD names, empty if it names a commit, and the commit, empty if the branch has
// none.
func (r *Refs) Head() (branch, commit string) {
	if branch = r.branch(); branch != "" {
		return branch, r.At(branch)
	}
	return "", r.head
}

// Move is a reference that is elsewhere than before.
type Move struct {
	// Ref is HEAD, or the full name of a branch or a tag, or Stash with an entry of the stash, or Rebase or
	// another name of what has not ended.
	Ref string
	// Old and New are the commits, or for tags the objects; empty for none.
	Old, New string
	// OldBranch and NewBranch are what HEAD named; empty for a commit, and for other references.
	OldBranch, NewBranch string
}

// Since are the references that moved since an earlier moment, in the order of their names.
func (r *Refs) Since(before *Refs) (moves []Move) {
	oldBranch, old := before.Head()
	branch, commit := r.Head()
	if oldBranch != branch || old != commit {
		moves = append(moves, Move{"HEAD", old, commit, oldBranch, branch})
	}
	names := make(map[string]bool)
	for _, pair := range [][2]*Refs{{before, r}, {r, before}} {
		for name, f := range pair[0].loose {
			if f != pair[1].loose[name] {
				names[name] = true
			}
		}
		differing(names, pair[0].packed, pair[1].packed)
		differing(names, pair[0].stash, pair[1].stash)
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if was, is := before.At(name), r.At(name); was != is {
			moves = append(moves, Move{Ref: name, Old: was, New: is})
		}
	}
	return moves
}

// differing adds the names that one file has otherwise than another.
func differing(names map[string]bool, a, b *refFile) {
	if a == b {
		return
	}
	other := b.all()
	for name, at := range a.all() {
		if other[name] != at {
			names[name] = true
		}
	}
}

// isCommit says whether a text is the name of an object: a SHA-1 or a SHA-256.
func isCommit(text string) bool {
	return (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0123456789abcdef") == "" && strings.Trim(text, "0") != ""
}

// isRef says whether git accepts a text as the name of a reference that can be shown. Where references are kept
// in another format, HEAD names "refs/heads/.invalid".
func isRef(name string) bool {
	const never = " ~^:?*[\\"
	return strings.HasPrefix(name, "refs/") && utf8.ValidString(name) && !strings.ContainsAny(name, never) && !strings.Contains(name, "..") &&
		!strings.Contains(name, "/.") && !strings.Contains(name, "//") && !strings.HasSuffix(name, "/") && !strings.ContainsFunc(name, unicode.IsControl)
}

// line is the first line of a small file.
func line(path string) string {
	first, _, _ := bytes.Cut([]byte(readUpTo(path, maxRef)), []byte{'\n'})
	return strings.TrimSpace(string(first))
}
