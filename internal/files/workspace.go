package files

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"golang.org/x/sys/unix"

	"podd/pkg/item"
	"podd/pkg/scopefs/git"
)

// StoreConfig configures Stores.
type StoreConfig struct {
	// Dir has a repository for each directory that has checkpoints.
	Dir string
	// Hidden are absolute paths that no checkpoint has: podd's own files.
	Hidden []string
	// Node is the name of this node; empty if one podd has all pods.
	Node string
	// Home is the person's home directory: there, as in the root, only named files are
	// covered.
	Home string
	// Room is how many bytes the checkpoints of a directory have before the oldest go; 0 means
	// 4 GiB.
	Room int64
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Stores are the checkpoints of all directories. Any goroutine may call the methods.
type Stores struct {
	StoreConfig
	mu   sync.Mutex
	open map[string]*Workspace
}

// NewStores makes Stores. It reads nothing.
func NewStores(c StoreConfig) *Stores {
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Room = cmp.Or(c.Room, maxBytes)
	return &Stores{StoreConfig: c, open: make(map[string]*Workspace)}
}

// Of are the checkpoints of a directory, given by its real path. The same directory has
// the same Workspace until Rest.
func (s *Stores) Of(dir string) *Workspace {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.open[dir]
	if w == nil {
		w = &Workspace{all: s, dir: dir, path: s.place(dir)}
		s.open[dir] = w
	}
	w.users++
	return w
}

// forget drops a directory that has no user.
func (s *Stores) forget(w *Workspace) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.users <= 0 {
		delete(s.open, w.dir)
	}
}

// place is the repository of a directory: its name, so that a person finds it, and a sum.
func (s *Stores) place(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, filepath.Base(dir))
	return filepath.Join(s.Dir, name[:min(len(name), 40)]+"-"+hex.EncodeToString(sum[:8])+".git")
}

// Workspace is the checkpoints of one directory.
type Workspace struct {
	all       *Stores
	dir, path string
	// users counts the callers of Of; Stores.mu guards it.
	users int

	// mu is held while the directory is read or written.
	mu   sync.Mutex
	repo *repo
	// now is what the last look found, with the stamps of files; nil when it has to be read. by is the pod for which
	// it was.
	now *node
	by  string
	// tips are the last checkpoints of pods, as far as they are known.
	tips map[string]tip
	// lefts is what the last look of a pod left out.
	lefts map[string]leftOut
	// moved says that now has stamps that the file of stamps lacks.
	moved bool
	// tracked is what git has there.
	tracked *indexes
	// watch is nil before the first look, and where directories cannot be watched; blind says
	// that they cannot. held is the directory that it watches, once a look is kept.
	watch *watch
	blind bool
	held  os.FileInfo
	// large says that the directory is beyond the bounds.
	large bool
}

// Rest drops what is in memory when no other user of the directory is left, and does not wait for these: the
// directory may not answer. A user that comes meanwhile waits: the repository is open once.
func (w *Workspace) Rest() error {
	if w.count(-1) > 0 {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.count(0) > 0 {
		return nil
	}
	defer w.all.forget(w)
	err := errors.Join(w.unwatch(), w.saveStamps())
	w.repo, w.now, w.tips, w.lefts, w.blind, w.large = nil, nil, nil, nil, false, false
	w.tracked = nil
	return err
}

// count adds to the number of users, and returns it.
func (w *Workspace) count(n int) int {
	w.all.mu.Lock()
	defer w.all.mu.Unlock()
	w.users += n
	return w.users
}

// tip is a checkpoint with its files, of which covers are left-out ones.
type tip struct {
	commit plumbing.Hash
	root   *node
	covers []string
	// at is the directory that it is of; empty if that is not known.
	at string
}

// Look says what to take.
type Look struct {
	// After is the checkpoint to which the directory is compared; empty for the first one.
	After string
	// Agent says that all changes are the agent's; else those of Paths are, which are
	// absolute.
	Agent bool
	Paths []string
	// Restored says that the changes of Paths are those of a restore, not the agent's.
	Restored bool
	// Branch is where git finds the checkpoints of the pod. Message is theirs.
	Branch, Message string
	// Named are absolute paths that file tools are about to change or have changed. They are covered
	// also where looks leave them out, and are the only ones in a directory beyond the bounds.
	Named []string
	// Held is the directory in which tools work; nil without one. It may have another path by now.
	Held os.FileInfo
}

// Take makes the checkpoints that are due: none without a change, else one, or two when the
// agent and somebody else made changes, those of the agent first.
func (w *Workspace) Take(ctx context.Context, l Look) (taken []item.Checkpoint, err error) {
	err = w.use(func() error {
		taken, err = w.take(ctx, l)
		return err
	})
	return taken, err
}

// ErrUnknown says that the repository does not have the checkpoint: somebody removed it.
var ErrUnknown = errors.New("a checkpoint is not kept any more, or not on this machine")

func unknown(r *repo, id string) error {
	if r.has(hashOf(id)) {
		return nil
	}
	return ErrUnknown
}

// use calls fn with the open repository, and keeps other uses of the directory out meanwhile.
func (w *Workspace) use(fn func() error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.begin()
	if err == nil {
		err = fn()
	}
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("checkpoint of %s: %w", w.dir, err)
}

// begin opens the repository and reads the stamps of the last look.
func (w *Workspace) begin() (err error) {
	if w.repo != nil {
		return nil
	}
	if err := os.MkdirAll(w.all.Dir, 0o700); err != nil {
		return err
	}
	if w.repo, err = openRepo(w.path); err != nil {
		w.repo = nil
		return err
	}
	if _, err := os.Lstat(filepath.Join(w.path, "description")); err != nil {
		if err := replace(filepath.Join(w.path, "description"), []byte("checkpoints of "+w.dir+"\n")); err != nil {
			return err
		}
	}
	w.now = w.loadStamps()
	return nil
}

// seen is what a look found.
type seen struct {
	// scan is what the look read; root has also the left-out files of covers.
	root, scan *node
	at         string
	covers     []string
	left       []string
	leftOut    int
	// outs is all that is left out.
	outs    leftOut
	partial bool
	// info is the directory that was read.
	info os.FileInfo
}

// found keeps what a look found, which a checkpoint has.
func (w *Workspace) found(s seen, commit plumbing.Hash, pod string) error {
	if s.partial {
		return nil
	}
	w.moved = w.moved || w.now != s.scan
	w.now, w.by = s.scan, pod
	if w.tips == nil {
		w.tips = make(map[string]tip)
	}
	w.tips[pod] = tip{commit, s.root, s.covers, s.at}
	w.held = s.info
	return w.leave(pod, s.outs)
}

// unwatch ends the watch.
func (w *Workspace) unwatch() error {
	err := w.watch.close()
	w.watch, w.held = nil, nil
	return err
}

// look reads the directory. Beyond the bounds it reads only what checkpoints had before, and the named files.
func (w *Workspace) look(ctx context.Context, p *packer, before *node, covers, named []string) (seen, error) {
	root, err := os.OpenRoot(w.dir)
	if err != nil {
		return seen{}, err
	}
	defer root.Close()
	s := &scanner{ctx: ctx, root: root, began: time.Now(), hidden: w.hidden(), outs: make(leftOut), has: w.repo.has, keep: func(data []byte) (plumbing.Hash, error) {
		return p.add(plumbing.BlobObject, data)
	}}
	o := overlay{repo: w.repo, scan: s, before: before}
	if !w.large && w.dir != "/" && w.dir != w.all.Home {
		out, err := w.scan(s)
		if err == nil {
			out.root, out.covers = out.scan, covers
			o.cover(&out, w.inside(named))
			left := slices.DeleteFunc(slices.Clone(out.covers), func(rel string) bool { return find(out.scan, rel) != nil })
			out.root, err = o.lay(out.scan, left)
			return out, err
		}
		if w.large = errors.Is(err, errLarge); !w.large {
			return seen{}, err
		}
		if err := w.unwatch(); err != nil {
			return seen{}, err
		}
	}
	p.drop()
	now, err := o.partial(w.inside(named))
	return seen{root: now, covers: covers, partial: true}, err
}

// scan reads the whole directory.
func (w *Workspace) scan(s *scanner) (out seen, err error) {
	self, err := s.root.Open(".")
	if err != nil {
		return out, err
	}
	defer self.Close()
	if out.info, err = self.Stat(); err != nil {
		return out, err
	}
	if w.tracked == nil {
		w.tracked = &indexes{dir: w.dir, read: make(map[string]*git.Tracked), under: make(map[string]string)}
	}
	w.tracked.refresh()
	if w.watch == nil && !w.blind {
		w.watch = newWatch()
	}
	// What happens from now on is for the next look.
	w.held = nil
	_ = w.watch.quiet()
	s.watch = w.watch
	var st unix.Stat_t
	if err := unix.Fstat(int(self.Fd()), &st); err != nil {
		return out, err
	}
	out.scan, err = s.dir(self, "", &st, w.now, w.tracked.around(), 0)
	out.left, out.leftOut, out.outs = s.left, s.leftOut, s.outs
	if w.blind = s.unwatched; w.blind {
		err = cmp.Or(err, w.unwatch())
	}
	return out, err
}

// hidden are the paths in the directory that no checkpoint has: podd's own files, and what a killed
// restore left beside its place, until another one ends it.
func (w *Workspace) hidden() map[string]bool {
	hidden := make(map[string]bool)
	for _, rel := range w.inside(w.all.Hidden) {
		hidden[rel] = true
	}
	asides, _ := w.asides() // Without the file, a look shows more, not less.
	for _, a := range asides {
		hidden[a.rel()] = true
	}
	return hidden
}

// LeftOut names the paths that the directory has and the last checkpoint lacks, at most a
// thousand. Directories end in a slash.
func (w *Workspace) LeftOut(ctx context.Context) (left []string, err error) {
	err = w.use(func() error {
		p := &packer{repo: w.repo}
		defer p.drop()
		found, err := w.look(ctx, p, nil, nil, nil)
		left = found.left
		return err
	})
	return left, err
}

// Read returns the bytes of a file, or the text of a link.
func (w *Workspace) Read(f File) (data []byte, err error) {
	err = w.use(func() error {
		data, err = w.repo.read(f.Hash)
		return err
	})
	return data, err
}
