package daemon

import "path/filepath"

// hiddenPaths are the files and directories of podd itself. A directory that may hold
// other things beside them is not hidden as a whole.
func hiddenPaths(c Config) []string {
	hidden := []string{c.StateDir, c.Socket, c.Socket + ".lock"}
	if c.DebugSocket != "" {
		hidden = append(hidden, c.DebugSocket, c.DebugSocket+".lock")
	}
	if key := c.Settings.APIKeyFile; key != "" {
		hidden = append(hidden, key)
	}
	hidden = append(hidden, c.Settings.SecretFiles()...)
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
