package checkout

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"podd/internal/sanitize"
	"podd/pkg/item"
	"podd/pkg/scopefs/git"
)

// Anybody may have written a repository: a path that it names grants no access. So podd sees only those
// of the stores of objects it borrows from that look like one, and a git directory only where the
// repository it is of names the working tree back.

// maxAlternates bounds how many stores of objects a repository borrows from, maxOwn how much podd
// reads of a file of one.
const (
	maxAlternates = 16
	maxOwn        = 1 << 20
)

// Stores are the directories outside of a checkout that hold its objects: the git directory of the
// source, and those that it borrows from.
func (r *Record) Stores() []string {
	stores, _ := alternates(r.Common)
	return append([]string{r.Common}, stores...)
}

// Reads are Stores, and what else podd's git reads. The git directory of the source is the first.
func (r *Record) Reads() []string {
	all := r.Stores()
	if isFile(r.Attributes) {
		all = append(all, filepath.Dir(r.Attributes))
	}
	return all
}

// alternates are the stores of objects that a git directory borrows from, and those of them, and so on.
// strange are directories that it names, and that are no such stores.
func alternates(common string) (stores, strange []string) {
	queue := []string{filepath.Join(common, "objects")}
	for seen := 0; len(queue) > 0 && seen < maxAlternates; seen++ {
		at := queue[0]
		queue = queue[1:]
		text, err := readOwn(at, "info/alternates")
		if err != nil {
			continue
		}
		for path := range strings.Lines(string(text)) {
			path = strings.TrimSuffix(path, "\n")
			if path == "" || strings.HasPrefix(path, "#") {
				continue
			}
			if !filepath.IsAbs(path) {
				path = filepath.Join(at, path)
			}
			if _, err := os.Stat(path); err != nil {
				continue // git leaves it out too.
			}
			if path = git.Resolve(path); !isStore(path) {
				strange = append(strange, path)
			} else if !slices.Contains(stores, path) {
				stores, queue = append(stores, path), append(queue, path)
			}
		}
	}
	return stores, strange
}

// ofStore are the names in a store of objects.
var ofStore = regexp.MustCompile(`^([0-9a-f]{2}|pack|info|bundles|.*\.lock|(tmp_|incoming-).*)$`)

// isStore says whether a directory has objects of git, and nothing else.
func isStore(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	is := false
	for _, e := range entries {
		if !ofStore.MatchString(e.Name()) {
			return false
		}
		is = is || e.IsDir()
	}
	return is
}

// readOwn reads a file of a directory: no link leads out of that, and no pipe hangs.
func readOwn(dir, name string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: filepath.Join(dir, name), Err: fs.ErrInvalid}
	}
	return io.ReadAll(io.LimitReader(file, maxOwn))
}

// file is a file of the repository's git directory.
func (s source) file(name string) ([]byte, error) { return readOwn(s.common, name) }

// check refuses a repository whose files name paths that do not belong to it.
func (s source) check(hides func(dir string) bool) error {
	own := s.dirs[0]
	if !(git.Repo{Dirs: s.dirs}).NamesBack(s.top) {
		return item.Errorf(item.KindPrecondition, "GIT_DIR_ELSEWHERE",
			"%s names the git directory %s, which does not name it back: name a working tree of that repository, or if it is yours run git -C %s config core.worktree %s",
			filepath.Join(s.top, ".git"), own, sanitize.Word(s.top), sanitize.Word(s.top))
	}
	stores, strange := alternates(s.common)
	for _, dir := range append(strange, stores...) {
		if slices.Contains(strange, dir) || hides != nil && hides(dir) {
			return item.Errorf(item.KindPrecondition, "STRANGE_ALTERNATES",
				"%s borrows objects from %s, which is not a store of objects or is hidden from pods: see who wrote %s", s.top, dir, filepath.Join(s.common, "objects/info/alternates"))
		}
	}
	return nil
}
