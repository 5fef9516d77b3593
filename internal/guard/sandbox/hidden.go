package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// socketVariables name sockets of the user's session.
var socketVariables = []string{"SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "DOCKER_HOST", "CONTAINER_HOST", "GPG_AGENT_INFO"}

// hiding is what the configuration hides from commands, and what it opens again.
type hiding struct {
	Config
	// places are those of credentials. reopened are the paths of Read among them, list are
	// the others.
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

// unseen are the existing files and directories that commands do not see, with links resolved, at
// one moment. Finding them takes long, so that is done once for a command.
type unseen struct {
	// own are podd's own, others those of the user's session and doors.
	own, others []string
}

// unseen finds them.
func (h *hiding) unseen() unseen { return unseen{existing(h.Hidden), h.others()} }

func (h *hiding) others() []string {
	paths := []string{"/run", "/var/run", h.variable("XDG_RUNTIME_DIR")}
	for _, name := range socketVariables {
		paths = append(paths, socketPath(h.variable(name)))
	}
	return append(existing(paths), h.credentials()...)
}

// existing are the absolute paths that exist, with links resolved, each once.
func existing(paths []string) (all []string) {
	for _, path := range paths {
		if !filepath.IsAbs(path) {
			continue
		}
		if _, err := os.Lstat(path); err != nil {
			continue // Most do not exist, and resolving takes longer.
		}
		if resolved, err := filepath.EvalSymlinks(path); err == nil && !slices.Contains(all, resolved) {
			all = append(all, resolved)
		}
	}
	return all
}

// Hides says whether a directory has something that commands do not see, or is in it.
func (h *hiding) Hides(dir string) bool {
	hidden := h.unseen()
	return slices.ContainsFunc(slices.Concat(hidden.own, hidden.others), func(path string) bool { return within(path, dir) || within(dir, path) })
}

// credentials are the user's existing ones that the configuration does not open.
func (h *hiding) credentials() []string {
	return slices.DeleteFunc(existing(h.places), func(path string) bool { return slices.Contains(h.reopened, path) })
}

// Credentials is the number of the user's hidden files and directories with credentials.
func (s *Sandbox) Credentials() int {
	if !s.Confines() {
		return 0
	}
	return len(s.credentials())
}

// visible says whether a path that is hidden by default would otherwise be visible, and
// the configuration does not open it.
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

// divide separates the paths of Read that open what is hidden by default from those that
// begin the list of all readable paths.
func (h *hiding) divide() {
	h.places = places(h.variable)
	there := existing(h.places)
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

// socketPath is the path in the value of a variable that names a socket: a plain path,
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
