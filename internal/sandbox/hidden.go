package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ofHome are the places below a home directory where programs keep what opens other
// doors: keys, tokens, cookies, sockets of agents.
var ofHome = []string{
	".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".netrc", ".git-credentials", ".pypirc", ".npmrc",
	".password-store", ".mozilla", ".cargo/credentials", ".cargo/credentials.toml",
	".config/gcloud", ".config/gh", ".config/op", ".config/google-chrome", ".config/chromium", ".config/git/credentials",
	".local/share/keyrings",
}

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
	if home := s.variable("HOME"); filepath.IsAbs(home) {
		for _, name := range ofHome {
			others = appendResolved(others, filepath.Join(home, name))
		}
	}
	return others
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
