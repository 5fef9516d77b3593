package main

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// The files to install have the named places, and no key.
func TestServiceDryRun(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("podd does not support services of this system")
	}
	home := t.TempDir()
	env := map[string]string{
		"HOME": home, "PATH": "/usr/bin:.:/bin", "OPENAI_API_KEY": "sk-secret", "OPENAI_BASE_URL": "http://secret.example",
		"PODD_STATE_DIR": filepath.Join(home, "state"),
	}
	code, out, errs := runPodd(t, env, "service", "install", "--dry-run", "--config", "/etc/podd.toml")
	if code != exitDone || errs != "" || strings.Contains(out, "secret") {
		t.Fatalf("exit code %d, %s%s", code, errs, out)
	}
	for _, want := range []string{"/usr/bin:/bin", home + "/state", home + "/state/podd.sock", "/etc/podd.toml"} {
		if !strings.Contains(out, want) {
			t.Errorf("%s is not in %s", want, out)
		}
	}
	for _, args := range [][]string{{"service"}, {"service", "fly"}, {"service", "install", "x"}} {
		if code, _, errs := runPodd(t, env, args...); code != exitUsage || strings.Count(errs, "\n") != 1 {
			t.Errorf("%v: exit code %d, %s", args, code, errs)
		}
	}
}
