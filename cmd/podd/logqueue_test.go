package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"podd/pkg/client"
	"podd/pkg/llm/scripted"
	poddv1 "podd/proto/podd/v1"
)

// A program that logs continues without a reader. Lines that do not fit are counted, and a later line says how many.
func TestLogThatNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		q := newLogQueue(w, func(lines int) []byte { return fmt.Appendf(nil, "lost %d\n", lines) })
		text := []byte(strings.Repeat("x", queueBytes/4-1) + "\n")
		for range 7 {
			if n, err := q.Write(text); n != len(text) || err != nil {
				t.Errorf("%d, %v", n, err)
			}
		}
		lines := bufio.NewReaderSize(r, 2*len(text))
		for i := range 5 {
			want := string(text)
			if i == 4 {
				want = "lost 3\n"
			}
			if got, err := lines.ReadString('\n'); got != want || err != nil {
				t.Errorf("line %d has %d bytes, %v", i, len(got), err)
			}
		}
		go func() { _, _ = q.Write([]byte("again\n")) }()
		if got, err := lines.ReadString('\n'); got != "again\n" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		q.Close()
	})
}

// When podd ends, it waits for a reader that reads, and only a moment for one that does not.
func TestLogAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		q := newLogQueue(w, func(int) []byte { return nil })
		_, _ = q.Write([]byte("one\n"))
		q.Close()
		_, _ = q.Write([]byte("late\n"))
		_ = r.Close()
		<-q.stopped
	})
}

// A file that refuses lines, as on a full disk, loses these alone.
func TestLogOnAFullDisk(t *testing.T) {
	f := &fullFile{}
	q := newLogQueue(f, func(lines int) []byte { return fmt.Appendf(nil, "lost %d\n", lines) })
	for _, text := range []string{"a\n", "b\n", "c\n"} {
		_, _ = q.Write([]byte(text))
	}
	q.Close()
	if got := f.text.String(); got != "c\nlost 2\n" {
		t.Errorf("%q", got)
	}
}

// fullFile has room from the line c on.
type fullFile struct {
	room bool
	text strings.Builder
}

func (f *fullFile) Write(b []byte) (int, error) {
	if f.room = f.room || string(b) == "c\n"; !f.room {
		return 0, errors.New("no space left on device")
	}
	return f.text.Write(b)
}

// podd answers, works and stops, whatever happens to its log.
func TestLogOfAProcess(t *testing.T) {
	for name, closed := range map[string]bool{"nobody reads it": false, "its reader has ended": true} {
		t.Run(name, func(t *testing.T) {
			dir, state := t.TempDir(), stateDir(t)
			url := model(t, func(_ context.Context, r scripted.Request) scripted.Reply {
				if r.Steps() == 0 {
					return scripted.Say(scripted.Call{Name: "shell", Arguments: `{"command":"echo one"}`})
				}
				return scripted.Say(scripted.Text("done"))
			})
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			cmd := exec.Command(os.Args[0], "--state-dir", state)
			cmd.Env = []string{runAsPodd + "=1", "PATH=" + os.Getenv("PATH"), "HOME=" + state, "OPENAI_BASE_URL=" + url, "GORACE=exitcode=99 atexit_sleep_ms=0"}
			cmd.Stderr = w
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			_ = w.Close()
			defer func() { _ = cmd.Process.Kill() }()
			lines := bufio.NewScanner(r)
			for lines.Scan() && !strings.Contains(lines.Text(), `"msg":"podd ready"`) {
			}
			if closed {
				_ = r.Close()
			}
			c, err := client.New(client.Config{Socket: filepath.Join(state, "podd.sock"), StateDir: state, RetryFor: -1})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			// Each line has some hundred bytes, and a pipe 64 KiB.
			for range 600 {
				if _, err := c.Admin().Reload(t.Context(), &poddv1.ReloadRequest{}); err != nil {
					t.Fatal(err)
				}
			}
			createAndSubmit(t, c, dir)
			wantFinished(t, until(t, c, turnEnded(1)))
			_ = cmd.Process.Signal(syscall.SIGTERM)
			if err := cmd.Wait(); err != nil {
				t.Errorf("podd ended with %v", err)
			}
		})
	}
}
