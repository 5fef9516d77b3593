package daemon_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"podd/internal/config"
	"podd/internal/daemon"
	"podd/internal/guard/policy"
	"podd/internal/testing/logs"
	"podd/pkg/client"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newConfig is a podd in its own directory, whose endpoint does not answer.
func newConfig(t testing.TB) daemon.Config {
	t.Helper()
	settings, err := config.Load("", false, func(name string) string {
		return map[string]string{"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(t.TempDir(), "state")
	logs.AtEnd(t, state)
	return daemon.Config{
		Settings: settings, StateDir: state, Socket: filepath.Join(state, "podd.sock"), Logger: slog.New(slog.DiscardHandler),
	}
}

// A podd serves until its context ends, releases what it acquired, and can be opened
// again on the same state.
func TestServeAndOpenAgain(t *testing.T) {
	c := newConfig(t)
	for round := range 2 {
		d, err := daemon.Open(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- d.Serve(ctx, nil) }()
		cl, err := client.New(client.Config{Socket: c.Socket, StateDir: c.StateDir})
		if err != nil {
			t.Fatal(err)
		}
		status, err := cl.Admin().GetStatus(t.Context(), &poddv1.GetStatusRequest{})
		if err != nil || int(status.GetPods()) != round || status.GetApi() != "chat" || !slices.Contains([]string{"bwrap", "landlock", "none"}, status.GetSandbox()) {
			t.Errorf("round %d: status %v, %v", round, status, err)
		}
		spec := &poddv1.PodSpec{Dir: t.TempDir()}
		name := []string{"first", "second"}[round]
		if _, err := cl.Pods().CreatePod(t.Context(), &poddv1.CreatePodRequest{Name: name, Spec: spec}); err != nil {
			t.Error(err)
		}
		stop()
		if err := <-served; err != nil {
			t.Errorf("round %d: %v", round, err)
		}
		_ = cl.Close()
		if _, err := os.Stat(c.Socket); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the socket is left behind: %v", err)
		}
	}
}

// Wherever Open fails, it releases what it acquired: the next Open does not meet a lock
// or a socket of the failed one.
func TestOpenFails(t *testing.T) {
	for name, tt := range map[string]struct {
		spoil  func(t *testing.T, c *daemon.Config)
		repair func(t *testing.T, c *daemon.Config)
	}{
		"foreign database": {
			spoil: func(t *testing.T, c *daemon.Config) {
				write(t, filepath.Join(c.StateDir, "podd.db"), "this is no database, whoever wrote it here")
			},
			repair: func(t *testing.T, c *daemon.Config) { remove(t, filepath.Join(c.StateDir, "podd.db")) },
		},
		"token that others can read": {
			spoil: func(t *testing.T, c *daemon.Config) {
				path := filepath.Join(c.StateDir, "client.token")
				write(t, path, "x")
				if err := os.Chmod(path, 0o644); err != nil {
					t.Fatal(err)
				}
			},
			repair: func(t *testing.T, c *daemon.Config) { remove(t, filepath.Join(c.StateDir, "client.token")) },
		},
		"file in place of the spool": {
			spoil:  func(t *testing.T, c *daemon.Config) { write(t, filepath.Join(c.StateDir, "spool"), "") },
			repair: func(t *testing.T, c *daemon.Config) { remove(t, filepath.Join(c.StateDir, "spool")) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newConfig(t)
			if err := os.Mkdir(c.StateDir, 0o700); err != nil {
				t.Fatal(err)
			}
			tt.spoil(t, &c)
			if d, err := daemon.Open(t.Context(), c); err == nil {
				d.Close(t.Context())
				t.Fatal("it opened")
			}
			tt.repair(t, &c)
			d, err := daemon.Open(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			d.Close(t.Context())
		})
	}
}

func TestStateDirOfOthers(t *testing.T) {
	c := newConfig(t)
	if err := os.Mkdir(c.StateDir, 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := daemon.Open(t.Context(), c)
	if e, ok := errors.AsType[*item.Error](err); !ok || e.Message == "" {
		t.Errorf("got %v", err)
	}
}

// A rule that can match no call is refused with its place.
func TestRulesAreChecked(t *testing.T) {
	for _, r := range []item.Rule{
		{Tool: "shel", Decision: policy.Deny, Source: "config.toml:1"},
		{Tool: "read_file", Command: "make", Decision: policy.Deny, Source: "config.toml:1"},
		{Tool: "shell", Path: "a", Decision: policy.Deny, Source: "config.toml:1"},
	} {
		c := newConfig(t)
		c.Settings.Rules = []item.Rule{r}
		d, err := daemon.Open(t.Context(), c)
		if err == nil {
			d.Close(t.Context())
		}
		if item.ReasonOf(err) != "RULE" || !strings.Contains(err.Error(), "config.toml:1") {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// An error about a command names the line that configures it.
func TestMisconfiguredExtension(t *testing.T) {
	for text, want := range map[string]string{
		"[[interceptor]]\nname = 'x'\non = ['alert']\ncommand = 'true'":                    `config.toml:1: x: unknown event "alert"`,
		"\n[[hook]]\nname = 'x'\non = ['alert']\ncommand = ['./x']":                        "config.toml:2: x: the path of the program ./x is relative",
		"[[hook]]\nname = 'x'\non = ['alert']\ncommand = 'true'\nenv = ['OPENAI_API_KEY']": "config.toml:1: x: env contains OPENAI_API_KEY",
	} {
		path := filepath.Join(t.TempDir(), "config.toml")
		write(t, path, text)
		c := newConfig(t)
		var err error
		if c.Settings, err = config.Load(path, true, func(string) string { return "" }); err != nil {
			t.Fatal(err)
		}
		d, err := daemon.Open(t.Context(), c)
		if err == nil {
			d.Close(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngives %v, want %s", text, err, want)
		}
	}
}
