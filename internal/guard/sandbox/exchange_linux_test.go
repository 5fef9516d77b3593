package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A configuration that git writes, or has written since it was read, is not replaced.
func TestExchange(t *testing.T) {
	for name, tt := range map[string]struct {
		read, want string
		locked     bool
		err        error
	}{
		"as read":           {"old", "new", false, nil},
		"git has written":   {"older", "old", false, errChanged},
		"git is writing it": {"old", "old", true, errBusy},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config")
			files := map[string]bool{path: true, path + ".lock": tt.locked}
			for path, written := range files {
				if written {
					if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			dir, err := os.Open(filepath.Dir(path))
			if err != nil {
				t.Fatal(err)
			}
			defer dir.Close()
			replaced, err := exchange(dir, "config", []byte(tt.read), KeptFile{Mode: 0o644, Text: []byte("new")}, true)
			if !errors.Is(err, tt.err) || err == nil && replaced != nil && string(replaced) != "old" {
				t.Errorf("it replaced %q: %v", replaced, err)
			}
			if now, err := os.ReadFile(path); string(now) != tt.want {
				t.Errorf("it is %q: %v", now, err)
			}
			if names, err := os.ReadDir(filepath.Dir(path)); len(names) > 2 || !tt.locked && len(names) != 1 {
				t.Errorf("left are %v: %v", names, err)
			}
		})
	}
}
