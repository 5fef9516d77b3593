package attach

import (
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"podd/internal/clients/desk"
)

// The theme is that of the settings, or goes by the terminal's background.
func TestTheme(t *testing.T) {
	for _, tt := range []struct {
		theme      string
		background color.Color
		want       string
	}{
		{desk.Auto, nil, "\x1b[33m"}, {desk.Auto, color.Black, "\x1b[33m"}, {desk.Auto, color.White, "\x1b[35m"},
		{desk.Light, color.Black, "\x1b[35m"}, {desk.Dark, color.White, "\x1b[33m"},
	} {
		a := scene(t)
		a.Color, a.Desk.Theme = true, tt.theme
		a.log.notice(yellow, "! a warning")
		if asks := a.Init() != nil; asks != (tt.theme == desk.Auto) {
			t.Errorf("%s: asks the terminal: %v", tt.theme, asks)
		}
		if tt.background != nil {
			a.Update(tea.BackgroundColorMsg{Color: tt.background})
		}
		if view := a.View(); !strings.Contains(view.Content, tt.want+"! a warning") {
			t.Errorf("%s on %v: %q", tt.theme, tt.background, view.Content)
		}
	}
}

// The mouse, notices and the history can be switched off.
func TestSwitchedOff(t *testing.T) {
	state := t.TempDir()
	env := func(name string) string {
		if name == "XDG_STATE_HOME" {
			return state
		}
		return noEnv(name)
	}
	kept := filepath.Join(state, "podd", "history.jsonl")
	for _, on := range []bool{true, false} {
		a := scene(t)
		a.Env = env
		if !on {
			a.Desk = desk.Settings{Theme: desk.Dark, Notices: desk.Off}
		}
		a.focused(false)
		a.attract("the turn has ended")
		if (a.command != nil) != on {
			t.Errorf("%v: a notice: %v", on, a.command != nil)
		}
		if view := a.View(); (view.MouseMode == tea.MouseModeCellMotion) != on {
			t.Errorf("%v: the mouse: %v", on, view.MouseMode)
		}
		a.keep(*written("a prompt"), "r")
		a.work.Wait()
		if text, err := os.ReadFile(kept); strings.Count(string(text), "\n") != 1 {
			t.Errorf("%v: the file has %q, %v, want the first prompt", on, text, err)
		}
		if n := len(pastPrompts(a.Config, "/")); (n == 1) != on {
			t.Errorf("%v: %d prompts to recall", on, n)
		}
	}
}
