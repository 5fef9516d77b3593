package checkpoint

import (
	"context"
	"crypto/sha256"
	"errors"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"podd/internal/workspace/ignore"
	"podd/pkg/item"
)

// A file that a person saves while a command runs gets a checkpoint of its own at once, after the
// last one of the turn. The turn's next look writes it to the log and starts from it. So an undo keeps
// the bytes that the person saved, and brings them back if the command changed them later. After a kill the branch of the pod has it.

// savedMessage is the message of such a checkpoint.
const savedMessage = "saved in an editor"

// maxSaves bounds how many of them are looked for after a kill.
const maxSaves = 10_000

// ErrOtherBytes says that a file does not have the bytes that were saved.
var ErrOtherBytes = errors.New("the file has other bytes by now")

// turn is a running turn of a pod.
type turn struct {
	// last is the checkpoint that the next one follows.
	last plumbing.Hash
	// partial says that only files that tools named are covered.
	partial bool
	// saves says that there are some that the log lacks.
	saves bool
}

// Follow says that a turn of a pod runs, whose last checkpoint is given: what a person saves until
// Unfollow is kept.
func (w *Workspace) Follow(pod, after string, partial bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.begin(); err != nil {
		return w.failed(err)
	}
	saves, err := w.repo.saves(w.repo.head(pod), hashOf(after))
	if err != nil {
		return w.failed(err)
	}
	t := &turn{last: hashOf(after), partial: partial, saves: len(saves) > 0}
	if t.saves {
		t.last = hashOf(saves[len(saves)-1].Commit)
	}
	w.turns[pod] = t
	return nil
}

// Unfollow says that the turn has ended.
func (w *Workspace) Unfollow(pod string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.turns, pod)
}

// unlogged are the saves that the log of a pod lacks, which ends in a checkpoint.
func (w *Workspace) unlogged(pod, after string) ([]Taken, error) {
	t := w.turns[pod]
	if t == nil || !t.saves {
		return nil, nil
	}
	return w.repo.saves(t.last, hashOf(after))
}

// took notes the checkpoints of a look, which the log gets now.
func (t *turn) took(after string, taken []Taken) {
	if t == nil {
		return
	}
	t.last, t.saves = hashOf(after), false
	if n := len(taken); n > 0 {
		t.last, t.partial = hashOf(taken[n-1].Commit), taken[n-1].Partial
	}
}

// head is the last commit of a branch; zero without one.
func (r *repo) head(branch string) plumbing.Hash {
	if id, ok := r.journal.heads[branch]; ok {
		return id
	}
	data, err := os.ReadFile(r.ref(branch))
	if err != nil {
		return plumbing.ZeroHash
	}
	return hashOf(strings.TrimSpace(string(data)))
}

// saves are those that follow a checkpoint and lead to a commit, and what looks took before them. What
// a killed podd took after them is taken again.
func (r *repo) saves(head, after plumbing.Hash) (saves []Taken, err error) {
	for n := 0; head != after; n++ {
		if head.IsZero() || after.IsZero() || n == maxSaves || !r.has(head) {
			return nil, nil
		}
		data, err := r.read(head)
		if err != nil {
			return nil, err
		}
		t := Taken{Commit: head.String(), By: authorOf(data), Changed: 1}
		if head = parentOf(data); isSave(data) {
			saves = append(saves, t)
		} else if len(saves) > 0 {
			changes, err := r.diff(head.String(), t.Commit)
			if err != nil {
				return nil, err
			}
			t.Changed = len(changes)
			saves = append(saves, t)
		}
	}
	slices.Reverse(saves)
	return saves, nil
}

func isSave(commit []byte) bool {
	_, message, _ := strings.Cut(string(commit), "\n\n")
	return strings.HasPrefix(message, savedMessage+"\n")
}

// Saved keeps a file that a person saved, given by its absolute path, if it still has the bytes
// with a SHA-256. It returns for how many running turns it is theirs from now on: none where no turn
// runs, since what changes between turns is not the agent's anyway.
func (s *Stores) Saved(ctx context.Context, path string, sum [sha256.Size]byte) (turns int, err error) {
	for _, w := range s.around(path) {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err == nil {
			var n int
			n, err = w.save(path, sum)
			turns += n
		}
		err = errors.Join(err, w.Rest())
	}
	return turns, err
}

// around are the directories in use that a path lies in. They stay in use until Rest.
func (s *Stores) around(path string) (all []*Workspace) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, dir := range slices.Sorted(maps.Keys(s.open)) {
		w := s.open[dir]
		if _, ok := w.within(path); ok && w.users > 0 {
			w.users++
			all = append(all, w)
		}
	}
	return all
}

func (w *Workspace) save(path string, sum [sha256.Size]byte) (turns int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.turns) == 0 {
		return 0, nil
	}
	root, err := os.OpenRoot(w.dir)
	if err != nil {
		return 0, w.failed(err)
	}
	defer root.Close()
	o := own{w: w, root: root}
	o.rel, _ = w.within(path)
	o.File, o.data, err = lookAt(root, o.rel)
	switch {
	case err == nil && !o.Exists():
		return 0, ErrOtherBytes
	case errors.Is(err, errNotFile), errors.Is(err, errWay), err == nil && (o.IsDir() || o.IsLink()):
		return 0, nil
	case err != nil:
		return 0, w.failed(err)
	case sha256.Sum256(o.data) != sum:
		return 0, ErrOtherBytes
	}
	for _, pod := range slices.Sorted(maps.Keys(w.turns)) {
		kept, err := o.keep(pod, w.turns[pod])
		if err != nil {
			return turns, w.failed(err)
		}
		if kept {
			turns++
		}
	}
	return turns, nil
}

// own is a file that a person saved.
type own struct {
	w    *Workspace
	root *os.Root
	rel  string
	File
	data []byte
}

// keep makes the checkpoint for a turn; false if its checkpoints do not have the file.
func (o *own) keep(pod string, t *turn) (bool, error) {
	repo, names := o.w.repo, strings.Split(o.rel, "/")
	tree, err := repo.root(t.last)
	if err != nil {
		return false, err
	}
	was, err := repo.kept(tree, names)
	if err != nil {
		return false, err
	}
	if was.File == o.File {
		before, taken, err := o.taken(t.last, names)
		if err != nil || !taken {
			return err == nil, err
		}
		// The agent's step goes back, and the save is the person's.
		if tree, err = repo.with(tree, "", names, before); err == nil {
			err = o.store(pod, t, tree, item.ByAgent)
		}
		if err != nil {
			return false, err
		}
	} else if !was.Exists() && (t.partial || o.leftOut()) {
		return false, nil
	}
	if tree, err = o.put(tree, names); err != nil {
		return false, err
	}
	return true, o.store(pod, t, tree, item.ByPerson)
}

// taken says whether a look recorded the save as the agent's work before the report came, and returns
// the file before that: the commit that brought the bytes is the agent's, and not older than the file.
func (o *own) taken(id plumbing.Hash, names []string) (before File, taken bool, err error) {
	now, err := statAt(o.root, o.rel)
	for err == nil {
		data, err := o.w.repo.read(id)
		if err != nil {
			return before, false, err
		}
		// The time of a commit has whole seconds.
		if timeOf(data).Add(time.Second).UnixNano() < now.changed {
			return before, false, nil
		}
		by := authorOf(data)
		if id = parentOf(data); id.IsZero() {
			return before, false, nil
		}
		root, err := o.w.repo.root(id)
		if err != nil {
			return before, false, err
		}
		was, err := o.w.repo.kept(root, names)
		if err != nil || was.File != o.File {
			return was.File, by != item.ByPerson, err
		}
	}
	return before, false, err
}

// store makes a checkpoint of the tree.
func (o *own) store(pod string, t *turn, tree *node, by By) error {
	repo := o.w.repo
	last, err := repo.tip(t.last.String())
	if err != nil {
		return err
	}
	p := &packer{repo: repo}
	defer p.drop()
	if _, err := p.add(plumbing.BlobObject, o.data); err != nil {
		return err
	}
	if err := p.write(tree); err != nil {
		return err
	}
	c := commit{tree: tree.Hash, parent: t.last, author: string(by), branch: pod, at: o.w.all.Now(), message: savedMessage, covers: last.covers, place: last.at}
	id, err := p.add(plumbing.CommitObject, c.encode())
	if err == nil {
		err = repo.store(p, pod, id)
	}
	if err != nil {
		return err
	}
	t.last, t.saves = id, true
	return nil
}

// put is the tree with the file, and with the directories on the way to it.
func (o *own) put(tree *node, names []string) (*node, error) {
	for i := 1; i < len(names); i++ {
		was, err := o.w.repo.kept(tree, names[:i])
		if err != nil {
			return nil, err
		}
		if was.IsDir() {
			continue
		}
		dir, err := statAt(o.root, path.Join(names[:i]...))
		if err != nil {
			return nil, err
		}
		if tree, err = o.w.repo.with(tree, "", names[:i], File{Mode: typeDir | dir.Mode&0o777}); err != nil {
			return nil, err
		}
	}
	return o.w.repo.with(tree, "", names, o.File)
}

// leftOut says that a look leaves the file out.
func (o *own) leftOut() bool {
	if never(o.rel, o.w.hidden()) {
		return true
	}
	rules, ignored := rulesAt(o.root, o.rel)
	return ignored || len(o.data) > maxIgnored && rules.Ignores(o.rel, false)
}

// rulesAt are the rules for a path, and whether it lies in a directory that git ignores, or would if
// it was there.
func rulesAt(root *os.Root, rel string) (rules *ignore.Rules, ignored bool) {
	has := func(name string) bool {
		_, err := root.Lstat(name)
		return err == nil
	}
	for at := range above(rel) {
		base := at
		if at == "." {
			base = ""
		} else if rules.Ignores(at, true) {
			return rules, true
		}
		rules = rules.Enter(root, at, base, has(path.Join(at, ".git")), has(path.Join(at, ignore.File)))
	}
	return rules, false
}

// above are the directories above a path, from ".".
func above(rel string) func(func(string) bool) {
	return func(yield func(string) bool) {
		if !yield(".") {
			return
		}
		for i, c := range rel {
			if c == '/' && !yield(rel[:i]) {
				return
			}
		}
	}
}
