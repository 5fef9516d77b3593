package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// mounts is the file system of a command, as bwrap's arguments describe it. Deeper paths
// are mounted later, so that they show whatever is mounted above them.
type mounts struct {
	sandbox *Sandbox
	scope   Scope
	unseen  unseen
	command *Command
	list    []mount
	// pinned are open directories below roots, most of them mounted on themselves.
	pinned map[string]*os.File
	// mode says whether each mount is writable.
	mode map[string]bool
	// passed are the open directories that are not bwrap's.
	passed []*os.File
	// roots are the writable ones, opened.
	roots []openRoot
	// gone are the hidden paths.
	gone []string
}

type mount struct {
	path string
	args []string
}

// openRoot is a writable root. Anyone who may write there can change the target of any
// path below it at any time, so paths below it are opened step by step, without links.
type openRoot struct {
	path string
	dir  *os.File
}

func (m *mounts) add(path string, args ...string) {
	m.list = append(m.list, mount{path, args})
}

// sort puts the mounts in the order of execution.
func (m *mounts) sort() {
	depth := func(path string) int { return strings.Count(strings.TrimSuffix(path, "/"), "/") }
	slices.SortStableFunc(m.list, func(a, b mount) int { return depth(a.path) - depth(b.path) })
}

// options are bwrap's for the sorted mounts.
func (m *mounts) options() []string {
	var args []string
	for _, mount := range m.list {
		args = append(args, mount.args...)
	}
	if len(m.sandbox.list) > 0 {
		// The directories on the way to readable paths are bwrap's own, in memory.
		args = append(args, "--remount-ro", "/")
	}
	return args
}

// writable binds a root, which it owns from now on.
func (m *mounts) writable(path string, dir *os.File) {
	m.add(path, "--bind-fd", m.command.add(dir), path)
	m.roots = append(m.roots, openRoot{path, dir})
	m.mode[path] = true
}

// writableAt says whether a command can write at a path, according to the innermost mount
// that contains it.
func (m *mounts) writableAt(path string) bool {
	for ; path != "/"; path = filepath.Dir(path) {
		if writable, mounted := m.mode[path]; mounted {
			return writable
		}
	}
	return m.mode[path]
}

// rootOf is the innermost writable root that contains a path.
func (m *mounts) rootOf(path string) (root openRoot, rel string, ok bool) {
	for _, r := range m.roots {
		if r.path != path && within(r.path, path) && len(r.path) >= len(root.path) {
			root, ok = r, true
		}
	}
	return root, strings.TrimPrefix(strings.TrimPrefix(path, root.path), "/"), ok
}

// protect makes a path below a root read-only, and says whether it exists. It also pins
// the directories on the way: one with a mount in it could be moved aside, one that is a
// mount itself cannot.
func (m *mounts) protect(path string) bool {
	file := m.descend(path)
	if file == nil {
		return false
	}
	m.add(path, "--ro-bind-fd", m.command.add(file), path)
	m.pinned[path], m.mode[path] = file, false
	return true
}

// descend opens a path below a root, and pins the directories on the way; nil if the path
// does not exist, or has a link on the way.
func (m *mounts) descend(path string) *os.File {
	root, rel, ok := m.rootOf(path)
	if !ok {
		return nil
	}
	at, dir := root.dir, root.path
	parent, name := filepath.Split(rel)
	for step := range strings.SplitSeq(strings.Trim(parent, "/"), "/") {
		if step == "" {
			break
		}
		dir = filepath.Join(dir, step)
		if m.pinned[dir] == nil {
			file := openBelow(at, step)
			if file == nil {
				return nil
			}
			m.pinned[dir] = file
			if !m.writableAt(dir) {
				m.passed = append(m.passed, file)
			} else {
				m.mode[dir] = true
				m.add(dir, "--bind-fd", m.command.add(file), dir)
			}
		}
		at = m.pinned[dir]
	}
	return openBelow(at, name)
}

func openDir(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY, 0)
}

// openBelow opens an entry of a directory that is not a link, without access to its
// content; nil without one.
func openBelow(dir *os.File, name string) *os.File {
	fd, err := unix.Openat(int(dir.Fd()), name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	file := os.NewFile(uintptr(fd), filepath.Join(dir.Name(), name))
	if info, err := file.Stat(); err != nil || info.Mode()&os.ModeSymlink != 0 {
		_ = file.Close()
		return nil
	}
	return file
}

// makePrivate creates the directories in /tmp for mounts: bwrap would make them open to
// others.
func (m *mounts) makePrivate(temp string) error {
	var missing []string
	for _, mount := range m.list {
		rest, below := strings.CutPrefix(mount.path, "/tmp/")
		if !below {
			continue
		}
		if !isDir(mount.path) {
			rest = filepath.Dir(rest)
		}
		if !isDir(filepath.Join(temp, rest)) {
			missing = append(missing, rest)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	// Its content is a command's.
	root, err := os.OpenRoot(temp)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, path := range missing {
		// If a command keeps it from being created, bwrap says so.
		_ = root.MkdirAll(path, 0o700)
	}
	return nil
}

// hiddenBytes is how much can be written in place of a hidden file or directory.
const hiddenBytes = 1 << 20

// tmpfs mounts an empty directory in memory with at most this size; 0 leaves the size to
// the kernel, which allows half of the memory.
func (m *mounts) tmpfs(path string, most int64) {
	if most == 0 {
		m.add(path, "--tmpfs", path)
		return
	}
	m.add(path, "--size", strconv.FormatInt(most, 10), "--tmpfs", path)
}

// hide replaces a file or directory by an empty one. One in a hidden directory is absent: a mount on the way to it would
// show what is hidden.
func (m *mounts) hide(path string) {
	if slices.ContainsFunc(m.gone, func(dir string) bool { return within(dir, path) }) {
		return
	}
	m.gone = append(m.gone, path)
	if _, _, below := m.rootOf(path); below {
		file := m.descend(path)
		if file == nil {
			return
		}
		_ = file.Close()
	}
	if isDir(path) {
		m.tmpfs(path, hiddenBytes)
		return
	}
	if len(m.command.Files) < mostFiles {
		if file, err := memoryFile(instead(path)); err == nil {
			m.add(path, "--ro-bind-data", m.command.add(file), path)
			return
		}
	}
	// A device can't be opened there.
	m.add(path, "--ro-bind", "/dev/null", path)
}

// mostFiles keeps the descriptors of a command below what one message can carry.
const mostFiles = 128

// instead is the content of a hidden file, which its program can parse.
func instead(path string) string {
	switch {
	case filepath.Ext(path) == ".json":
		return "{}\n"
	case filepath.Base(path) == "settings.xml":
		return "<settings/>\n"
	}
	return ""
}

// memoryFile is a file with a text, to be read from its start.
func memoryFile(text string) (*os.File, error) {
	fd, err := unix.MemfdCreate("podd", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), "podd")
	if _, err = file.WriteString(text); err == nil {
		_, err = file.Seek(0, 0)
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}
