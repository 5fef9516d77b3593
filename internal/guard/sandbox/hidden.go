package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// socketVariables name sockets of the user's session.
var socketVariables = []string{"SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "DOCKER_HOST", "CONTAINER_HOST", "GPG_AGENT_INFO"}

// hiding is what the configuration hides from commands, and what of that it opens again.
type hiding struct {
	Config
	// places are those of credentials. Of Read, reopened are the paths among them, list are the
	// others.
	places, reopened, list []string
}

// variable is the value of a variable of podd's environment.
func (h *hiding) variable(name string) string {
	for _, entry := range h.Environ {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// own are podd's files and directories that are there and that no command may see, links
// resolved.
func (h *hiding) own() (own []string) {
	for _, path := range h.Hidden {
		own = appendResolved(own, path)
	}
	return own
}

// others are those of the user's session and doors.
func (h *hiding) others() (others []string) {
	for _, path := range []string{"/run", "/var/run", h.variable("XDG_RUNTIME_DIR")} {
		others = appendResolved(others, path)
	}
	for _, name := range socketVariables {
		others = appendResolved(others, socketPath(h.variable(name)))
	}
	return append(others, h.credentials()...)
}

// credentials are the user's that are there and were not asked for.
func (h *hiding) credentials() (paths []string) {
	for _, path := range h.places {
		paths = appendResolved(paths, path)
	}
	return slices.DeleteFunc(paths, func(path string) bool { return slices.Contains(h.reopened, path) })
}

// Credentials is how many files and directories with credentials of the user are hidden.
func (s *Sandbox) Credentials() int {
	if !s.Confines() {
		return 0
	}
	return len(s.credentials())
}

// visible says whether a path that is hidden by default would be seen otherwise, and was
// not asked for.
func (h *hiding) visible(scope Scope, path string) bool {
	named := slices.Concat(h.list, h.Write)
	for _, root := range scope.Roots {
		named = append(named, root.Path)
	}
	if slices.Contains(named, path) {
		return false
	}
	below := func(dir string) bool { return within(dir, path) }
	return len(h.list) == 0 || slices.ContainsFunc(system, below) || slices.ContainsFunc(named, below)
}

// divide tells the paths of Read that open what is hidden by default from those that begin
// the list of all that can be read.
func (h *hiding) divide() {
	h.places = places(h.variable)
	var there []string
	for _, path := range h.places {
		there = appendResolved(there, path)
	}
	for _, path := range h.Read {
		resolved, err := filepath.EvalSymlinks(path)
		if err != nil {
			resolved = path
		}
		inside := func(place string) bool { return within(place, path) || within(place, resolved) }
		if slices.ContainsFunc(h.places, inside) || slices.ContainsFunc(there, inside) {
			h.reopened = append(h.reopened, path, resolved)
		} else {
			h.list = append(h.list, path)
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
