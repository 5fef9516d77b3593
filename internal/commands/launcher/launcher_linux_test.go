package launcher_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"podd/internal/commands/launcher"
	"podd/internal/testing/programs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// build is a podd-launch in a directory of its own.
func build(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(programs.Launcher(t))
	path := filepath.Join(t.TempDir(), launcher.Name)
	if err == nil {
		err = os.WriteFile(path, text, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOwnBuildIsUsed(t *testing.T) {
	path := build(t)
	l, err := launcher.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	used, own := l.Path()
	if own {
		t.Fatal("its own binary is used")
	}
	// What is installed at its path later is not used.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	script(t, path, "echo another", 0o755)
	out, err := exec.Command(used, "identity").Output()
	if err != nil || strings.TrimSpace(string(out)) != launcher.Identity() {
		t.Errorf("it says %q, %v", out, err)
	}
	if out, err := exec.Command(used).CombinedOutput(); err == nil || !strings.Contains(string(out), "podd runs this program") {
		t.Errorf("started by a person it says %q, %v", out, err)
	}
}

// A file that someone writes to while podd runs is not used from then on.
func TestChangedFileIsNotUsed(t *testing.T) {
	path := build(t)
	l, err := launcher.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString("x"); err != nil {
		t.Fatal(err)
	}
	if path, own := l.Path(); !own || path != "/proc/self/exe" {
		t.Errorf("%s is used, own: %v", path, own)
	}
}

func TestWhatIsRefused(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	copied(t, "true", at("other"))
	copied(t, "false", at("failing"))
	script(t, at("closed"), "echo", 0o644)
	script(t, at("open"), "echo", 0o757)
	if err := os.Symlink("other", at("link")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"missing": "does not exist: install it with podd",
		"other":   "is of another build: install it again with podd",
		"failing": "cannot be run: exit status 1",
		"closed":  "cannot be run: ",
		"open":    "can be written by all: install it again",
		"link":    "cannot be opened: ",
	} {
		l, err := launcher.Open(t.Context(), at(name))
		if err == nil || !strings.HasPrefix(err.Error(), at(name)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
		if l != nil {
			l.Close()
		}
	}
	if l, err := launcher.Find(t.Context()); err == nil || l != nil {
		t.Errorf("beside a test there is %v", l)
	}
}

// No launcher is this process's own binary.
func TestNone(t *testing.T) {
	var l *launcher.Launcher
	if path, own := l.Path(); !own || path != "/proc/self/exe" {
		t.Errorf("%s, own: %v", path, own)
	}
	l.Close()
}

// copied copies a program.
func copied(t *testing.T, name, to string) {
	t.Helper()
	from, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, text, 0o700); err != nil {
		t.Fatal(err)
	}
}

func script(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}
