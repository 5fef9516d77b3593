package daemon

import (
	"slices"
	"testing"
)

func TestHiddenPaths(t *testing.T) {
	c := Config{StateDir: "/s", Socket: "/run/podd.sock", Hidden: []string{"/other"}, ConfigFile: "/h/podd.toml", ConfigPath: "/h/.config/podd/config.toml"}
	want := []string{"/s", "/run/podd.sock", "/run/podd.sock.lock", "/other", "/h/podd.toml", "/h/.config/podd/config.toml", "/h/.config/podd"}
	if got := hiddenPaths(c); !slices.Equal(got, want) {
		t.Errorf("hidden are %q, want %q", got, want)
	}
}
