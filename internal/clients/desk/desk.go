package desk

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"podd/internal/typo"
)

// The values of Theme and Notices. Auto is the default: it asks the terminal, or goes by its
// name.
const (
	Auto  = "auto"
	Light = "light"
	Dark  = "dark"
	OSC   = "osc"
	Off   = "off"
)

// Settings are those of the file.
type Settings struct {
	// Theme is Auto, Light or Dark.
	Theme string
	// Notices is Auto, OSC or Off.
	Notices string
	// Mouse lets the view have the mouse, and History stores prompts.
	Mouse, History bool
}

// Defaults are the settings without a file.
func Defaults() Settings { return Settings{Theme: Auto, Notices: Auto, Mouse: true, History: true} }

// File is the path of a file of the person's own configuration, below $XDG_CONFIG_HOME.
func File(env func(string) string, name string) string {
	dir := env("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(env("HOME"), ".config")
	}
	return filepath.Join(dir, "podd", name)
}

// maxBytes is far above any file of settings.
const maxBytes = 64 << 10

// Load reads a file; without it the settings are the defaults. The error is one sentence.
func Load(path string) (Settings, error) {
	s := Defaults()
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, nil
	case err != nil:
		return s, fmt.Errorf("cannot read the settings: %w", err)
	case len(text) > maxBytes:
		return s, fmt.Errorf("%s has over %d bytes: it takes a few settings", path, maxBytes)
	}
	var values map[string]any
	if err := toml.Unmarshal(text, &values); err != nil {
		line := 1
		if e, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, _ = e.Position()
		}
		return s, fmt.Errorf("%s:%d: this is not TOML: %s", path, line, strings.TrimPrefix(err.Error(), "toml: "))
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if wrong := s.set(key, values[key]); wrong != "" {
			return s, fmt.Errorf("%s:%d: %s", path, lineOf(string(text), key), wrong)
		}
	}
	return s, nil
}

// set sets a key, or says what is wrong.
func (s *Settings) set(key string, value any) (wrong string) {
	words := map[string]struct {
		target *string
		values []string
	}{"theme": {&s.Theme, []string{Auto, Light, Dark}}, "notices": {&s.Notices, []string{Auto, OSC, Off}}}
	answers := map[string]*bool{"mouse": &s.Mouse, "history": &s.History}
	if w, ok := words[key]; ok {
		word, _ := value.(string)
		if !slices.Contains(w.values, word) {
			return fmt.Sprintf("%s must be %q, %q or %q", key, w.values[0], w.values[1], w.values[2])
		}
		*w.target = word
		return ""
	}
	if target, ok := answers[key]; ok {
		if *target, ok = value.(bool); !ok {
			return key + " must be true or false"
		}
		return ""
	}
	known := slices.Sorted(maps.Keys(words))
	known = append(known, slices.Sorted(maps.Keys(answers))...)
	if near := typo.Nearest(key, known); near != "" {
		return fmt.Sprintf("unknown key %s; did you mean %s?", quoted(key), near)
	}
	return fmt.Sprintf("unknown key %s: the keys are %s", quoted(key), strings.Join(known, ", "))
}

// quoted is a key as one safe word.
func quoted(key string) string {
	if strings.Trim(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == "" && key != "" {
		return key
	}
	return strconv.Quote(key)
}

// lineOf is the line that sets a key, from 1.
func lineOf(text, key string) int {
	n, at := 0, 0
	for l := range strings.Lines(text) {
		n++
		name, _, _ := strings.Cut(l, "=")
		if at == 0 && strings.Trim(name, " \t[]\"'\r\n") == key {
			at = n
		}
	}
	return cmp.Or(at, 1)
}
