package sandbox

import (
	"os"
	"path/filepath"
	"slices"
)

// wrapBwrap makes the command line of bwrap.
//
// It has no --die-with-parent: the parent is a shim, which outlives podd on purpose, and
// with it SIGTERM, which bwrap does not pass on, would end everything inside at once.
// What is inside is ended from outside: bwrap's own first process cannot leave the
// session, and with it goes all else.
func (s *Sandbox) wrapBwrap(c *Command, scope Scope, argv []string) error {
	filter, err := seccompFile(allowLocal)
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
	if !s.Network {
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

// mounts is the part of the command line that makes the file system.
func (s *Sandbox) mounts(c *Command, scope Scope) ([]string, error) {
	m := &mounts{command: c, pinned: map[string]*os.File{}, mode: map[string]bool{}, worked: map[string]bool{}}
	defer func() {
		for _, file := range m.passed {
			_ = file.Close()
		}
	}()
	if err := s.base(m, scope); err != nil {
		return nil, err
	}
	if err := s.roots(m, scope); err != nil {
		return nil, err
	}
	if err := s.repositories(m, scope); err != nil {
		return nil, err
	}
	if err := s.holdProtected(m, scope); err != nil {
		return nil, err
	}
	s.makeHidden(scope)
	s.reopen(m)
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
		// The directories on the way to what can be read are bwrap's own, in memory.
		args = append(args, "--remount-ro", "/")
	}
	return args, m.makePrivate(scope.Temp)
}

// base is the system's part, and what every command has of its own.
func (s *Sandbox) base(m *mounts, scope Scope) error {
	if len(s.list) == 0 {
		m.add("/", "--ro-bind", "/", "/")
	} else {
		s.listed(m)
	}
	m.add("/proc", "--proc", "/proc")
	// What is written to a file system in memory is nobody's memory, so that none is to be
	// had but the shared one, which programs expect.
	m.add("/dev", "--dev", "/dev", "--remount-ro", "/dev")
	m.tmpfs("/dev/shm", s.MaxMemory())
	for _, path := range []string{"/tmp", "/var/tmp"} {
		temp, err := os.Open(scope.Temp)
		if err != nil {
			return err
		}
		if isDir(path) {
			m.add(path, "--bind-fd", m.command.add(temp), path)
		}
	}
	// Where /run is the way to the programs, or to the names of the network.
	m.add("/run/current-system", "--ro-bind-try", "/run/current-system", "/run/current-system")
	if s.Network {
		if resolver, err := filepath.EvalSymlinks("/etc/resolv.conf"); err == nil && within("/run", resolver) {
			m.add(resolver, "--ro-bind", resolver, resolver)
		}
	}
	return nil
}

// listed is what can be read where that is a list, and the system's directories.
func (s *Sandbox) listed(m *mounts) {
	for _, path := range s.list {
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

// reopen shows what was asked for by name below what is hidden.
func (s *Sandbox) reopen(m *mounts) {
	for _, path := range s.reopened {
		if _, _, below := m.rootOf(path); below {
			m.protect(path)
		} else if resolved, err := filepath.EvalSymlinks(path); err == nil {
			m.add(resolved, "--ro-bind", resolved, resolved)
		}
	}
}

// roots are the pod's directories and those that all pods have.
func (s *Sandbox) roots(m *mounts, scope Scope) error {
	for _, path := range s.Write {
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
	for _, root := range scope.Roots {
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

// holdProtected makes read-only what is protected and there.
func (s *Sandbox) holdProtected(m *mounts, scope Scope) error {
	g := scope.Guard
	if g == nil {
		var err error
		if g, err = s.Guard(scope, nil); err != nil {
			return err
		}
		defer g.Close()
	}
	for _, path := range g.hold {
		m.protect(path)
	}
	return nil
}

// visible says whether a path that is hidden by default would be seen otherwise, and was
// not asked for.
func (s *Sandbox) visible(scope Scope, path string) bool {
	for _, root := range scope.Roots {
		if root.Path == path {
			return false
		}
	}
	if slices.Contains(s.list, path) || slices.Contains(s.Write, path) {
		return false
	}
	if len(s.list) == 0 {
		return true
	}
	seen := slices.Concat(system, s.list, s.Write)
	for _, root := range scope.Roots {
		seen = append(seen, root.Path)
	}
	return slices.ContainsFunc(seen, func(dir string) bool { return within(dir, path) })
}

// makeHidden makes a directory of podd's own that is missing in a root: a command could
// make it instead.
func (s *Sandbox) makeHidden(scope Scope) {
	for _, path := range s.Hidden {
		for _, root := range scope.Roots {
			if _, err := os.Lstat(path); err != nil && root.Writable && within(root.Path, path) && filepath.Ext(path) == "" {
				// Where it cannot be made, a command cannot make it either.
				_ = os.MkdirAll(path, 0o700)
			}
		}
	}
}
