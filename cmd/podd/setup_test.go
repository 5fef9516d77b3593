package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"os/signal"
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
	// Other keys in the environment go nowhere else.
	other := func(name string) string {
		return map[string]string{"OPENAI_API_KEY": "sk-other", "OPENAI_BASE_URL": "http://other/v1"}[name]
	}
	settings, err := config.Load(file, true, other)
	if err != nil || settings.Endpoint != "custom" || !bytes.Contains(written, []byte("model = \"custom/scripted\"\n")) {
		t.Errorf("the configuration is %s, %v", written, err)
	}
	for _, e := range settings.Endpoints {
		if e.Name == "custom" && (e.BaseURL != base || e.Key.Value != "sk-secret") {
			t.Errorf("the endpoint is %v", e)
		}
	}

	// The second time it changes nothing.
	said, err := setupIn(home, "OPENAI_BASE_URL="+base).CombinedOutput()
	if after, _ := os.ReadFile(file); err == nil || !bytes.Contains(said, []byte("already says ")) || !bytes.Equal(written, after) {
		t.Errorf("again: %v, %s", err, said)
	}
}

// Ctrl-C ends podd setup, and nothing is written.
func TestSetupInterrupted(t *testing.T) {
	// A shell's job in the background ignores Ctrl-C, with all that it starts. What is caught is not.
	signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	defer signal.Reset(os.Interrupt)
	for prompt, typed := range map[string]string{"Endpoint [1]: ": "", "Write this? ": "1\n1\n", "Enter for none): ": "2\nhttp://127.0.0.1:1/v1\n"} {
		home := t.TempDir()
		cmd := setupIn(home, "OPENAI_BASE_URL="+model(t, ready))
		term, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 120})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(term, typed); err != nil {
			t.Fatal(err)
		}
		var shown bytes.Buffer
		chunk, sent := make([]byte, 4096), false
		for {
			n, err := term.Read(chunk)
			shown.Write(chunk[:n])
			if err != nil {
				break // With EIO.
			}
			if !sent && strings.Contains(shown.String(), prompt) {
				sent = true
				_, _ = io.WriteString(term, "\x03")
			}
		}
		_ = term.Close()
		if err := cmd.Wait(); err == nil || !sent {
			t.Errorf("after %q it ended with %v:\n%s", prompt, err, &shown)
		}
		if files, err := os.ReadDir(home); err != nil || len(files) > 0 {
			t.Errorf("it wrote %v, %v", files, err)
		}
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
