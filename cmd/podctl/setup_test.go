package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// podctl setup is podd setup, of the podd in PATH if none is beside podctl.
func TestSetup(t *testing.T) {
	podctl, err := exec.LookPath("podctl")
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	// Alone in a directory.
	program, err := os.ReadFile(podctl)
	if err != nil {
		t.Fatal(err)
	}
	podctl = filepath.Join(home, "podctl")
	if err := os.WriteFile(podctl, program, 0o755); err != nil {
		t.Fatal(err)
	}
	setup := func(args ...string) ([]byte, error) {
		cmd := exec.Command(podctl, append([]string{"setup"}, args...)...)
		cmd.Env = []string{"HOME=" + home, "PATH=" + home, "OPENAI_API_KEY=sk-secret", "GORACE=exitcode=99 atexit_sleep_ms=0"}
		return cmd.CombinedOutput()
	}
	if said, err := setup(); err == nil || !bytes.Contains(said, []byte("podd is not beside podctl and not in PATH: install it")) {
		t.Errorf("without podd: %v, %s", err, said)
	}
	if err := os.Symlink(poddPath, filepath.Join(home, "podd")); err != nil {
		t.Fatal(err)
	}
	if said, err := setup(); err != nil || !bytes.Contains(said, []byte("with the key in OPENAI_API_KEY")) || bytes.Contains(said, []byte("sk-secret")) {
		t.Errorf("%v, %s", err, said)
	}
	if said, err := setup("now"); err == nil || !bytes.Contains(said, []byte("podctl setup")) {
		t.Errorf("with an argument: %v, %s", err, said)
	}
}
