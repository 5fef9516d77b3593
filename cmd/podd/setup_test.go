package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"

	"podd/internal/config"
	"podd/pkg/llm/scripted"
)

func ready(context.Context, scripted.Request) scripted.Reply {
	return scripted.Reply{Parts: []scripted.Part{scripted.Text("ready")}}
}

// setupIn is podd setup with a home.
func setupIn(home string, env ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], "setup")
	cmd.Env = append([]string{runAsPodd + "=1", "HOME=" + home, "PATH=/usr/bin:/bin", "GORACE=exitcode=99 atexit_sleep_ms=0"}, env...)
	return cmd
}

// At a terminal, podd setup writes a configuration with which podd works, and says what to type next.
func TestSetup(t *testing.T) {
	home, base := t.TempDir(), model(t, ready)
	cmd := setupIn(home, "OPENAI_BASE_URL="+base, "OPENAI_API_KEY=sk-secret")
	term, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 120})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(term, "1\n1\ny\nn\n"); err != nil {
		t.Fatal(err)
	}
	var shown bytes.Buffer
	_, _ = io.Copy(&shown, term) // It ends with EIO.
	_ = term.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v:\n%s", err, &shown)
	}
	for _, want := range []string{"with the key in OPENAI_API_KEY", "scripted answered in ", "Write this?", "podd &", "podctl submit -f "} {
		if !strings.Contains(shown.String(), want) {
			t.Errorf("it does not show %q", want)
		}
	}
	if strings.Contains(shown.String(), "sk-secret") {
		t.Error("it shows the key")
	}
	if t.Failed() {
		t.Logf("shown:\n%s", &shown)
	}
	dir := filepath.Join(home, ".config", "podd")
	file := filepath.Join(dir, "config.toml")
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	settings, err := config.Load(file, true, func(string) string { return "" })
	if err != nil || settings.BaseURL != base || settings.APIKey != "sk-secret" || !bytes.Contains(written, []byte("model = \"scripted\"\n")) {
		t.Errorf("the configuration is %s, %v", written, err)
	}

	// The second time it changes nothing.
	said, err := setupIn(home, "OPENAI_BASE_URL="+base).CombinedOutput()
	if after, _ := os.ReadFile(file); err == nil || !bytes.Contains(said, []byte("already says ")) || !bytes.Equal(written, after) {
		t.Errorf("again: %v, %s", err, said)
	}
}

// Without a terminal podd setup writes nothing, and prints what to write.
func TestSetupWithoutATerminal(t *testing.T) {
	home, base := t.TempDir(), model(t, ready)
	said, err := setupIn(home, "OPENAI_BASE_URL="+base).CombinedOutput()
	if err != nil || !bytes.Contains(said, []byte("base_url = \""+base+"\"\n")) || !bytes.Contains(said, []byte("Nothing was written")) {
		t.Errorf("%v: %s", err, said)
	}
	if files, err := os.ReadDir(home); err != nil || len(files) > 0 {
		t.Errorf("it wrote %v, %v", files, err)
	}
}
