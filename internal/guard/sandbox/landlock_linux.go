package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"podd/internal/workspace/git"
)

// What Landlock can refuse, from linux/landlock.h. Version 3 is the first that covers all
// ways to change a file.
const (
	landlockVersion = 3

	readAccess = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	// fileAccess is the part of all access that applies to a file.
	fileAccess = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

// rules are what the helper allows a command. Landlock has no exceptions below an allowed
// path, so they name everything beside what is hidden.
type rules struct {
	// Read are paths that are opened without following a link at their end; ReadOpen and
	// WriteOpen are descriptors.
	Read      []string `json:"read"`
	ReadOpen  []string `json:"read_open"`
	WriteOpen []string `json:"write_open"`
	// Devices are files that can be written.
	Devices []string `json:"devices"`
	Filter  int      `json:"filter"`
}

// landlockABI is the version of Landlock, 0 without it.
func landlockABI() int {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(version)
}

// wrapLandlock makes the command line of the helper, which is this binary, by a
// descriptor: the binary may be replaced on disk meanwhile.
func (s *Sandbox) wrapLandlock(c *Command, scope Scope, argv []string) error {
	if abi := landlockABI(); abi < landlockVersion {
		return fmt.Errorf("the kernel has Landlock version %d; %d or higher is needed (Linux 6.2)", abi, landlockVersion)
	}
	if !hasHelper.Load() {
		return errors.New("this program is not podd and has no helper")
	}
	r, err := s.rules(c, scope)
	if err != nil {
		return err
	}
	if scope.Git != GitAll {
		for _, root := range scope.Roots {
			if root.Writable {
				repos, whole := git.Find(root.Path, "")
				c.Held.Roots = append(c.Held.Roots, heldRoot(root.Path, repos, whole))
			}
		}
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	c.Args = append([]string{"/proc/self/fd/" + c.add(self), helperArgument, string(text)}, argv...)
	c.Env = tempEnv(scope.Temp)
	return nil
}

func (s *Sandbox) rules(c *Command, scope Scope) (rules, error) {
	r := rules{
		Devices: []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"},
		Filter:  allowNothing,
	}
	switch {
	case scope.ReadOnly:
		r.Filter = allowReading
	case scope.Network:
		r.Filter = allowInternet
	}
	own := s.own()
	others := slices.DeleteFunc(s.others(), func(path string) bool { return slices.Contains(s.list, path) })
	for _, root := range scope.Roots {
		dir, err := root.Open()
		if err != nil {
			return r, err
		}
		if !root.Writable {
			r.ReadOpen = append(r.ReadOpen, c.add(dir))
			continue
		}
		r.WriteOpen = append(r.WriteOpen, c.add(dir))
		if i := slices.IndexFunc(own, func(path string) bool { return within(root.Path, path) }); i >= 0 {
			return r, fmt.Errorf("%s contains %s, which belongs to podd itself and which Landlock cannot hide: choose a narrower directory, or install bubblewrap",
				root.Path, own[i])
		}
	}
	for _, path := range append(slices.Clone(s.shared(scope)), scope.Temp) {
		dir, err := os.Open(path)
		if err != nil {
			return r, err
		}
		r.WriteOpen = append(r.WriteOpen, c.add(dir))
	}
	for _, path := range scope.Show {
		dir, err := os.Open(path)
		if err != nil {
			return r, err
		}
		r.ReadOpen = append(r.ReadOpen, c.add(dir))
	}
	// /proc shows all processes; /tmp and the like have sockets and other people's files.
	hide := slices.Concat(own, others, []string{"/proc", "/dev", "/tmp", "/var/tmp"})
	from := slices.Concat(system, s.list, s.reopened)
	if len(s.list) == 0 {
		from = append([]string{"/"}, s.reopened...)
	}
	for _, path := range from {
		if resolved, err := filepath.EvalSymlinks(path); err == nil {
			r.Read = appendBeside(r.Read, resolved, hide)
		}
	}
	r.Read = append(r.Read, "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/loadavg", "/proc/uptime", "/proc/version",
		"/proc/filesystems", "/proc/sys")
	return r, nil
}

// appendBeside adds path, or, if something below it is hidden, everything beside that.
func appendBeside(paths []string, path string, hidden []string) []string {
	if slices.Contains(hidden, path) {
		return paths
	}
	below := func(h string) bool { return within(path, h) }
	if !slices.ContainsFunc(hidden, below) {
		return append(paths, path)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return paths
	}
	for _, e := range entries {
		// The target of a link is allowed, or not, at its own place.
		if e.Type()&os.ModeSymlink == 0 {
			paths = appendBeside(paths, filepath.Join(path, e.Name()), hidden)
		}
	}
	return paths
}

// errHelper is for a helper that podd did not start.
var errHelper = errors.New("the sandbox's helper is started by podd alone")
