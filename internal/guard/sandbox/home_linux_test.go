package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podd/internal/guard/sandbox"
	"podd/pkg/scopefs"
)

// A workspace may contain podd's own directory, as a home directory does. Then that
// directory is hidden in it, and cannot be moved out of hiding.
func TestWorkspaceAroundPoddsOwn(t *testing.T) {
	h := newHouse(t)
	home := h.path("work")
	if err := os.Rename(h.path("state"), h.path("work/sub/state")); err != nil {
		t.Fatal(err)
	}
	h.config.Hidden = []string{filepath.Join(home, "sub/state"), filepath.Join(home, "sub/state/podd.sock"), filepath.Join(home, ".config/podd")}
	h.write("work/sub/state/podd.sock") // What is in a hidden directory shows no more of it.
	fs, err := scopefs.Open(scopefs.Config{Dir: home})
	if err != nil {
		t.Fatal(err)
	}
	defer fs.Close()
	scope := sandbox.Scope{Dir: home, Roots: fs.Roots(), Temp: h.path("temp")}
	if s := h.sandbox(sandbox.Landlock); true {
		if _, err := s.Command(scope, 3, "/bin/true"); err == nil || !strings.Contains(err.Error(), "Landlock cannot hide") {
			t.Errorf("Landlock: %v", err)
		}
	}
	s := h.sandbox(sandbox.Bwrap)
	out := h.runIn(s, scope, "", "/bin/sh", "-c", `cat sub/state/client.token; mv sub x; mv sub/state y; mv .config z; echo a >.config/podd/config.toml; echo ok >sub/mine; exec 2>&1`)
	for _, want := range []string{"client.token: No such file", "'sub' to 'x': Device or resource busy", "'sub/state': Device or resource busy", "'.config' to 'z': Device or resource busy"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in %s", want, out)
		}
	}
	if _, err := os.Stat(h.path("work/.config/podd/config.toml")); err == nil {
		t.Error("podd's configuration was written")
	}
	if text, err := os.ReadFile(h.path("work/sub/mine")); err != nil || string(text) != "ok\n" {
		t.Errorf("another directory beside it: %q, %v", text, err)
	}
	scope.Dir = filepath.Join(home, "sub/state")
	own, err := scopefs.Open(scopefs.Config{Dir: scope.Dir})
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	scope.Roots = own.Roots()
	if _, err := s.Command(scope, 3, "/bin/true"); err == nil || !strings.Contains(err.Error(), "belongs to podd itself") {
		t.Errorf("podd's own directory as a workspace: %v", err)
	}
}

// Nothing in a workspace makes the sandbox bind the target of a link in it, or a root
// that replaced the opened one.
func TestLinksOfTheWorkspaceAreNotFollowed(t *testing.T) {
	for _, c := range []struct{ name, prepare, script string }{
		{".git is a link", "rm -rf .git && ln -s OUTSIDE .git", "echo attacked >.git/file"},
		{"hooks are a link", "rm -rf .git/hooks && ln -s STATE .git/hooks", "cat .git/hooks/client.token"},
		{"config is a link", "rm -rf .git/config && ln -s STATE/client.token .git/config", "cat .git/config"},
		{"a start-up file is a link", "rm .bashrc && ln -s STATE/client.token .bashrc", "cat .bashrc"},
		{"the workspace is swapped", "cd .. && mv work work2 && ln -s OUTSIDE work", "echo attacked >file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, mode := range modes {
				t.Run(mode, func(t *testing.T) {
					h := newHouse(t)
					s := h.sandbox(mode)
					scope, done := h.scope()
					defer done()
					prepare := strings.NewReplacer("OUTSIDE", h.path("outside"), "STATE", h.path("state")).Replace(c.prepare)
					off := h.sandbox(sandbox.Off)
					if out := h.run(off, "", "/bin/sh", "-c", prepare); out != "" {
						t.Fatal(out)
					}
					out := h.runIn(s, scope, "", "/bin/sh", "-c", c.script)
					if strings.Contains(out, "secret") || !h.untouched("outside/file") {
						t.Errorf("it succeeded: %q", out)
					}
				})
			}
		})
	}
}

func TestNoFilesArePassedOn(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			h := newHouse(t)
			out := h.run(h.sandbox(mode), "", "/bin/sh", "-c", "for n in 3 4 5 6 7 8 9; do (: <&$n) 2>/dev/null && echo $n; done")
			if out != "" {
				t.Errorf("these descriptors are open: %s", out)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	for _, mode := range []sandbox.Mode{sandbox.Bwrap, sandbox.Landlock, sandbox.None} {
		t.Run(mode, func(t *testing.T) {
			h := newHouse(t)
			var s *sandbox.Sandbox
			if s = h.sandbox(sandbox.Off); mode != sandbox.None {
				s = h.sandbox(mode)
			} else {
				s.Config.Mode = sandbox.Auto // The configuration wants a sandbox, and none works.
			}
			for _, name := range []string{"core", "big file", "oom"} {
				if mode == sandbox.Landlock && name == "oom" {
					continue // It cannot see its score.
				}
				if ok, said := h.attack(h.sandbox(sandbox.Off), name, ""); !ok {
					t.Errorf("without limits %s %s", name, said)
				}
				h.limited = true
				if ok, _ := h.attack(s, name, ""); ok {
					t.Errorf("%s succeeded", name)
				}
				h.limited = false
			}
		})
	}
}

func TestDetect(t *testing.T) {
	off := sandbox.Detect(t.Context(), sandbox.Config{Mode: sandbox.Off})
	if off.Mode() != sandbox.None || off.Confines() || off.Why() == "" || off.Refuses() != "" {
		t.Errorf("off: %+v", off)
	}
	t.Setenv("PATH", t.TempDir())
	none := sandbox.Detect(t.Context(), sandbox.Config{Mode: sandbox.Bwrap, Required: true})
	if none.Mode() != sandbox.None || !strings.Contains(none.Why(), "not installed") || !strings.Contains(none.Refuses(), "requires a sandbox") {
		t.Errorf("without bwrap: %s, %q, %q", none.Mode(), none.Why(), none.Refuses())
	}
}
