package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// What exists is found, whatever the case of its name, and wherever the directory is not
// known in full; what cannot exist is not looked up.
func TestPresence(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{".npmrc", ".AWS", ".config/gh/hosts.yml", ".config/b"} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(home, name) }
	places := []string{in(".npmrc"), in(".aws"), in(".config/gh"), in(".ssh"), in(".m2/settings.xml"), "/etc/hosts"}
	for _, name := range []string{"1", "2", "3", "4", "5", "6", "7", "8"} {
		places = append(places, in(name), in(".config/"+name), in("missing/"+name))
	}
	dirs := crowded(places)
	p := readAll(dirs)
	if len(p) != 3 {
		t.Fatalf("it reads %q", dirs)
	}
	for path, want := range map[string]bool{
		".npmrc": true, ".aws": true, ".config/gh": true, ".config/gh/hosts.yml": true, ".npmrc/below": true,
		".ssh": false, ".m2/settings.xml": false, ".config/1": false, "missing/1": false, "missing/1/2": false,
	} {
		if p.mayHave(in(path)) != want {
			t.Errorf("%s: %v", path, !want)
		}
	}
	if !p.mayHave("/etc/hosts") {
		t.Error("a path elsewhere is left out")
	}
	for n := range maxNames {
		if err := os.WriteFile(in(fmt.Sprintf(".config/x%d", n)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if p := readAll(dirs); !p.mayHave(in(".config/anything")) || p.mayHave(in(".ssh")) {
		t.Error("a large directory passes for one that is known")
	}
}
