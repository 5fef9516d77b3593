package shell_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"podd/internal/guard/sandbox"
	"podd/pkg/item"
	"podd/pkg/tool"
	"podd/pkg/tool/scratch"
)

// cacheHouse is a podd with the caches of its workspaces.
type cacheHouse struct {
	t      *testing.T
	state  string
	caches *scratch.Caches
	adjust func(*setup)
}

func newCacheHouse(t *testing.T, mode sandbox.Mode) *cacheHouse {
	t.Helper()
	state := t.TempDir()
	box := confined(t, mode, func(c *sandbox.Config) { c.Hidden = []string{state} })
	h := &cacheHouse{t: t, state: state, caches: &scratch.Caches{Dir: filepath.Join(state, "caches")}}
	h.adjust = func(c *setup) {
		box(c)
		c.Caches = h.caches
	}
	return h
}

// pod is one that works in a directory.
func (h *cacheHouse) pod(dir string, adjust ...func(*setup)) *bench {
	h.t.Helper()
	return benchAt(h.t, dir, h.t.TempDir(), append([]func(*setup){h.adjust}, adjust...)...)
}

// prints runs a command and returns what it printed.
func (b *bench) prints(command string) string {
	b.t.Helper()
	out := b.call("shell", object("command", command))
	if out.IsError {
		b.t.Errorf("%s: %s\n%s", command, out.Summary, out.Content)
	}
	return strings.TrimSpace(out.Content)
}

func eachCacheHouse(t *testing.T, test func(t *testing.T, h *cacheHouse, mode sandbox.Mode)) {
	for _, mode := range sandboxes {
		t.Run(mode, func(t *testing.T) { test(t, newCacheHouse(t, mode), mode) })
	}
}

// The pods of one workspace share a cache, also with a later podd; nobody else's commands see it.
func TestShellCacheOfAWorkspace(t *testing.T) {
	eachCacheHouse(t, func(t *testing.T, h *cacheHouse, _ sandbox.Mode) {
		work, other := t.TempDir(), t.TempDir()
		first, second, stranger := h.pod(work), h.pod(work), h.pod(other)
		cache := first.prints("mkdir $XDG_CACHE_HOME/go && echo built >$XDG_CACHE_HOME/go/x && echo $XDG_CACHE_HOME")
		if !strings.HasPrefix(cache, h.caches.Dir) {
			t.Fatalf("the cache is %s", cache)
		}
		// In copies of mounts made before, too.
		for range 3 {
			if said := second.prints("cat $XDG_CACHE_HOME/go/x && touch $XDG_CACHE_HOME/more"); said != "built" {
				t.Errorf("another pod reads %q", said)
			}
		}
		if said := stranger.prints("ls -A $XDG_CACHE_HOME; cat " + cache + "/go/x 2>/dev/null; ls " + h.caches.Dir + "/*/files 2>/dev/null; echo end"); said != "end" {
			t.Errorf("another workspace sees %q", said)
		}
		if out := stranger.call("shell", object("command", "echo y >"+cache+"/y")); !out.IsError {
			t.Error("another workspace writes into the cache")
		}
		// What is around the cache is podd's own.
		if out := first.call("shell", object("command", "echo x >$XDG_CACHE_HOME/../workspace")); !out.IsError {
			if text, err := os.ReadFile(filepath.Dir(cache) + "/workspace"); err != nil || string(text) != work {
				t.Errorf("podd's record is %q, %v", text, err)
			}
		}
		h.caches = &scratch.Caches{Dir: h.caches.Dir}
		if said := h.pod(work).prints("cat $XDG_CACHE_HOME/go/x"); said != "built" {
			t.Errorf("with a later podd: %q", said)
		}
	})
}

// A command that only plans has a cache in its own /tmp, as everything else that it writes.
func TestShellCacheWhilePlanning(t *testing.T) {
	eachCacheHouse(t, func(t *testing.T, h *cacheHouse, _ sandbox.Mode) {
		work := t.TempDir()
		b := h.pod(work)
		cache := b.prints("echo built >$XDG_CACHE_HOME/x && echo $XDG_CACHE_HOME")
		plan := func(command string) tool.Output {
			out, err := b.tool("shell").Run(t.Context(), &tool.Invocation{Arguments: object("command", command), Plan: true})
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		if out := plan("mkdir -p $XDG_CACHE_HOME && echo mine >$XDG_CACHE_HOME/y && cat $XDG_CACHE_HOME/y"); out.IsError || out.Content != "mine\n" {
			t.Errorf("its own: %s %s", out.Summary, out.Content)
		}
		plan("echo bad >" + cache + "/x; rm -f " + cache + "/x; mkdir -p " + cache + "/z; touch " + cache + "/y")
		if said := b.prints("ls $XDG_CACHE_HOME; cat $XDG_CACHE_HOME/x"); said != "x\nbuilt" {
			t.Errorf("afterwards the cache has %q", said)
		}
	})
}

// A link in place of the cache leads nowhere: the command caches in its /tmp.
func TestShellCacheIsNoLink(t *testing.T) {
	eachCacheHouse(t, func(t *testing.T, h *cacheHouse, _ sandbox.Mode) {
		b := h.pod(t.TempDir())
		cache := b.prints("echo $XDG_CACHE_HOME")
		outside := t.TempDir()
		if err := os.Remove(cache); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(outside, cache); err != nil {
			t.Fatal(err)
		}
		b.prints("mkdir -p $XDG_CACHE_HOME && echo x >$XDG_CACHE_HOME/x")
		if out := b.call("shell", object("command", "echo x >"+cache+"/x; echo x >"+outside+"/x")); !out.IsError {
			t.Errorf("%s", out.Summary)
		}
		if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
			t.Errorf("outside there is %v, %v", left, err)
		}
	})
}

// A cache that was removed between two commands is made again, also for commands that enter
// mounts made before.
func TestShellCacheIsMadeAgain(t *testing.T) {
	eachCacheHouse(t, func(t *testing.T, h *cacheHouse, _ sandbox.Mode) {
		b := h.pod(t.TempDir())
		for range 4 {
			if said := b.prints("ls $XDG_CACHE_HOME; echo x >$XDG_CACHE_HOME/x; echo end"); said != "end" {
				t.Errorf("it has %q", said)
			}
			if err := os.RemoveAll(h.caches.Dir); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// npm, which has a variable of its own, works with a read-only home directory, and what the
// configuration sets applies.
func TestShellCacheVariables(t *testing.T) {
	eachCacheHouse(t, func(t *testing.T, h *cacheHouse, _ sandbox.Mode) {
		work := t.TempDir()
		b := h.pod(work)
		if said := b.prints(`[ "$npm_config_cache" = "$XDG_CACHE_HOME/npm" ] && echo same`); said != "same" {
			t.Error("npm has another cache")
		}
		set := h.pod(work, func(c *setup) { c.Env = []string{"npm_config_cache=/n", "TMPDIR=/t"} })
		if said := set.prints("echo $npm_config_cache $TMPDIR"); said != "/n /t" {
			t.Errorf("the configuration says otherwise than %q", said)
		}
		if _, err := exec.LookPath("npm"); err != nil {
			t.Skip(err)
		}
		b.write("package.json", `{"name": "x", "version": "1.0.0"}`)
		b.prints("npm pack --offline --no-update-notifier && ls x-1.0.0.tgz")
	})
}

// A command that a killed podd started keeps its cache: the next one knows that it is used.
func TestShellCacheOfARecoveredCommand(t *testing.T) {
	eachCacheHouse(t, func(t *testing.T, h *cacheHouse, mode sandbox.Mode) {
		t.Setenv(sandboxVariable, mode)
		t.Setenv(cachesVariable, h.caches.Dir)
		dir, spoolDir := t.TempDir(), t.TempDir()
		arguments := object("timeout_seconds", 60, "command",
			"echo built >$XDG_CACHE_HOME/x; : >ready; while ! [ -e go ]; do sleep 0.01; done; cat $XDG_CACHE_HOME/x")
		killAfter(t, dir, spoolDir, arguments, "ready")
		b := benchAt(t, dir, spoolDir, func(c *setup) { c.Caches = h.caches })
		b.write("go", "")
		out, found, err := b.tool("shell").Recover(t.Context(), with(theCall, arguments))
		if err != nil || found != item.RecoveryFound || out.Content != "built\n" {
			t.Errorf("found %v, %v: %+v", found, err, out)
		}
		h.caches.MaxBytes = 1
		if err := h.caches.Clean(t.Context()); err != nil {
			t.Error(err)
		}
		if left, err := filepath.Glob(h.caches.Dir + "/*/files/x"); err != nil || len(left) != 1 {
			t.Errorf("what it used is gone: %q, %v", left, err)
		}
	})
}
