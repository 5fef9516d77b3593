package secrets_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"podd/internal/guard/secrets"
)

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := write("good", "  the-key\n", 0o600)
	if key, err := secrets.ReadFile(good); err != nil || key != "the-key" {
		t.Errorf("key %q, %v", key, err)
	}
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		write("group", "k", 0o640):                       "open to other users (mode 0640)",
		write("world", "k", 0o604):                       "open to other users (mode 0604)",
		write("written", "k", 0o602):                     "open to other users (mode 0602)",
		write("empty", " \n", 0o600):                     "which is not a key",
		write("huge", strings.Repeat("k", 1<<20), 0o600): "which is not a key",
		filepath.Join(dir, "none"):                       "no such file",
		dir:                                              "not a regular file",
		pipe:                                             "not a regular file",
	} {
		if _, err := secrets.ReadFile(path); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	if key, err := secrets.ReadCredential(write("credential", "k", 0o440)); err != nil || key != "k" {
		t.Errorf("credential %q, %v", key, err)
	}
	if _, err := secrets.ReadCredential(write("public", "k", 0o444)); err == nil {
		t.Error("a credential that all can read is taken")
	}
}

func TestReadFileOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	path := filepath.Join(t.TempDir(), "key")
	if err := errors.Join(os.WriteFile(path, []byte("k"), 0o600), os.Chown(path, 54321, 54321)); err != nil {
		t.Fatal(err)
	}
	if _, err := secrets.ReadFile(path); err == nil || !strings.Contains(err.Error(), "another user (uid 54321)") {
		t.Errorf("%v", err)
	}
}

func TestCredential(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "openai_api_key"), []byte("k"), 0o400); err != nil {
		t.Fatal(err)
	}
	for where, want := range map[string]string{dir: filepath.Join(dir, "openai_api_key"), "": "", ".": "", dir + "/none": ""} {
		if got := secrets.Credential(func(string) string { return where }, "openai_api_key"); got != want {
			t.Errorf("in %q: %q, want %q", where, got, want)
		}
	}
}

// A file keeps its size and everything that is not secret, wherever the secrets are.
func TestScrubFile(t *testing.T) {
	s := secrets.New(known)
	path := filepath.Join(t.TempDir(), "out")
	var text strings.Builder
	for i := range 40 {
		text.WriteString(strings.Repeat("x", 50_000+i*1237) + "\n" + known + "\nAuthorization: Bearer abcdef123\n" + openai + "\n")
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.ScrubFile(path); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil || len(got) != text.Len() {
		t.Fatalf("%d bytes of %d, %v", len(got), text.Len(), err)
	}
	if bytes.Contains(got, []byte(known)) || bytes.Contains(got, []byte("aB3")) || bytes.Contains(got, []byte("abcdef123")) {
		t.Error("a secret is left")
	}
	if n := bytes.Count(got, []byte("x")); n != strings.Count(text.String(), "x") {
		t.Errorf("%d of %d other bytes are left", n, strings.Count(text.String(), "x"))
	}
	if n := bytes.Count(got, []byte("Authorization: Bearer ")); n != 40 {
		t.Errorf("%d headers are left", n)
	}
	if err := s.ScrubFile(path + "x"); err == nil {
		t.Error("a file that is missing was scrubbed")
	}
}

type valued struct{ Key string }

// LogValue is a group with the secret.
func (v valued) LogValue() slog.Value { return slog.GroupValue(slog.String("inner", v.Key)) }

// named is a string with its own type.
type named string

// A string of a named type is logged like any string, and without its secrets.
func TestHandlerLogsNamedStringsPlainly(t *testing.T) {
	var text, encoded bytes.Buffer
	for _, to := range []slog.Handler{slog.NewTextHandler(&text, nil), slog.NewJSONHandler(&encoded, nil)} {
		slog.New(secrets.New(known).Handler(to)).Info("m", "sandbox", named("bwrap"), "key", named(known))
	}
	if line := text.String(); !strings.Contains(line, " sandbox=bwrap ") || strings.Contains(line, known) {
		t.Errorf("text: %s", line)
	}
	if line := encoded.String(); !strings.Contains(line, `"sandbox":"bwrap"`) || strings.Contains(line, known) {
		t.Errorf("json: %s", line)
	}
}

// No log record has a secret or controls a terminal, however the text gets into it.
func TestHandler(t *testing.T) {
	s := secrets.New(known)
	for name, make := range map[string]func(io.Writer) slog.Handler{
		"text": func(w io.Writer) slog.Handler { return slog.NewTextHandler(w, nil) },
		"json": func(w io.Writer) slog.Handler { return slog.NewJSONHandler(w, nil) },
	} {
		var out bytes.Buffer
		log := slog.New(s.Handler(make(&out)))
		evil := known + "\u202e\u009b31m"
		log.With("with", evil).WithGroup(known).Warn("m", "key", evil,
			"string", evil, "error", errors.New(evil), "bytes", []byte(evil), "struct", struct{ K string }{evil}, "map", map[string]string{evil: evil},
			"valuer", valued{evil}, "number", 7, "duration", time.Second, "time", time.Unix(0, 0), "nil", nil, "func", func() {},
			slog.Group("group", "deep", evil), "panic", any(evil))
		line := out.String()
		if strings.Contains(line, "horse") || strings.ContainsAny(line, "\u202e\u009b") || strings.Count(line, "\n") != 1 {
			t.Errorf("%s: %q", name, line)
		}
		for _, want := range []string{"redacted", "number", "7", "duration"} {
			if !strings.Contains(line, want) {
				t.Errorf("%s lacks %s: %s", name, want, line)
			}
		}
		out.Reset()
		if log.Debug("x"); out.Len() > 0 || log.Enabled(context.Background(), slog.LevelDebug) {
			t.Errorf("%s logs below its level", name)
		}
	}
}
