package config

import (
	"path/filepath"
)

// Sandbox says how shell commands are confined.
type Sandbox struct {
	// Mode is "auto", "bwrap", "landlock" or "off".
	Mode string
	// Required refuses commands where no sandbox works.
	Required bool
	// Network lets commands reach the network.
	Network bool
	// Read, when it is not empty, is all that commands can read beside the system and
	// the pod's directories; Write are directories that they can change. The paths are
	// absolute and clean.
	Read, Write []string
	// MaxMemory is how much memory a command may hold, in bytes; 0 means half of what there
	// is.
	MaxMemory int64
	// Env adds to the environment of commands: NAME=value, or NAME to pass on podd's.
	Env []string
}

// directories sets a variable to a list of absolute paths.
func directories(key string, target *[]string) setting {
	return setting{
		key:  key,
		must: `a list of absolute paths, such as ["/srv/data"]`,
		set: func(value any) bool {
			paths, ok := texts(value)
			for i, path := range paths {
				ok = ok && filepath.IsAbs(path)
				paths[i] = filepath.Clean(path)
			}
			if ok {
				*target = paths
			}
			return ok
		},
		show: func() string { return quoteAll(*target) },
	}
}
