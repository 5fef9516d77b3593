package daemon

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// hiddenPaths are podd's own files and directories. A directory that may contain other
// things is not hidden as a whole.
func hiddenPaths(c Config) []string {
	hidden := []string{c.StateDir, c.Socket, c.Socket + ".lock"}
	if c.DebugSocket != "" {
		hidden = append(hidden, c.DebugSocket, c.DebugSocket+".lock")
	}
	hidden = append(hidden, c.Hidden...)
	hidden = append(hidden, c.Settings.KeyFiles()...)
	for _, file := range c.Settings.SecretFiles() {
		hidden = append(hidden, file)
		// Kubernetes puts a new version beside the old one.
		if to, err := os.Readlink(file); err == nil && strings.HasPrefix(to, "..data/") {
			hidden = append(hidden, filepath.Dir(file))
		}
	}
	for _, tls := range [][]string{c.Settings.Node.TLS, c.Settings.Triggers.TLS} {
		if len(tls) > 1 {
			hidden = append(hidden, tls[1]) // The key.
		}
	}
	for _, file := range []string{c.ConfigFile, c.ConfigPath} {
		if file == "" {
			continue
		}
		hidden = append(hidden, file)
		// The default place, which is podd's own.
		if dir, name := filepath.Split(file); name == "config.toml" && filepath.Base(dir) == "podd" {
			hidden = append(hidden, filepath.Clean(dir))
		}
	}
	return hidden
}

// checkoutDir has the checkouts of pods. Each pod sees its own.
func checkoutDir(stateDir string) string { return filepath.Join(stateDir, "checkouts") }

// isHidden says whether a path is hidden from tools, itself or with a directory above it.
func isHidden(hidden []string, path string) bool {
	path = filepath.Clean(path)
	return slices.ContainsFunc(hidden, func(h string) bool { return path == h || strings.HasPrefix(path, h+"/") })
}
