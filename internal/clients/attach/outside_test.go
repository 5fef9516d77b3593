package attach

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"
)

// toldTo runs f in the goroutine of the view, until it says that it is done.
func (a *app) toldTo(f func() (done bool)) {
	for over := false; !over; {
		ran := make(chan struct{})
		a.hand(func() {
			defer close(ran)
			over = f()
		})
		select {
		case <-ran:
		case <-a.ctx.Done():
			return
		}
	}
}

// edits opens a draft in an editor, which is a script: its last argument is the file.
func (a *app) edits(t *testing.T, script string) {
	home := t.TempDir()
	editor := filepath.Join(home, "editor")
	if err := os.WriteFile(editor, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Error(err)
	}
	t.Setenv("TMPDIR", home)
	a.toldTo(func() bool {
		a.Env = func(name string) string { return map[string]string{"VISUAL": editor, "HOME": home}[name] }
		a.ready = true
		a.prompt.draft = *written("my draft")
		a.press(key{kind: keyEdit})
		return true
	})
}

// left are the texts of drafts that are left in temporary files.
func left(t *testing.T) (texts []string) {
	files, err := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "podctl-*", draftFile))
	if err != nil {
		t.Error(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Error(err)
		}
		texts = append(texts, string(text))
	}
	return texts
}

// What a person writes in an editor that fails stays in its file, which the view names.
func TestFailedEditor(t *testing.T) {
	for name, tt := range map[string]struct{ script, left, said, draft string }{
		"it succeeds":         {`printf ' and more' >>"$1"`, "", "", "my draft and more"},
		"it gives up":         {`exit 1`, "", "the editor failed; the draft is as it was", "my draft"},
		"it fails with text":  {`printf ' and more' >>"$1"; exit 1`, "my draft and more", "the editor failed; the draft is as it was; see ", "my draft"},
		"it is killed":        {`echo swap >"${1%/*}/.prompt.md.swp"; kill -9 $$`, "my draft", "the editor failed; the draft is as it was; see ", "my draft"},
		"it removes the file": {`rm "$1"`, "", "the editor failed; the draft is as it was; see ", "my draft"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := shownOn(t, func(a *app) error {
				a.edits(t, tt.script)
				a.toldTo(func() bool { return a.prompt.editing == "" })
				a.toldTo(func() bool {
					if got := strings.Join(left(t), "|"); got != tt.left || !strings.HasPrefix(a.said, tt.said) || a.prompt.draft.whole() != tt.draft {
						t.Errorf("the draft is %q, left is %q, the view says %q", a.prompt.draft.whole(), got, a.said)
					}
					a.quit = true
					return true
				})
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// A view that ends waits for the editor, and names the file. The next view recalls the draft.
func TestEditorOutlivesTheView(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	gone := errors.New("the pod was deleted")
	var view *app
	_, err := shownOn(t, func(a *app) error {
		view = a
		a.edits(t, `printf started >`+fifo+`; read go <`+fifo+`; printf ' and more' >>"$1"`)
		if _, err := os.ReadFile(fifo); err != nil {
			t.Error(err)
		}
		go func() {
			<-a.ctx.Done()
			if err := os.WriteFile(fifo, []byte("go\n"), 0o600); err != nil {
				t.Error(err)
			}
		}()
		return gone
	})
	if !errors.Is(err, gone) || !strings.Contains(err.Error(), "; your draft is in "+view.prompt.editing) {
		t.Errorf("it ends with %v", err)
	}
	if got := left(t); len(got) != 1 || got[0] != "my draft and more" {
		t.Errorf("left is %q", got)
	}
	if got := pastPrompts(view.Config, ""); len(got) != 1 || got[0].whole() != "my draft and more" {
		t.Errorf("the history has %d prompts", len(got))
	}
}

// A draft of a view that ends without its person can be recalled in the next one, or is in a file.
func TestDraftOutlivesTheView(t *testing.T) {
	for _, history := range []bool{true, false} {
		var view *app
		_, err := shownOn(t, func(a *app) error {
			view = a
			a.edits(t, `exit 0`)
			a.toldTo(func() bool { a.Desk.History = history; return a.prompt.editing == "" })
			return syscall.Kill(syscall.Getpid(), syscall.SIGHUP)
		})
		if !errors.Is(err, errHangup) || !history && !strings.HasSuffix(err.Error(), "; your draft is in "+view.prompt.editing) {
			t.Errorf("it ends with %v", err)
		}
		if history {
			if got := pastPrompts(view.Config, ""); len(got) != 1 || got[0].whole() != "my draft" || len(left(t)) != 0 {
				t.Errorf("the history has %d prompts", len(got))
			}
		} else if got := left(t); len(got) != 1 || got[0] != "my draft" {
			t.Errorf("left is %q", got)
		}
	}
}

// Whatever stopped the process, and whatever had the terminal meanwhile, the view takes it again.
func TestContinues(t *testing.T) {
	person, other, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer person.Close()
	defer other.Close()
	shells, err := term.GetState(int(other.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	written, err := shownOn(t, func(a *app) error {
		fd := int(a.In.Fd())
		a.toldTo(func() bool { a.ready = true; return true })
		raw, err := term.GetState(fd)
		if err != nil || reflect.DeepEqual(raw, shells) {
			t.Errorf("the terminal is not raw: %v", err)
		}
		if err := term.Restore(fd, shells); err != nil {
			t.Error(err)
		}
		if err := syscall.Kill(syscall.Getpid(), syscall.SIGCONT); err != nil {
			t.Error(err)
		}
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
			now, err := term.GetState(fd)
			if reflect.DeepEqual(now, raw) {
				break
			}
			if err != nil || time.Now().After(deadline) {
				t.Errorf("the terminal is %v, was %v: %v", now, raw, err)
				break
			}
		}
		a.hand(func() { a.quit = true })
		return nil
	})
	if err != nil || strings.Count(written, "\x1b[?1049h") != 2 || strings.Count(written, "\x1b[?1049l") != 2 {
		t.Errorf("it ended with %v, and wrote %q", err, written)
	}
}
