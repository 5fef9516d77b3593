package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podd/internal/config"
)

// podd refuses a configuration that others can change, however it is reached: it names
// programs that no sandbox confines.
func TestLoadRefusesWhatOthersCanChange(t *testing.T) {
	none := func(string) string { return "" }
	for name, c := range map[string]struct {
		file, dir, linkDir os.FileMode
		uid                int
		says               string
	}{
		"own":                          {0o600, 0o700, 0o700, 0, ""},
		"readable":                     {0o644, 0o755, 0o755, 0, ""},
		"world-writable":               {0o666, 0o700, 0o700, 0, "config.toml can be changed by other users (mode 0666)"},
		"group-writable":               {0o620, 0o700, 0o700, 0, "run chmod go-w "},
		"in a shared directory":        {0o600, 0o777, 0o700, 0, "the directory DIR of the configuration file can be changed by other users"},
		"in a group's directory":       {0o600, 0o770, 0o700, 0, "run chmod go-w DIR"},
		"in a directory like /tmp":     {0o600, 0o777 | os.ModeSticky, 0o700, 0, ""},
		"link from a shared directory": {0o600, 0o700, 0o777, 0, "the directory LINKS of the configuration file"},
		"another user's":               {0o600, 0o700, 0o700, 4711, "config.toml belongs to another user (uid 4711): use one of your own, or run chown "},
	} {
		t.Run(name, func(t *testing.T) {
			dir, links := filepath.Join(t.TempDir(), "dir"), filepath.Join(t.TempDir(), "links")
			for _, path := range []string{dir, links} {
				if err := os.Mkdir(path, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			path, link := filepath.Join(dir, "config.toml"), filepath.Join(links, "config.toml")
			if err := os.WriteFile(path, []byte("model = \"m\"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			for target, mode := range map[string]os.FileMode{path: c.file, dir: c.dir, links: c.linkDir} {
				if err := os.Chmod(target, mode); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink(path, link); err != nil {
				t.Fatal(err)
			}
			if c.uid != 0 {
				if os.Geteuid() != 0 {
					t.Skip("only root gives files away")
				}
				if err := os.Chown(path, c.uid, -1); err != nil {
					t.Fatal(err)
				}
			}
			says := strings.NewReplacer("DIR", dir, "LINKS", links).Replace(c.says)
			for _, named := range []string{path, link} {
				if named == path && strings.HasPrefix(name, "link") {
					continue
				}
				loaded, err := config.Load(named, true, none)
				if says == "" && (err != nil || loaded.Pods.Model.Model != "m") || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
					t.Errorf("%s: %v, want %q", named, err, says)
				}
			}
		})
	}
	if _, err := config.Load(os.DevNull, true, none); err != nil {
		t.Errorf("an empty configuration: %v", err)
	}
}
