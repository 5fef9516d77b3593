//go:build linux || darwin

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"podd/internal/testing/pages"
	"podd/pkg/llm/scripted"
)

// A newcomer's commands work, from the top of a page to its end: those of the README and
// of the quickstart, each in a shell on a terminal, with a scripted model.
func TestPagesToStartWithRun(t *testing.T) {
	all, err := pages.All("../..")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{
		"README.md":          {"This is podd with a scripted model", "I am a scripted model.", "turn 1 finished", takenOver},
		"docs/quickstart.md": {"scripted answered in ", "uptime: ", "I am a scripted model.", "turn 2 finished", takenOver, "tool calls: 0"},
	} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			var typed strings.Builder
			for _, page := range all {
				for _, block := range page.Blocks() {
					if script, shell := block.Script(); page.Name == name && shell && block.Language != "" {
						typed.WriteString(script)
					}
				}
			}
			shown := newcomer(t, typed.String())
			for _, text := range want {
				if !strings.Contains(shown, text) {
					t.Errorf("%q was not shown:\n%s", text, shown)
				}
			}
		})
	}
}

// newcomer runs commands in a clone, with an empty home, and leaves each podctl attach by
// Ctrl-D. make installs the programs of this test.
func newcomer(t *testing.T, commands string) string {
	t.Helper()
	podctl, err := exec.LookPath("podctl")
	if err != nil {
		t.Fatal(err)
	}
	script, err := scripted.Parse(strings.NewReader("otherwise\ntext I am a scripted model.\n"))
	if err != nil {
		t.Fatal(err)
	}
	model, err := scripted.Serve(scripted.Config{Script: script})
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	home, err := os.MkdirTemp("", "home") //nolint:usetesting // A socket's path has to be short.
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(home)
	clone := filepath.Join(home, "clone")
	if err := os.Mkdir(clone, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(clone, "README.md"), []byte("# podd\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	prelude := `set -e
git init -q .
make() {
	case $1 in
	demo) "$BUILT_PODD" demo ;;
	test) ;;
	install) mkdir -p ~/.local/bin && ln -s "$BUILT_PODD" "$BUILT_PODCTL" ~/.local/bin ;;
	*) return 2 ;;
	esac
}
trap 'kill $! && wait $!' EXIT
`
	cmd := exec.Command("bash", "--norc", "-c", prelude+strings.ReplaceAll(commands, "/tmp/", home+"/"))
	cmd.Dir = clone
	cmd.Env = []string{
		"HOME=" + home, "PATH=/usr/bin:/bin", "TERM=xterm", "NO_COLOR=1", "OPENAI_BASE_URL=" + model.URL(),
		"BUILT_PODD=" + poddPath, "BUILT_PODCTL=" + podctl, "GORACE=exitcode=99 atexit_sleep_ms=0",
	}
	term, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 120})
	if err != nil {
		t.Fatal(err)
	}
	defer time.AfterFunc(patience, func() { _ = term.Close() }).Stop()
	if strings.Contains(commands, "podd setup") {
		// The endpoint, the model, write it, no service.
		if _, err := io.WriteString(term, "1\n1\ny\nn\n"); err != nil {
			t.Fatal(err)
		}
	}
	shown, done := &bytes.Buffer{}, make(chan struct{})
	go func() {
		defer close(done)
		leaveViews(t, term, shown)
	}()
	err = cmd.Wait()
	_ = term.Close()
	<-done
	if err != nil {
		log, _ := os.ReadFile(filepath.Join(home, "podd.log"))
		t.Fatalf("%v:\n%s\n%s", err, shown, log)
	}
	return shown.String()
}

// takenOver is what a terminal receives when a view begins.
const takenOver = "\x1b[?2004h"

// leaveViews copies a terminal's output, and presses Ctrl-D each time that a view has
// taken over the terminal and shows its pod.
func leaveViews(t *testing.T, term io.ReadWriter, shown *bytes.Buffer) {
	chunk, left := make([]byte, 4096), 0
	for {
		n, err := term.Read(chunk)
		shown.Write(chunk[:n])
		if err != nil {
			if !errors.Is(err, syscall.EIO) && !errors.Is(err, os.ErrClosed) && !errors.Is(err, io.EOF) {
				t.Error(err)
			}
			return
		}
		views := strings.Split(shown.String(), takenOver)
		if last := len(views) - 1; last > left && strings.Contains(views[last], "idle") {
			left = last
			_, _ = io.WriteString(term, "\x04")
		}
	}
}
