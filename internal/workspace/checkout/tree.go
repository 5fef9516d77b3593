package checkout

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"podd/internal/sanitize"
	"podd/pkg/item"
	"podd/pkg/scopefs/git"
)

// tree is the working tree of a landing. Until the branch has moved, it changes files only, and can
// take that back: git reads an index of podd's, and the lock of the person's is held.
type tree struct {
	*lander
	l Landing
	// own is its git directory; empty without a working tree.
	own string
	// landed has the paths that the tree has already, absent those
	// that it leaves out.
	landed, absent map[string]bool
	// marked are the paths that git overlooks, by the option that marks them.
	marked map[string][]string
}

// change is what a landing does to a path.
type change struct {
	path string
	// mode and id are those of the new file; oldMode and oldID what it replaces.
	oldMode, mode, oldID, id string
	// kind is git's letter: A, D, M or T.
	kind string
}

// isSubmodule says whether the path is, or was, a repository of its own, which follows no landing.
func (c change) isSubmodule() bool { return c.mode == "160000" || c.oldMode == "160000" }

// ownDir is the git directory of a working tree; empty if it has none.
func ownDir(top string) string {
	if repo, ok := git.At(top, ""); ok && top != "" && len(repo.Dirs) > 0 {
		return repo.Dirs[0]
	}
	return ""
}

// treeOf is the working tree that has a branch; empty without one. It must lead back to the
// repository: the repository's files name it, and anybody may have written those.
func (w *lander) treeOf(ctx context.Context, branch string) (top string, err error) {
	out, err := w.git(ctx, command{dir: w.r.Common, reads: w.r.Reads(), args: []string{"--git-dir=.", "worktree", "list", "--porcelain"}})
	var all []string
	at := ""
	for entry := range strings.Lines(out) {
		entry = strings.TrimSuffix(entry, "\n")
		if path, ok := strings.CutPrefix(entry, "worktree "); ok {
			at = path
		}
		if entry == "branch refs/heads/"+branch {
			all = append(all, git.Resolve(at))
		}
	}
	if len(all) == 1 && all[0] == w.r.Common {
		// git names the git directory where that is not in its working tree.
		all[0] = git.WorkTree(w.r.Common)
	}
	switch {
	case err != nil || len(all) == 0:
		return "", err
	case len(all) > 1:
		return "", item.Errorf(item.KindPrecondition, "TREE_BUSY", "nothing was landed: several working trees have branch %s checked out (%s): switch all but one to another branch", branch, named(all))
	}
	if repo, ok := git.At(all[0], ""); !ok || len(repo.Dirs) == 0 || repo.Dirs[len(repo.Dirs)-1] != w.r.Common {
		return "", item.Errorf(item.KindPrecondition, "TREE_BUSY", "nothing was landed: %s has branch %s checked out by %s, and is no working tree of it: see git worktree repair and prune", all[0], branch, w.r.Common)
	}
	return all[0], nil
}

// idle refuses a landing while the person is in the middle of something with the branch.
func (w *lander) idle(l Landing) error {
	own := ownDir(l.Tree)
	for _, dir := range append([]string{w.r.Common}, git.Below(w.r.Common)...) {
		begun, ok := git.BegunIn(dir)
		if ok && dir == own || slices.Contains(begun.Branches, "refs/heads/"+l.Branch) {
			return item.Errorf(item.KindPrecondition, "TREE_BUSY", "nothing was landed: %s of branch %s is in progress (%s): end it with %s, and land again", begun.What, l.Branch, dir, begun.End)
		}
	}
	return nil
}

// How often podd looks whether another git has ended, and how long it waits in between.
const (
	lockTries = 20
	lockWait  = 50 * time.Millisecond
)

// hold takes git's lock of the index in the working tree of a landing.
func (w *lander) hold(ctx context.Context, l Landing) (*tree, error) {
	t := &tree{lander: w, l: l, landed: make(map[string]bool), absent: make(map[string]bool), marked: make(map[string][]string)}
	if l.Tree == "" {
		return t, nil
	}
	if t.own = ownDir(l.Tree); t.own == "" {
		return nil, item.Errorf(item.KindPrecondition, "TREE_BUSY", "nothing was landed: the working tree %s is gone", l.Tree)
	}
	for try := 0; ; try++ {
		err := t.take()
		switch {
		case err == nil:
			return t, nil
		case isFull(err):
			return nil, full(err)
		case !errors.Is(err, fs.ErrExist):
			return nil, item.Errorf(item.KindPrecondition, "TREE_BUSY", "nothing was landed: the index of %s cannot be locked: %v", l.Tree, err)
		case t.isOurs():
			return t, nil // A killed podd left it.
		case try == lockTries:
			return nil, item.Errorf(item.KindPrecondition, "TREE_BUSY", "nothing was landed: another git works in %s: wait for it, or remove %s if none does", l.Tree, t.lock())
		}
		select {
		case <-time.After(lockWait):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// take makes the lock with its text in one step: a podd that is killed here leaves no lock that it
// does not recognize later. Without hard links there is a moment in between.
func (t *tree) take() error {
	text := t.newLock()
	_ = os.Remove(text) // A killed podd left it.
	defer os.Remove(text)
	if err := t.write(text); err != nil {
		return err
	}
	err := os.Link(text, t.lock())
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	return t.write(t.lock())
}

// write makes a file with the text of the lock.
func (t *tree) write(path string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(t.l.Lock)
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// lock is git's lock of the index, index the one that the landing makes.
func (t *tree) lock() string  { return filepath.Join(t.own, "index.lock") }
func (t *tree) index() string { return filepath.Join(t.own, t.l.Lock) }

// newLock is the lock before it has its name.
func (t *tree) newLock() string { return t.index() + ".new" }

// isOurs says whether the lock is that of this landing.
func (t *tree) isOurs() bool {
	if info, err := os.Lstat(t.lock()); err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(t.l.Lock)) {
		return false
	}
	says, err := os.ReadFile(t.lock())
	return err == nil && t.l.Lock != "" && string(says) == t.l.Lock
}

// in is a run of git in the working tree.
func (t *tree) in(args ...string) command {
	return command{dir: t.l.Tree, reads: slices.Concat(treeDirs(t.l.Tree), t.r.Reads()), config: t.config, args: args}
}

// changing is a run of git that changes the working tree, and the landing's index.
func (t *tree) changing(args ...string) command {
	return command{
		dir: t.l.Tree, writes: true, also: treeDirs(t.l.Tree), reads: t.r.Reads()[1:], config: t.config, args: args, env: []string{"GIT_INDEX_FILE=" + t.index()},
	}
}

// treeDirs are the git directories of a working tree that are outside of it.
func treeDirs(tree string) []string {
	repo, _ := git.At(tree, "")
	return slices.DeleteFunc(slices.Clone(repo.Dirs), func(dir string) bool { return strings.HasPrefix(dir, tree+"/") })
}

// ready refuses a landing that would touch what the person has in the working tree. It finds out
// which files that has already. It does not depend on where the branch is.
func (t *tree) ready(ctx context.Context) error {
	if err := t.idle(t.l); err != nil || t.own == "" {
		return err
	}
	if err := t.look(ctx, t.l); err != nil {
		return err
	}
	if err := t.marks(ctx); err != nil {
		return err
	}
	blocked, err := t.local(ctx)
	if err != nil || len(blocked) == 0 {
		return err
	}
	return item.Errorf(item.KindPrecondition, "LOCAL_CHANGES", "%s has branch %s checked out, with changes of your own in %s; nothing was landed: commit or stash them, or land into another branch with --into",
		t.l.Tree, t.l.Branch, named(blocked))
}

// between are the changes from one commit to another.
func (all *Checkouts) between(ctx context.Context, c command, from, to string) (changes []change, err error) {
	c.args = []string{"diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", from, to}
	out, err := all.git(ctx, c)
	parts := fields(out)
	for i := 0; i+1 < len(parts); i += 2 {
		// :MODE MODE OLD NEW KIND
		if words := strings.Fields(strings.TrimPrefix(parts[i], ":")); len(words) == 5 {
			changes = append(changes, change{parts[i+1], words[0], words[1], words[2], words[3], words[4]})
		}
	}
	return changes, err
}

// marks finds the paths that git overlooks, and refuses an index with conflicts.
func (t *tree) marks(ctx context.Context) error {
	touched := make(map[string]bool)
	for _, c := range t.changes {
		touched[c.path] = true
	}
	out, err := t.git(ctx, t.in("ls-files", "-v", "-z"))
	if err != nil {
		return err
	}
	for _, entry := range fields(out) {
		tag, name, _ := strings.Cut(entry, " ")
		if strings.EqualFold(tag, "m") {
			return item.Errorf(item.KindPrecondition, "TREE_BUSY", "nothing was landed: %s has a conflict in %s: resolve it, commit, and land again", t.l.Tree, name)
		}
		if !touched[name] {
			continue
		}
		if strings.EqualFold(tag, "s") {
			if _, err := os.Lstat(filepath.Join(t.l.Tree, name)); errors.Is(err, fs.ErrNotExist) {
				t.absent[name] = true // It is outside of a sparse checkout.
				continue
			}
			t.marked["--skip-worktree"] = append(t.marked["--skip-worktree"], name)
		}
		if tag == strings.ToLower(tag) {
			t.marked["--assume-unchanged"] = append(t.marked["--assume-unchanged"], name)
		}
	}
	return nil
}

// local finds the paths of a landing that the tree has already, as after Apply, and those that block it.
func (t *tree) local(ctx context.Context) (blocked []string, err error) {
	isNew, err := t.have(ctx, false)
	if err != nil {
		return nil, err
	}
	isOld, err := t.have(ctx, true)
	if err != nil {
		return nil, err
	}
	staged := func(commit string) (map[string]bool, error) {
		out, err := t.git(ctx, t.in("diff-index", "--cached", "-z", "--name-only", "--no-renames", "--ignore-submodules=all", commit))
		return set(fields(out)), err
	}
	notOld, err := staged(t.l.Old)
	if err != nil {
		return nil, err
	}
	notNew, err := staged(t.l.New)
	if err != nil {
		return nil, err
	}
	for _, c := range t.changes {
		info, exists := t.there(c.path)
		switch {
		case c.isSubmodule() || t.absent[c.path]:
		case notOld[c.path] && notNew[c.path]:
			blocked = append(blocked, c.path)
		case c.kind == "A" && !notOld[c.path] && (!exists || info.IsDir()):
			// git itself looks at a directory that is in the way.
		case isOld[c.path] && !notOld[c.path]:
		case isNew[c.path]:
			t.landed[c.path] = true
		default:
			blocked = append(blocked, c.path)
		}
	}
	return blocked, nil
}

// there says what a path of the tree is. A path below a file does not exist.
func (t *tree) there(rel string) (fs.FileInfo, bool) {
	info, err := os.Lstat(filepath.Join(t.l.Tree, rel))
	if errors.Is(err, syscall.ENOTDIR) {
		for at := path.Dir(rel); at != "."; at = path.Dir(at) {
			if above, err := os.Lstat(filepath.Join(t.l.Tree, at)); err == nil && !above.IsDir() {
				goes := slices.ContainsFunc(t.changes, func(c change) bool { return c.path == at && c.kind == "D" })
				return above, !goes
			}
		}
	}
	return info, !errors.Is(err, fs.ErrNotExist)
}

// differScript lists which files of an index, given by stdin, the working tree does not have. The
// index is one of its own: the person's can be wrong about files, or told to overlook them.
const differScript = `set -e
GIT_INDEX_FILE="${TMPDIR:-/tmp}/index"; export GIT_INDEX_FILE
git update-index -z --index-info
git update-index -q --refresh >/dev/null || true
git diff-files -z --name-only --ignore-submodules=all`

// have says which paths are as the old commit has them, or as the new one: as git sees it.
func (t *tree) have(ctx context.Context, old bool) (map[string]bool, error) {
	has := make(map[string]bool)
	var entries strings.Builder
	for _, c := range t.changes {
		mode, id := c.mode, c.id
		if old {
			mode, id = c.oldMode, c.oldID
		}
		if strings.Trim(id, "0") != "" {
			entries.WriteString(entry(mode, id, c.path))
			has[c.path] = true
		} else if _, exists := t.there(c.path); !exists {
			has[c.path] = true
		}
	}
	run := t.in()
	run.script, run.stdin = differScript, strings.NewReader(entries.String())
	out, err := t.git(ctx, run)
	for _, name := range fields(out) {
		delete(has, name)
	}
	return has, err
}

// entry is a line for git update-index --index-info.
func entry(mode, id, path string) string { return mode + " " + id + "\t" + path + "\x00" }

func set(paths []string) map[string]bool {
	all := make(map[string]bool, len(paths))
	for _, path := range paths {
		all[path] = true
	}
	return all
}

// follow gives the working tree the files of the new commit, and makes its index.
func (t *tree) follow(ctx context.Context) error {
	if t.own == "" {
		return nil
	}
	if err := t.copyIndex(); err != nil {
		return full(err)
	}
	if err := t.tell(ctx); err != nil {
		return full(err)
	}
	_, _ = t.git(ctx, t.changing("update-index", "-q", "--refresh")) // It fails where a file has changes, which is no harm.
	if _, err := t.git(ctx, t.changing("read-tree", "-m", "-u", t.l.Old, t.l.New)); err != nil {
		says := item.Errorf(item.KindPrecondition, "LOCAL_CHANGES", "the files in %s cannot follow (%v); nothing was landed: make way for them, or land into another branch with --into", t.l.Tree, err)
		says.Cause = err
		return errors.Join(full(says), t.back(ctx, true))
	}
	isOld, err := t.have(ctx, true)
	var stay []string
	for _, c := range t.changes {
		if isOld[c.path] && !t.absent[c.path] && !c.isSubmodule() {
			if _, exists := t.there(c.path); exists {
				stay = append(stay, c.path)
			}
		}
	}
	if err == nil && len(stay) > 0 {
		err = item.Errorf(item.KindPrecondition, "LOCAL_CHANGES", "%s in %s cannot be changed; nothing was landed: look at its permissions, or land into another branch with --into", named(stay), t.l.Tree)
	}
	if err != nil {
		return errors.Join(err, t.back(ctx, false))
	}
	return nil
}

// tell tells the index which files are as they should be: git would take those that are there already
// for changes, and would not look at marked ones.
func (t *tree) tell(ctx context.Context) error {
	var entries strings.Builder
	for _, c := range t.changes {
		switch {
		case t.landed[c.path]:
			entries.WriteString(entry(c.mode, c.id, c.path))
		case slices.Contains(t.marked["--skip-worktree"], c.path) || slices.Contains(t.marked["--assume-unchanged"], c.path):
			entries.WriteString(entry(c.oldMode, c.oldID, c.path))
		}
	}
	if entries.Len() == 0 {
		return nil
	}
	run := t.changing("update-index", "-z", "--index-info")
	run.stdin = strings.NewReader(entries.String())
	_, err := t.git(ctx, run)
	return err
}

// copyIndex copies the person's index, with its time, by which git knows which files it has to read.
func (t *tree) copyIndex() error {
	from, err := os.OpenFile(filepath.Join(t.own, "index"), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer from.Close()
	info, err := from.Stat()
	if err != nil {
		return err
	}
	_ = os.Remove(t.index()) // A killed podd may have left it.
	to, err := os.OpenFile(t.index(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close(), os.Chtimes(t.index(), info.ModTime(), info.ModTime()))
}

// settle gives the person the index of the new commit.
func (t *tree) settle(ctx context.Context) error {
	if t.own == "" {
		return nil
	}
	for option, paths := range t.marked {
		has := slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
			return slices.ContainsFunc(t.changes, func(c change) bool { return c.path == p && c.kind == "D" })
		})
		mark := t.changing("update-index", option, "-z", "--stdin")
		mark.stdin = strings.NewReader(strings.Join(append(has, ""), "\x00"))
		_, _ = t.git(ctx, mark)
	}
	return os.Rename(t.index(), filepath.Join(t.own, "index"))
}

// backScript gives the working tree the files of an index, given by stdin.
const backScript = `set -e
GIT_INDEX_FILE="${TMPDIR:-/tmp}/index"; export GIT_INDEX_FILE
git update-index -z --index-info
git checkout-index -q -f -a`

// back takes back what a landing that failed did to files. A file that is neither as before nor as
// landed is half written, if git failed; else somebody has changed it, and it stays.
func (t *tree) back(ctx context.Context, failed bool) error {
	isNew, err := t.have(ctx, false)
	if err != nil {
		return err
	}
	isOld, err := t.have(ctx, true)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(t.l.Tree)
	if err != nil {
		return err
	}
	defer root.Close()
	var entries strings.Builder
	for _, c := range t.changes {
		switch {
		case t.landed[c.path] || t.absent[c.path] || isOld[c.path] || c.isSubmodule() || !failed && !isNew[c.path]:
		case c.kind == "A":
			err := root.Remove(c.path)
			for at := path.Dir(c.path); err == nil && at != "."; at = path.Dir(at) {
				err = root.Remove(at)
			}
		default:
			entries.WriteString(entry(c.oldMode, c.oldID, c.path))
		}
	}
	run := t.changing()
	run.script, run.stdin, run.env = backScript, strings.NewReader(entries.String()), nil
	if _, err := t.git(ctx, run); err != nil {
		return fmt.Errorf("and some files stay changed: git -C %s status names them (%w)", sanitize.Word(t.l.Tree), err)
	}
	return nil
}
