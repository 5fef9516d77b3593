//go:build integrations

package attach

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"podd/integrations/rig"
)

// screen is a `podctl attach` in its own tmux.
type screen struct {
	t    *testing.T
	w    *rig.World
	tmux string
}

// newScreen starts podctl with these arguments in a terminal of the given size, with env
// added to the world's environment. podctl runs in a shell, so that tests see what it
// leaves on the screen.
func newScreen(t *testing.T, w *rig.World, columns, rows int, env []string, args ...string) *screen {
	t.Helper()
	rig.Need(t, "tmux")
	s := &screen{t: t, w: w, tmux: filepath.Join(w.Dir, fmt.Sprintf("tmux-%dx%d", columns, rows))}
	rc := filepath.Join(w.Dir, "rc")
	if err := os.WriteFile(rc, []byte("PS1='shell> '\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := s.command(append([]string{"-f", os.DevNull, "new-session", "-d", "-x", fmt.Sprint(columns), "-y", fmt.Sprint(rows)}, "bash", "--rcfile", rc)...)
	c.Env = append(w.Env, append([]string{"TERM=xterm-256color"}, env...)...)
	rig.Run(t, c)
	t.Cleanup(func() { _ = s.command("kill-server").Run() }) // The server ends with its shell, too.
	s.await("shell>")
	s.keys("clear; "+rig.Binaries(t)+"/podctl "+strings.Join(args, " "), "Enter")
	return s
}

func (s *screen) command(args ...string) *exec.Cmd {
	c := exec.Command("tmux", append([]string{"-S", s.tmux}, args...)...)
	c.Env, c.Dir = s.w.Env, s.w.Workspace
	return c
}

// keys presses keys, by tmux's names for them.
func (s *screen) keys(keys ...string) {
	s.t.Helper()
	rig.Run(s.t, s.command(append([]string{"send-keys"}, keys...)...))
}

// typed types text.
func (s *screen) typed(text string) {
	s.t.Helper()
	rig.Run(s.t, s.command("send-keys", "-l", text))
}

// pasted pastes text the way a terminal does.
func (s *screen) pasted(text string) {
	s.t.Helper()
	rig.Run(s.t, s.command("set-buffer", text))
	rig.Run(s.t, s.command("paste-buffer", "-p"))
}

// shown is the text on the screen.
func (s *screen) shown() string {
	s.t.Helper()
	return rig.Run(s.t, s.command("capture-pane", "-p"))
}

// escapes is the text on the screen with the escape sequences of its colours.
func (s *screen) escapes() string {
	s.t.Helper()
	return rig.Run(s.t, s.command("capture-pane", "-p", "-e"))
}

// await waits until the screen shows all of these.
func (s *screen) await(what ...string) string {
	s.t.Helper()
	return s.awaitThat(strings.Join(what, ", "), func(shown string) bool {
		for _, w := range what {
			if !strings.Contains(shown, w) {
				return false
			}
		}
		return true
	})
}

// gone waits until the screen no longer shows this.
func (s *screen) gone(what string) string {
	s.t.Helper()
	return s.awaitThat("the end of "+what, func(shown string) bool { return !strings.Contains(shown, what) })
}

func (s *screen) awaitThat(what string, is func(shown string) bool) (shown string) {
	s.t.Helper()
	s.t.Cleanup(func() {
		if s.t.Failed() && shown != "" {
			s.t.Logf("waited for %s; the screen was\n%s", what, shown)
			shown = ""
		}
	})
	rig.Await(s.t, what, func() bool {
		shown = s.shown()
		return is(shown)
	})
	last := shown
	shown = ""
	return last
}
