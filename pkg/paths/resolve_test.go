package paths_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podd/pkg/item"
	"podd/pkg/paths"
)

func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q does not say %q", text, part)
		}
	}
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

func TestPlaces(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	const home = "HOME=/home/u"
	stateDir, socket, config := paths.StateDir, paths.Socket, paths.ConfigFile
	tests := map[string]struct {
		resolve func(paths.Flags, func(string) string) (paths.Place, error)
		flags   paths.Flags
		env     []string
		want    paths.Place
	}{
		"state: default": {stateDir, paths.Flags{}, []string{home}, paths.Place{Path: "/home/u/.local/state/podd", Origin: "default"}},
		"state: XDG":     {stateDir, paths.Flags{}, []string{home, "XDG_STATE_HOME=/x"}, paths.Place{Path: "/x/podd", Origin: "XDG_STATE_HOME"}},
		"state: relative XDG is ignored": {
			stateDir, paths.Flags{}, []string{home, "XDG_STATE_HOME=x"}, paths.Place{Path: "/home/u/.local/state/podd", Origin: "default"},
		},
		"state: variable": {
			stateDir, paths.Flags{}, []string{home, "XDG_STATE_HOME=/x", "PODD_STATE_DIR=/v"},
			paths.Place{Path: "/v", Origin: "PODD_STATE_DIR", Named: true},
		},
		"state: flag": {
			stateDir, paths.Flags{StateDir: "/f/../g/"}, []string{"PODD_STATE_DIR=/v"},
			paths.Place{Path: "/g", Origin: "--state-dir", Named: true},
		},
		"state: relative flag": {
			stateDir, paths.Flags{StateDir: "state"}, nil,
			paths.Place{Path: filepath.Join(here, "state"), Origin: "--state-dir", Named: true},
		},

		"socket: runtime directory": {
			socket, paths.Flags{}, []string{home, "XDG_RUNTIME_DIR=/run/user/7", "XDG_STATE_HOME=/x"},
			paths.Place{Path: "/run/user/7/podd/podd.sock", Origin: "XDG_RUNTIME_DIR"},
		},
		"socket: runtime directory, no home": {
			socket, paths.Flags{}, []string{"XDG_RUNTIME_DIR=/run/user/7"},
			paths.Place{Path: "/run/user/7/podd/podd.sock", Origin: "XDG_RUNTIME_DIR"},
		},
		"socket: default state directory": {
			socket, paths.Flags{}, []string{home, "XDG_RUNTIME_DIR=relative"},
			paths.Place{Path: "/home/u/.local/state/podd/podd.sock", Origin: "default"},
		},
		"socket: XDG state directory": {
			socket, paths.Flags{}, []string{home, "XDG_STATE_HOME=/x"},
			paths.Place{Path: "/x/podd/podd.sock", Origin: "XDG_STATE_HOME"},
		},
		"socket: in a state directory that a flag names": {
			socket, paths.Flags{StateDir: "/s"}, []string{"XDG_RUNTIME_DIR=/run/user/7"},
			paths.Place{Path: "/s/podd.sock", Origin: "--state-dir"},
		},
		"socket: in a state directory that a variable names": {
			socket, paths.Flags{}, []string{"XDG_RUNTIME_DIR=/run/user/7", "PODD_STATE_DIR=/v"},
			paths.Place{Path: "/v/podd.sock", Origin: "PODD_STATE_DIR"},
		},
		"socket: a variable beats the state directory's flag": {
			socket, paths.Flags{StateDir: "/s"}, []string{"PODD_SOCKET=/v.sock"},
			paths.Place{Path: "/v.sock", Origin: "PODD_SOCKET", Named: true},
		},
		"socket: flag": {
			socket, paths.Flags{Socket: "/f.sock", StateDir: "/s"}, []string{"PODD_SOCKET=/v.sock"},
			paths.Place{Path: "/f.sock", Origin: "--socket", Named: true},
		},

		"config: default": {config, paths.Flags{}, []string{home}, paths.Place{Path: "/home/u/.config/podd/config.toml", Origin: "default"}},
		"config: XDG": {
			config, paths.Flags{}, []string{home, "XDG_CONFIG_HOME=/x"},
			paths.Place{Path: "/x/podd/config.toml", Origin: "XDG_CONFIG_HOME"},
		},
		"config: variable": {
			config, paths.Flags{}, []string{home, "PODD_CONFIG=/v.toml"},
			paths.Place{Path: "/v.toml", Origin: "PODD_CONFIG", Named: true},
		},
		"config: flag": {
			config, paths.Flags{Config: "/f.toml"}, []string{"PODD_CONFIG=/v.toml"},
			paths.Place{Path: "/f.toml", Origin: "--config", Named: true},
		},
		"config: nowhere": {config, paths.Flags{}, nil, paths.Place{Origin: "default"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := tt.resolve(tt.flags, environment(tt.env...))
			if err != nil || got != tt.want {
				t.Errorf("got %+v, %v, want %+v", got, err, tt.want)
			}
		})
	}
}

func TestNoHome(t *testing.T) {
	_, err := paths.StateDir(paths.Flags{}, environment("HOME=relative"))
	wantError(t, err, item.KindInvalid, "NO_STATE_DIR", "--state-dir", "PODD_STATE_DIR")
	_, err = paths.Socket(paths.Flags{}, environment())
	wantError(t, err, item.KindInvalid, "NO_STATE_DIR")
}

func TestSocketPathTooLong(t *testing.T) {
	long := "/" + strings.Repeat("s", paths.MaxSocketPath)
	_, err := paths.Socket(paths.Flags{Socket: long}, environment())
	wantError(t, err, item.KindInvalid, "SOCKET_PATH_TOO_LONG", "--socket", long)
	_, err = paths.Socket(paths.Flags{StateDir: long}, environment())
	wantError(t, err, item.KindInvalid, "SOCKET_PATH_TOO_LONG")
	if _, err := paths.Socket(paths.Flags{Socket: long[:paths.MaxSocketPath]}, environment()); err != nil {
		t.Errorf("a path of %d bytes: %v", paths.MaxSocketPath, err)
	}
}

// The limit is the system's: a path of just that length can be listened at.
func TestMaxSocketPathIsTheSystems(t *testing.T) {
	dir := t.TempDir()
	path := dir + "/" + strings.Repeat("s", max(1, paths.MaxSocketPath-len(dir)-1))
	if len(path) > paths.MaxSocketPath {
		t.Skipf("the temporary directory %s is too long", dir)
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatalf("listen at a path of %d bytes: %v", len(path), err)
	}
	listener.Close()
}
