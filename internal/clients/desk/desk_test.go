package desk_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"podd/internal/clients/desk"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "desk.toml")
	if s, err := desk.Load(path); err != nil || s != desk.Defaults() {
		t.Errorf("without a file: %+v, %v", s, err)
	}
	for text, want := range map[string]desk.Settings{
		"":                                     desk.Defaults(),
		"theme = \"light\"\nnotices = 'off'\n": {Theme: "light", Notices: "off", Mouse: true, History: true},
		"mouse = false\nhistory = false # no":  {Theme: "auto", Notices: "auto"},
	} {
		write(t, path, text)
		if s, err := desk.Load(path); err != nil || s != want {
			t.Errorf("%q: %+v, %v; want %+v", text, s, err, want)
		}
	}
	for text, want := range map[string]string{
		"# a\nthem = \"light\"":       ":2: unknown key them; did you mean theme?",
		"colour = 1":                  ":1: unknown key colour: the keys are notices, theme, history, mouse",
		"\"a\\u001b[2J\" = 1":         `:1: unknown key "a\x1b[2J": the keys are notices, theme, history, mouse`,
		"theme = \"blue\"":            `:1: theme must be "auto", "light" or "dark"`,
		"mouse = true\nnotices = off": ":2: this is not TOML: ",
		"mouse = \"yes\"":             ":1: mouse must be true or false",
		"[theme]\nlight = true":       `:1: theme must be "auto", "light" or "dark"`,
		strings.Repeat("#", 70_000):   "has over 65536 bytes",
	} {
		write(t, path, text)
		if _, err := desk.Load(path); err == nil || !strings.Contains(err.Error(), want) || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
	if _, err := desk.Load(filepath.Dir(path)); err == nil || !strings.HasPrefix(err.Error(), "cannot read the settings: ") {
		t.Errorf("a directory: %v", err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
