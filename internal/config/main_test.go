package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"podd/internal/config"
	"podd/pkg/item"
)

func TestMain(m *testing.M) {
	// A configuration that a group can write is refused.
	syscall.Umask(0o022)
	goleak.VerifyTestMain(m)
}

// environment is a lookup in "NAME=value" strings.
func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for _, pair := range pairs {
			if n, value, _ := strings.Cut(pair, "="); n == name {
				return value
			}
		}
		return ""
	}
}

// write makes a configuration file and returns its path.
func write(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func load(t testing.TB, text string, env ...string) config.Config {
	t.Helper()
	c, err := config.Load(write(t, text), true, environment(env...))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// wantError checks that an error is one sentence with all the parts.
func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", parts)
	}
	if item.KindOf(err) != item.KindInvalid || item.ReasonOf(err) != "CONFIG" {
		t.Errorf("error %q is %s %s", err, item.KindOf(err), item.ReasonOf(err))
	}
	if strings.ContainsAny(err.Error(), "\n\x1b") {
		t.Errorf("%q is more than one line", err)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
}

// value is the entry of a key in Values.
func value(t *testing.T, c config.Config, key string) config.Value {
	t.Helper()
	for _, v := range c.Values() {
		if v.Key == key {
			return v
		}
	}
	t.Fatalf("Values has no %s", key)
	return config.Value{}
}
