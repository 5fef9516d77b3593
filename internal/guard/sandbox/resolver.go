package sandbox

import (
	"os"
	"path/filepath"
	"slices"
)

// resolver resolves the links in paths. It remembers where directories lead: many paths are in
// the same, and resolving one examines each directory on the way. Empty is what leads nowhere.
type resolver map[string]string

// add adds a path that exists, resolved, to paths that do not have it.
func (r resolver) add(paths []string, path string) []string {
	if !filepath.IsAbs(path) {
		return paths
	}
	resolved := r.resolve(path)
	if resolved == "" || slices.Contains(paths, resolved) {
		return paths
	}
	return append(paths, resolved)
}

// resolve is where an absolute path leads; empty for nowhere.
func (r resolver) resolve(path string) string {
	if filepath.Clean(path) != path {
		// What is above a link depends on where it leads.
		return follow(path)
	}
	if path == "/" {
		return path
	}
	if resolved, known := r[path]; known {
		return resolved
	}
	resolved := ""
	switch info, err := os.Lstat(path); {
	case err != nil:
	case info.Mode()&os.ModeSymlink != 0:
		resolved = follow(path)
	default:
		if dir := r.resolve(filepath.Dir(path)); dir != "" {
			resolved = filepath.Join(dir, filepath.Base(path))
		}
	}
	r[path] = resolved
	return resolved
}

func follow(path string) string {
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	return resolved
}
