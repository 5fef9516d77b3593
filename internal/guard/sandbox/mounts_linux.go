package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// mounts is the file system of a command as bwrap is told of it. What lies deeper is
// mounted later, so that it shows whatever is mounted above it.
type mounts struct {
	sandbox *Sandbox
	scope   Scope
	command *Command
	list    []mount
	// pinned are directories below roots that are open, most of them mounted on themselves.
	pinned map[string]*os.File
	// mode says of what is mounted whether it is writable.
	mode map[string]bool
	// worked are the git directories whose parts are held.
	worked map[string]bool
	// passed are the open directories that are not bwrap's.
	passed []*os.File
	// roots are the writable ones, opened.
	roots []openRoot
}

type mount struct {
	path string
	args []string
}

// openRoot is a writable root. Whoever may write there can change what any path below
// it leads to at any time; so paths below it are opened step by step, without links.
type openRoot struct {
	path string
	dir  *os.File
}

func (m *mounts) add(path string, args ...string) {
	m.list = append(m.list, mount{path: path, args: args})
}

// args is the command line, in the order in which it is carried out.
func (m *mounts) args() []string {
	depth := func(path string) int { return strings.Count(strings.TrimSuffix(path, "/"), "/") }
	slices.SortStableFunc(m.list, func(a, b mount) int { return depth(a.path) - depth(b.path) })
	var args []string
	for _, mount := range m.list {
		args = append(args, mount.args...)
	}
	return args
}

// writable binds a root, which it owns from now on.
func (m *mounts) writable(path string, dir *os.File) {
	m.add(path, "--bind-fd", m.command.add(dir), path)
	m.roots = append(m.roots, openRoot{path, dir})
	m.mode[path] = true
}

// isRoot says whether a path is a writable root.
func (m *mounts) isRoot(path string) bool {
	return slices.ContainsFunc(m.roots, func(r openRoot) bool { return r.path == path })
}

// writableAt says whether a command can write at a path, by the innermost mount that it
// lies in.
func (m *mounts) writableAt(path string) bool {
	for ; path != "/"; path = filepath.Dir(path) {
		if writable, mounted := m.mode[path]; mounted {
			return writable
		}
	}
	return m.mode[path]
}

// rootOf is the innermost writable root that a path lies below.
func (m *mounts) rootOf(path string) (root openRoot, rel string, ok bool) {
	for _, r := range m.roots {
		if r.path != path && within(r.path, path) && len(r.path) >= len(root.path) {
			root, ok = r, true
		}
	}
	return root, strings.TrimPrefix(strings.TrimPrefix(path, root.path), "/"), ok
}

// protect makes a path below a root read-only, and says whether it is there. It holds the
// directories on the way too: one with a mount in it could be moved aside, one that is a
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

// descend opens what is at a path below a root, and pins the directories on the way;
// nil when there is nothing, or a link on the way.
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

// openBelow opens an entry of a directory that is no link, without access to what is in
// it; nil when there is none.
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

// makePrivate makes the directories in /tmp on which something is mounted: bwrap would
// make them open to others.
func (m *mounts) makePrivate(temp string) error {
	// What is in there is a command's.
	root, err := os.OpenRoot(temp)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, mount := range m.list {
		rest, below := strings.CutPrefix(mount.path, "/tmp/")
		if !below {
			continue
		}
		if !isDir(mount.path) {
			rest = filepath.Dir(rest)
		}
		// Where a command keeps it from being made, bwrap says so.
		_ = root.MkdirAll(rest, 0o700)
	}
	return nil
}

// hiddenBytes is what can be written in the place of something hidden.
const hiddenBytes = 1 << 20

// tmpfs mounts an empty directory in memory that holds at most this much; 0 leaves that
// to the kernel, which gives it half of the memory.
func (m *mounts) tmpfs(path string, most int64) {
	if most == 0 {
		m.add(path, "--tmpfs", path)
		return
	}
	m.add(path, "--size", strconv.FormatInt(most, 10), "--tmpfs", path)
}

// hide puts nothing in the place of a file or directory.
func (m *mounts) hide(path string) {
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

// mostFiles keeps what a command is started with below what one message can pass on.
const mostFiles = 128

// instead is what stands in a hidden file, so that its program can read it.
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
