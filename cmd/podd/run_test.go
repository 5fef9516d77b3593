package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podd/internal/config"
)

// runPodd runs podd in this process.
func runPodd(t *testing.T, env map[string]string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	code = run(ctx, append([]string{}, args...), program{stdout: &out, stderr: &errs, env: func(k string) string { return env[k] }})
	return code, out.String(), errs.String()
}

// Bad input gives one sentence on standard error and exit code 2.
func TestBadInput(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tests := []struct {
		name string
		args []string
		env  map[string]string
		want []string
	}{
		{"unknown verb", []string{"fly"}, nil, []string{`"fly"`, "--help"}},
		{"help of an unknown verb", []string{"fly", "--help"}, nil, []string{`"fly"`}},
		{"help of an unknown verb of a verb", []string{"service", "fly", "--help"}, nil, []string{`"fly"`}},
		{"unknown flag", []string{"--fly"}, nil, []string{"--fly"}},
		{"argument to serve", []string{"serve", "x"}, nil, []string{`"x"`}},
		{"log level", []string{"serve", "--log-level", "loud"}, nil, []string{"loud", "debug, info, warn or error"}},
		{"log format", []string{"--log-format", "xml"}, nil, []string{"xml", "text or json"}},
		{"output form", []string{"config", "-o", "yaml"}, nil, []string{"yaml", "text or json"}},
		{"missing config", []string{"--config", dir + "/none.toml"}, nil, []string{"none.toml"}},
		{"directory as config", []string{"--config", dir}, nil, []string{dir}},
		{"unknown key", []string{"--config", file("a.toml", "\nmodell = \"x\"\n")}, nil, []string{"a.toml:2", "modell"}},
		{"bad value", []string{"--config", file("b.toml", "[limits]\nmax_steps = -1\n")}, nil, []string{"b.toml:2", "max_steps"}},
		{"no TOML", []string{"--config", file("c.toml", "model = \n")}, nil, []string{"c.toml:1"}},
		{"bad base URL", nil, map[string]string{"OPENAI_BASE_URL": "localhost:1"}, []string{"OPENAI_BASE_URL"}},
		{"long socket", []string{"--socket", "/" + strings.Repeat("x", 200)}, nil, []string{"107", "--socket"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env := map[string]string{"HOME": dir, "PODD_STATE_DIR": filepath.Join(dir, "state")}
			for k, v := range tt.env {
				env[k] = v
			}
			code, stdout, stderr := runPodd(t, env, tt.args...)
			if code != exitUsage || stdout != "" {
				t.Errorf("exit code %d, stdout %q", code, stdout)
			}
			if !strings.HasPrefix(stderr, "podd: ") || strings.Count(stderr, "\n") != 1 {
				t.Errorf("not one sentence: %q", stderr)
			}
			for _, want := range tt.want {
				if !strings.Contains(stderr, want) {
					t.Errorf("%q lacks %q", stderr, want)
				}
			}
		})
	}
}

func TestConfigCommand(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "podd.toml")
	if err := os.WriteFile(path, []byte("model = \"from-file\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"HOME": dir, "PODD_CONFIG": path, "OPENAI_API_KEY": "sk-secret", "PODD_SOCKET": "/run/x.sock"}
	code, stdout, stderr := runPodd(t, env, "config", "-o", "json")
	if code != exitDone || stderr != "" || strings.Contains(stdout, "sk-secret") {
		t.Fatalf("exit code %d, stderr %q, stdout %q", code, stderr, stdout)
	}
	got := map[string][2]string{}
	for line := range strings.Lines(stdout) {
		var v struct{ Key, Value, Origin string }
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		got[v.Key] = [2]string{v.Value, v.Origin}
	}
	for key, want := range map[string][2]string{
		"model":     {`"from-file"`, path + ":1"},
		"socket":    {"/run/x.sock", "PODD_SOCKET"},
		"api_key":   {"set", "OPENAI_API_KEY"},
		"state-dir": {filepath.Join(dir, ".local/state/podd"), "default"},
	} {
		if got[key] != want {
			t.Errorf("%s is %v, want %v", key, got[key], want)
		}
	}
	if code, stdout, _ := runPodd(t, env, "config", "--example"); code != exitDone || stdout != config.Example {
		t.Errorf("config --example: %d\n%s", code, stdout)
	}
	if code, stdout, _ := runPodd(t, env, "config"); code != exitDone || !strings.Contains(stdout, "from-file") {
		t.Errorf("text: exit code %d, %s", code, stdout)
	}
}

func TestVersionAndHelp(t *testing.T) {
	for _, args := range [][]string{{"version"}, {"--help"}, {"serve", "--help"}} {
		if code, stdout, stderr := runPodd(t, nil, args...); code != exitDone || !strings.Contains(stdout, "podd") || stderr != "" {
			t.Errorf("%v: exit code %d, stdout %q, stderr %q", args, code, stdout, stderr)
		}
	}
}
