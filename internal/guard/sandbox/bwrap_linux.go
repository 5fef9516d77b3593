package sandbox

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"

	"podd/internal/commands/confine"
)

// wrapBwrap makes the command line of bwrap.
//
// It has no --die-with-parent unless the command must end with the shim, its parent, which
// outlives podd on purpose: with that option SIGTERM, which bwrap does not pass on, ends
// everything inside at once. The inside is ended from outside: bwrap's own first process cannot leave the
// session, and when it ends, everything else does.
func (s *Sandbox) wrapBwrap(c *Command, scope Scope, hide unseen, argv []string) error {
	filter, err := seccompFile(confine.AllowLocal)
	if err != nil {
		return err
	}
	filtered := []string{"--seccomp", c.add(filter)}
	m, err := s.mounts(c, scope, hide)
	if err != nil {
		return err
	}
	options := []string{
		"--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL",
	}
	if s.nested {
		options = append(options, "--disable-userns")
	}
	if !scope.Network && !scope.Joined {
		options = append(options, "--unshare-net")
	}
	if scope.Dies {
		options = append(options, "--die-with-parent")
	}
	c.Args = slices.Concat([]string{s.program}, options, filtered, m.options(), []string{"--chdir", scope.Dir, "--"}, argv)
	c.Env = scope.env("/tmp")
	return nil
}

// mounts are the file system of a command.
func (s *Sandbox) mounts(c *Command, scope Scope, hide unseen) (*mounts, error) {
	m := &mounts{
		sandbox: s, scope: scope, unseen: hide, command: c, pinned: map[string]*os.File{}, mode: map[string]bool{},
	}
	defer func() {
		for _, file := range m.passed {
			_ = file.Close()
		}
	}()
	for _, part := range []func() error{m.base, m.openRoots, m.holdProtected} {
		if err := part(); err != nil {
			return nil, err
		}
	}
	m.makeHidden()
	m.reopenRead()
	for _, path := range m.unseen.others {
		if s.visible(scope, path) {
			m.hide(path)
		}
	}
	for _, path := range m.unseen.own {
		m.hide(path)
	}
	for _, path := range scope.Show {
		dir, err := openDir(path)
		if err != nil {
			return nil, err
		}
		m.add(path, "--ro-bind-fd", c.add(dir), path)
	}
	if scope.Cache != nil {
		fd, err := c.again(scope.Cache)
		if err != nil {
			return nil, err
		}
		m.add(scope.Cache.Name(), "--bind-fd", fd, scope.Cache.Name())
	}
	m.sort()
	return m, m.makePrivate(scope.Temp)
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
		temp, err := openDir(m.scope.Temp)
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
		dir, err := openDir(resolved)
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

// holdProtected makes git directories outside of the roots writable, and existing protected paths read-only.
func (m *mounts) holdProtected() error {
	if m.scope.Guard == nil {
		return nil
	}
	for _, path := range m.scope.Guard.outside() {
		dir, err := openDir(path)
		if err != nil {
			return err
		}
		m.writable(path, dir)
	}
	for _, path := range m.scope.Guard.hold {
		m.protect(path)
	}
	return nil
}

// makeHidden creates a missing directory of podd's own in a root: otherwise a command
// could create it.
func (m *mounts) makeHidden() {
	made := false
	for _, path := range m.sandbox.Hidden {
		for _, root := range m.scope.Roots {
			if _, err := os.Lstat(path); err != nil && root.Writable && within(root.Path, path) && filepath.Ext(path) == "" {
				// If it cannot be created, a command cannot create it either.
				_ = os.MkdirAll(path, 0o700)
				made = true
			}
		}
	}
	if made {
		m.unseen.own = existing(m.sandbox.Hidden)
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
	return memoryFile(b.String())
}
