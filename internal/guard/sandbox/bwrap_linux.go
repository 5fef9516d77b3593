package sandbox

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"

	"podd/internal/commands/confine"
)

// wrapBwrap makes the command line of bwrap.
//
// It has no --die-with-parent: the parent is a shim, which outlives podd on purpose, and
// with that option SIGTERM, which bwrap does not pass on, would end everything inside at
// once. The inside is ended from outside: bwrap's own first process cannot leave the
// session, and when it ends, everything else does.
func (s *Sandbox) wrapBwrap(c *Command, scope Scope, argv []string) error {
	filter, err := seccompFile(confine.AllowLocal)
	if err != nil {
		return err
	}
	args := []string{
		s.program, "--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try",
		"--cap-drop", "ALL", "--seccomp", c.add(filter),
	}
	if s.nested {
		args = append(args, "--disable-userns")
	}
	if !scope.Network && !scope.Joined {
		args = append(args, "--unshare-net")
	}
	mounted, err := s.mounts(c, scope)
	if err != nil {
		return err
	}
	args = append(append(args, mounted...), "--chdir", scope.Dir, "--")
	c.Args = append(args, argv...)
	c.Env = tempEnv("/tmp")
	return nil
}

// tempEnv are the variables for the directory that serves as /tmp. Caches go there too:
// the home directory is read-only.
func tempEnv(dir string) []string {
	return []string{"TMPDIR=" + dir, "XDG_CACHE_HOME=" + filepath.Join(dir, ".cache")}
}

// mounts is the part of the command line for the file system.
func (s *Sandbox) mounts(c *Command, scope Scope) ([]string, error) {
	m := &mounts{
		sandbox: s, scope: scope, command: c, pinned: map[string]*os.File{}, mode: map[string]bool{}, worked: map[string]bool{},
	}
	defer func() {
		for _, file := range m.passed {
			_ = file.Close()
		}
	}()
	for _, part := range []func() error{m.base, m.openRoots, m.repositories, m.holdProtected} {
		if err := part(); err != nil {
			return nil, err
		}
	}
	m.makeHidden()
	m.reopenRead()
	for _, path := range s.others() {
		if s.visible(scope, path) {
			m.hide(path)
		}
	}
	for _, path := range s.own() {
		m.hide(path)
	}
	for _, path := range scope.Show {
		dir, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		m.add(path, "--ro-bind-fd", c.add(dir), path)
	}
	args := m.args()
	if len(s.list) > 0 {
		// The directories on the way to readable paths are bwrap's own, in memory.
		args = append(args, "--remount-ro", "/")
	}
	return args, m.makePrivate(scope.Temp)
}

// base is the system's part, and every command's own.
func (m *mounts) base() error {
	if len(m.sandbox.list) == 0 {
		m.add("/", "--ro-bind", "/", "/")
	} else {
		m.listed()
	}
	m.add("/proc", "--proc", "/proc")
	// No limit of memory counts the files of a file system in memory. So commands get only
	// the shared one, which programs expect.
	m.add("/dev", "--dev", "/dev", "--remount-ro", "/dev")
	m.tmpfs("/dev/shm", m.sandbox.MaxMemory())
	for _, path := range []string{"/tmp", "/var/tmp"} {
		temp, err := os.Open(m.scope.Temp)
		if err != nil {
			return err
		}
		if isDir(path) {
			m.add(path, "--bind-fd", m.command.add(temp), path)
		}
	}
	// /run may be the way to the programs, or to the names of the network.
	m.add("/run/current-system", "--ro-bind-try", "/run/current-system", "/run/current-system")
	if m.scope.Network {
		if resolver, err := filepath.EvalSymlinks("/etc/resolv.conf"); err == nil && within("/run", resolver) {
			m.add(resolver, "--ro-bind", resolver, resolver)
		}
	}
	return nil
}

// listed is what can be read if that is a list, and the system's directories.
func (m *mounts) listed() {
	for _, path := range m.sandbox.list {
		if resolved, err := filepath.EvalSymlinks(path); err == nil {
			m.add(resolved, "--ro-bind", resolved, resolved)
		}
	}
	for _, path := range system {
		if target, err := os.Readlink(path); err == nil {
			m.add(path, "--symlink", target, path)
		} else if isDir(path) {
			m.add(path, "--ro-bind", path, path)
		}
	}
}

// reopenRead shows the paths that the configuration names below hidden ones.
func (m *mounts) reopenRead() {
	for _, path := range m.sandbox.reopened {
		if _, _, below := m.rootOf(path); below {
			m.protect(path)
		} else if resolved, err := filepath.EvalSymlinks(path); err == nil {
			m.add(resolved, "--ro-bind", resolved, resolved)
		}
	}
}

// openRoots opens the pod's directories and those of all pods.
func (m *mounts) openRoots() error {
	for _, path := range m.sandbox.shared(m.scope) {
		resolved, err := filepath.EvalSymlinks(path)
		if err != nil {
			return err
		}
		dir, err := os.Open(resolved)
		if err != nil {
			return err
		}
		m.writable(resolved, dir)
	}
	for _, root := range m.scope.Roots {
		dir, err := root.Open()
		if err != nil {
			return err
		}
		if root.Writable {
			m.writable(root.Path, dir)
			continue
		}
		m.add(root.Path, "--ro-bind-fd", m.command.add(dir), root.Path)
		m.mode[root.Path] = false
	}
	return nil
}

// holdProtected makes existing protected paths read-only.
func (m *mounts) holdProtected() error {
	g := m.scope.Guard
	if g == nil {
		var err error
		if g, err = m.sandbox.Guard(m.scope, nil); err != nil {
			return err
		}
		defer g.Close()
	}
	for _, path := range g.hold {
		m.protect(path)
	}
	return nil
}

// makeHidden creates a missing directory of podd's own in a root: otherwise a command
// could create it.
func (m *mounts) makeHidden() {
	for _, path := range m.sandbox.Hidden {
		for _, root := range m.scope.Roots {
			if _, err := os.Lstat(path); err != nil && root.Writable && within(root.Path, path) && filepath.Ext(path) == "" {
				// If it cannot be created, a command cannot create it either.
				_ = os.MkdirAll(path, 0o700)
			}
		}
	}
}

// seccompFile is a file from which bwrap reads a filter.
func seccompFile(filter confine.Filter) (*os.File, error) {
	p, err := filter.Program()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := binary.Write(&b, binary.NativeEndian, p); err != nil {
		return nil, err
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer writer.Close()
	// Far less than a pipe holds.
	if _, err := writer.Write(b.Bytes()); err != nil {
		_ = reader.Close()
		return nil, err
	}
	return reader, nil
}
