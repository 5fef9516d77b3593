package demo_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"podd/internal/clients/view"
	"podd/internal/config"
	"podd/internal/daemon"
	"podd/internal/demo"
	"podd/pkg/item"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func openDaemon(ctx context.Context, settings config.Config, stateDir, socket string, now func() time.Time) (demo.Daemon, error) {
	return daemon.Open(ctx, daemon.Config{
		Settings: settings, Socket: socket, StateDir: stateDir, Now: now, Logger: slog.New(slog.DiscardHandler),
	})
}

// play runs a demo and checks that it leaves nothing behind.
func play(t *testing.T, dir string) (stdout, stderr string, err error) {
	t.Helper()
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	var out, errs bytes.Buffer
	err = demo.Run(t.Context(), demo.Config{Dir: dir, Console: view.Console{Out: &out, Err: &errs}, Open: openDaemon})
	left, readErr := os.ReadDir(tmp)
	if readErr != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, readErr)
	}
	return out.String(), errs.String(), err
}

// A read, an edit and two commands, the second of which verifies the edit.
func TestSample(t *testing.T) {
	stdout, stderr, err := play(t, "")
	if err != nil {
		t.Fatal(err, stderr)
	}
	if !strings.Contains(stdout, "its test passes") {
		t.Errorf("stdout: %s", stdout)
	}
	for _, want := range []string{
		"the model's text is written in advance", "Its commands run ", "@README.md", "read_file: greet.sh", "sh greet_test.sh, exit 1",
		"edit_file: greet.sh", "sh greet_test.sh, exit 0", "turn 1 finished: 4 steps", "OPENAI_BASE_URL",
	} {
		if !strings.Contains(stderr, want) {
			t.Errorf("stderr lacks %q:\n%s", want, stderr)
		}
	}
}

// The demo changes nothing in a user's directory.
func TestVisit(t *testing.T) {
	dir := t.TempDir()
	readme := filepath.Join(dir, "README.md")
	if err := os.WriteFile(readme, []byte("# here\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, stderr, err := play(t, dir)
	if err != nil || !strings.Contains(stderr, "only reads "+dir) || !strings.Contains(stderr, "glob: *.md, 1 file") {
		t.Errorf("%v\n%s", err, stderr)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("the directory holds %v now, %v", entries, err)
	}
	if b, err := os.ReadFile(readme); err != nil || string(b) != "# here\n" {
		t.Errorf("the README says %q, %v", b, err)
	}
}

func TestNoDirectory(t *testing.T) {
	stdout, stderr, err := play(t, filepath.Join(t.TempDir(), "none"))
	if item.KindOf(err) != item.KindInvalid || stdout+stderr != "" {
		t.Errorf("%v, %q", err, stdout+stderr)
	}
}
