package service

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podd/pkg/item"
)

// Files are written once, replaced when their content changes, and removed. Files that
// podd did not write stay, and then no other file changes either.
func TestFiles(t *testing.T) {
	home := t.TempDir()
	s, err := For("linux", home, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	files := s.Files(Plan{Program: "/usr/bin/podd"})
	for _, want := range []Change{Wrote, Unchanged, Replaced} {
		if want == Replaced {
			files = s.Files(Plan{Program: "/usr/local/bin/podd", Socket: "/x/podd.sock"})
		}
		got, err := write(files)
		if err != nil || len(got) != 2 || got[0].Change != want || got[1].Change != want {
			t.Fatalf("%v, %v, want %s", got, err, want)
		}
	}
	if err := os.WriteFile(files[1].Path, []byte("[Service]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(files[0].Path)
	if _, err := write(s.Files(Plan{Program: "/p"})); item.ReasonOf(err) != "NOT_OURS" {
		t.Errorf("another's unit: %v", err)
	}
	if after, _ := os.ReadFile(files[0].Path); string(after) != string(before) {
		t.Errorf("the socket's unit was changed")
	}
	if _, err := remove([]string{files[1].Path}); item.ReasonOf(err) != "NOT_OURS" {
		t.Errorf("another's unit: %v", err)
	}
	if got, err := remove([]string{files[0].Path, filepath.Join(home, "none")}); err != nil || len(got) != 1 || got[0].Change != Removed {
		t.Errorf("%v, %v", got, err)
	}
	if left, _ := os.ReadDir(filepath.Dir(files[0].Path)); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
}

// Values that the files can't express, and systems without services, are refused with a
// sentence.
func TestRefusals(t *testing.T) {
	for _, p := range []Plan{{Program: `/opt/a"b/podd`}, {Program: "/p", Socket: "/a\nb"}, {Program: "/p", Args: []string{"\x1b"}}} {
		if err := p.check(); item.KindOf(err) != item.KindInvalid || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%+v: %v", p, err)
		}
	}
	if _, err := For("plan9", "/home", os.Getenv); item.ReasonOf(err) != "NO_SERVICE" {
		t.Error(err)
	}
	if _, err := For("linux", "", os.Getenv); item.ReasonOf(err) != "NO_HOME" {
		t.Error(err)
	}
}
