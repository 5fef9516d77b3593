package daemon

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"podd/internal/extend/mcp"
)

func TestHiddenPaths(t *testing.T) {
	c := Config{StateDir: "/s", Socket: "/run/podd.sock", Hidden: []string{"/other"}, ConfigFile: "/h/podd.toml", ConfigPath: "/h/.config/podd/config.toml"}
	want := []string{"/s", "/run/podd.sock", "/run/podd.sock.lock", "/other", "/h/podd.toml", "/h/.config/podd/config.toml", "/h/.config/podd"}
	if got := hiddenPaths(c); !slices.Equal(got, want) {
		t.Errorf("hidden are %q, want %q", got, want)
	}
}

// A token that Kubernetes projects is hidden in each version, also in one that comes later.
func TestHiddenProjectedTokens(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "token")
	if err := os.Symlink("..data/token", path); err != nil {
		t.Fatal(err)
	}
	c := Config{StateDir: "/s", Socket: "/run/podd.sock"}
	c.Settings.MCP = []mcp.Server{{AssertionFile: path}, {TokenFile: "/run/keys/token"}}
	if got := hiddenPaths(c); !isHidden(got, filepath.Join(dir, "..2026_11_30", "token")) || !slices.Contains(got, "/run/keys/token") || isHidden(got, "/run/keys/other") {
		t.Errorf("hidden are %q", got)
	}
}
