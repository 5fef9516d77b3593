package service

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// plans are typical installations, and one with an absurd path.
func plans() map[string]Plan {
	return map[string]Plan{
		"plain": {Program: "/usr/bin/podd"},
		"home": {
			Program: "/home/me/.local/bin/podd", Path: "/home/me/.local/bin:/usr/bin:/bin",
			Args: []string{"--state-dir", "/home/me/work/podd"}, Socket: "/home/me/work/podd/podd.sock", Log: "/home/me/podd.log",
		},
		"strange": {
			Program: "/opt/a b/100% $HOME/podd", Path: `/opt/a b/bin:/opt/%h "x"`,
			Args: []string{"--config", "/etc/pod d/<&>;'$.toml"}, Socket: "/tmp/with space%t/podd.sock", Log: "/home/a&b/podd.log",
		},
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || string(want) != got {
		t.Errorf("%s: %v\ngot:\n%s\nwant:\n%s\nIf this is meant: go test ./internal/ops/service -update", name, err, got, want)
	}
}

func TestUnits(t *testing.T) {
	for name, plan := range plans() {
		for _, f := range Units(plan) {
			golden(t, name+"."+f.Path, f.Text)
		}
	}
}

// systemd itself finds no fault with the units. It reads names with quotes, spaces,
// percent and dollar signs as they are meant.
func TestSystemdReadsTheUnits(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); errors.Is(err, exec.ErrNotFound) {
		t.Skip("systemd is not installed here")
	}
	for name, plan := range plans() {
		dir := t.TempDir()
		// systemd accepts the unit only if the command exists.
		plan.Program = filepath.Join(dir, strings.ReplaceAll(plan.Program, "/", "_"))
		if err := os.WriteFile(plan.Program, []byte("#!/bin/sh\n"), 0o700); err != nil { //nolint:gosec // It has to be a program.
			t.Fatal(err)
		}
		var paths []string
		for _, f := range Units(plan) {
			path := filepath.Join(dir, f.Path)
			if err := os.WriteFile(path, []byte(f.Text), 0o600); err != nil {
				t.Fatal(err)
			}
			paths = append(paths, path)
		}
		cmd := exec.Command("systemd-analyze", append([]string{"--user", "--man=no", "--recursive-errors=one", "verify"}, paths...)...)
		cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir)
		out, err := cmd.CombinedOutput()
		if err != nil || strings.Contains(string(out), dir) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

func TestAgent(t *testing.T) {
	for name, plan := range plans() {
		text := Agent(plan)
		golden(t, name+".plist", text)
		d := xml.NewDecoder(strings.NewReader(text))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
}

func TestCleanPath(t *testing.T) {
	if got := CleanPath("/a:.:/b c:/a::bin:/x\ny:/c"); got != "/a:/b c:/c" {
		t.Errorf("%q", got)
	}
}
