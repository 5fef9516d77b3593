package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"podd/internal/commands/confine"
)

// wrapLandlock makes the command line of the helper, by a descriptor: the binary may be
// replaced on disk meanwhile.
func (s *Sandbox) wrapLandlock(c *Command, scope Scope, hide unseen, argv []string) error {
	if version := confine.Version(); version < confine.MinVersion {
		return fmt.Errorf("the kernel has Landlock version %d; %d or higher is needed (Linux 6.2)", version, confine.MinVersion)
	}
	path, own := s.Launcher.Path()
	if own && !hasHelper.Load() {
		return errors.New("this program is not podd and has no helper")
	}
	r, err := s.rules(c, scope, hide)
	if err != nil {
		return err
	}
	if scope.Cache != nil {
		fd, err := c.again(scope.Cache)
		if err != nil {
			return err
		}
		r.WriteOpen = append(r.WriteOpen, fd)
	}
	helper, err := os.Open(path)
	if err != nil {
		return err
	}
	c.Args = r.Command("/proc/self/fd/"+c.add(helper), argv)
	c.Env = scope.env(scope.Temp)
	return nil
}

func (s *Sandbox) rules(c *Command, scope Scope, unseen unseen) (confine.Rules, error) {
	r := confine.Rules{
		Devices: []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"},
		Filter:  confine.AllowNothing,
	}
	switch {
	case scope.ReadOnly:
		r.Filter = confine.AllowReading
	case scope.Network:
		r.Filter = confine.AllowInternet
	}
	own := unseen.own
	others := slices.DeleteFunc(slices.Clone(unseen.others), func(path string) bool { return slices.Contains(s.list, path) })
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
	for _, path := range slices.Concat(s.shared(scope), []string{scope.Temp}, scope.Guard.outside()) {
		dir, err := openDir(path)
		if err != nil {
			return r, err
		}
		r.WriteOpen = append(r.WriteOpen, c.add(dir))
	}
	for _, path := range scope.Show {
		dir, err := openDir(path)
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
