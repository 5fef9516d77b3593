package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// socketVariables name sockets of the user's session.
var socketVariables = []string{"SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "DOCKER_HOST", "CONTAINER_HOST", "GPG_AGENT_INFO"}

// variable is the value of a variable of podd's environment.
func (s *Sandbox) variable(name string) string {
	for _, entry := range s.Environ {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// own are podd's files and directories that are there and that no command may see, links
// resolved.
func (s *Sandbox) own() (own []string) {
	for _, path := range s.Hidden {
		own = appendResolved(own, path)
	}
	return own
}

// others are those of the user's session and doors.
func (s *Sandbox) others() (others []string) {
	for _, path := range []string{"/run", "/var/run", s.variable("XDG_RUNTIME_DIR")} {
		others = appendResolved(others, path)
	}
	for _, name := range socketVariables {
		others = appendResolved(others, socketPath(s.variable(name)))
	}
	return append(others, s.credentials()...)
}

// credentials are the user's that are there and were not asked for.
func (s *Sandbox) credentials() (paths []string) {
	for _, path := range s.places {
		paths = appendResolved(paths, path)
	}
	return slices.DeleteFunc(paths, func(path string) bool { return slices.Contains(s.reopened, path) })
}

// Credentials is how many files and directories with credentials of the user are hidden.
func (s *Sandbox) Credentials() int {
	if !s.Confines() {
		return 0
	}
	return len(s.credentials())
}

// divide tells the paths of Read that open what is hidden by default from those that begin
// the list of all that can be read.
func (s *Sandbox) divide() {
	s.places = places(s.variable)
	var there []string
	for _, path := range s.places {
		there = appendResolved(there, path)
	}
	for _, path := range s.Read {
		resolved, err := filepath.EvalSymlinks(path)
		if err != nil {
			resolved = path
		}
		inside := func(place string) bool { return within(place, path) || within(place, resolved) }
		if slices.ContainsFunc(s.places, inside) || slices.ContainsFunc(there, inside) {
			s.reopened = append(s.reopened, path, resolved)
		} else {
			s.list = append(s.list, path)
		}
	}
}

// appendResolved adds a path that exists.
func appendResolved(paths []string, path string) []string {
	if !filepath.IsAbs(path) {
		return paths
	}
	// Most are not there, and to resolve one takes a look at each directory on the way.
	if _, err := os.Lstat(path); err != nil {
		return paths
	}
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil || slices.Contains(paths, resolved) {
		return paths
	}
	return append(paths, resolved)
}

// socketPath is the path in the value of a variable that names a socket: a path alone,
// unix:path=PATH,... of D-Bus, unix://PATH of Docker.
func socketPath(value string) string {
	value = strings.TrimPrefix(value, "unix:")
	value = strings.TrimPrefix(value, "//")
	for part := range strings.SplitSeq(value, ",") {
		if path, ok := strings.CutPrefix(part, "path="); ok {
			return path
		}
	}
	value, _, _ = strings.Cut(value, ":")
	return value
}

// system are the directories that commands need to run at all.
var system = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu", "/snap",
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
