package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"pgregory.net/rapid"

	"podd/internal/sanitize"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// hanging is a podd that accepts a submit and never answers.
type hanging struct {
	poddv1.UnimplementedPodServiceServer
	asked func()
}

// Submit waits for the client to go.
func (h hanging) Submit(ctx context.Context, _ *poddv1.SubmitRequest) (*poddv1.SubmitResponse, error) {
	h.asked()
	<-ctx.Done()
	return nil, ctx.Err()
}

// A submit stopped before podd's answer says how to repeat it.
func TestInterruptedBeforeTheAnswer(t *testing.T) {
	dir, err := os.MkdirTemp("", "podctl") //nolint:usetesting // A socket's path has to be short.
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithCancel(t.Context())
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	poddv1.RegisterPodServiceServer(server, hanging{asked: cancel})
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	defer func() { server.Stop(); <-served }()

	var out, stderr bytes.Buffer
	code := run(ctx, []string{"submit", "-p", "p", "--request-id", "r7", "hello", "--socket", filepath.Join(dir, "s")}, program{
		stdin: strings.NewReader(""), stdout: &out, stderr: &stderr, env: func(string) string { return "" }, now: time.Now,
	})
	if code != exitInterrupted || !strings.Contains(stderr.String(), "-p p --request-id r7") || out.Len() != 0 {
		t.Errorf("exit code %d, standard output %q, standard error %q", code, out.String(), stderr.String())
	}
}

// podctl waits for a silent pipe, and says so; an interruption ends the wait, and podctl
// sends nothing.
func TestSilentStandardInput(t *testing.T) {
	in, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer writer.Close()
	ctx, cancel := context.WithCancel(t.Context())
	exited := make(chan struct{})
	stderr := &watched{done: exited}
	code := 0
	go func() {
		defer close(exited)
		code = run(ctx, []string{"submit", "review", "--socket", filepath.Join(t.TempDir(), "none")}, program{
			stdin: in, stdout: io.Discard, stderr: stderr, env: func(string) string { return "" }, now: time.Now, patience: time.Millisecond,
		})
	}()
	stderr.await(t, "waiting for standard input; use --no-stdin to skip it\n")
	cancel()
	<-exited
	if code != exitInterrupted || !strings.Contains(stderr.String(), "podctl: interrupted: nothing was sent\n") {
		t.Errorf("exit code %d, standard error %q", code, stderr.String())
	}
}

func TestExitCode(t *testing.T) {
	tests := []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("x"), 1},
		{item.Errorf(item.KindExists, "X", "x"), 1},
		{item.Errorf(item.KindUnauthenticated, "X", "x"), 1},
		{item.Errorf(item.KindUnimplemented, "X", "x"), 1},
		{item.Errorf(item.KindInvalid, "X", "x"), 2},
		{usagef("x"), 2},
		{item.Errorf(item.KindUnavailable, "X", "x"), 3},
		{item.Errorf(item.KindNotFound, "X", "x"), 4},
		{item.Errorf(item.KindOutOfRange, "X", "x"), 4},
		{fmt.Errorf("wrapped: %w", item.Errorf(item.KindOutOfRange, "X", "x")), 4},
		{turnError{}, 5},
		{interrupted("x"), 130},
	}
	for _, tt := range tests {
		if got := exitCode(tt.err); got != tt.want {
			t.Errorf("%v is exit code %d, want %d", tt.err, got, tt.want)
		}
	}
}

func TestTurnError(t *testing.T) {
	for outcome, want := range map[item.Outcome]string{
		item.OutcomeFailed:      "turn 3 failed: why",
		item.OutcomeCancelled:   "turn 3 was cancelled: why",
		item.OutcomeInterrupted: "turn 3 was interrupted: why",
		item.OutcomeLimit:       "turn 3 was stopped by a limit: why",
	} {
		if got := (turnError{3, item.TurnEnded{Outcome: outcome, Cause: "why"}}).Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := (turnError{3, item.TurnEnded{Outcome: item.OutcomeFailed}}).Error(); got != "turn 3 failed" {
		t.Errorf("got %q", got)
	}
}

// The escaped form means the same, and does not control the terminal.
func TestEscapeJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.SampledFrom([]rune("a\x7f\u009b\u202e\u2028\U000e0041é\U0001f600")), 0, 9, -1)).Draw(t, "text")
		text = strings.ToValidUTF8(text, "")
		raw, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		escaped := sanitize.JSON(string(raw))
		var got string
		if err := json.Unmarshal([]byte(escaped), &got); err != nil || got != text {
			t.Fatalf("%q became %q (%v)", text, got, err)
		}
		if strings.ContainsAny(escaped, "\x7f\u009b\u202e\u2028\U000e0041") {
			t.Fatalf("%q is not escaped", escaped)
		}
	})
	if got := sanitize.JSON(`"é😀"`); got != `"é😀"` {
		t.Errorf("readable text became %s", got)
	}
}

func TestHelpNamesEveryVerb(t *testing.T) {
	var out, stderr bytes.Buffer
	p := program{stdin: strings.NewReader(""), stdout: &out, stderr: &stderr, env: func(string) string { return "" }, now: time.Now}
	for _, args := range [][]string{{}, {"--help"}, {"help"}} {
		out.Reset()
		if code := run(t.Context(), args, p); code != 0 || stderr.Len() != 0 {
			t.Errorf("%q: exit code %d, %s", args, code, stderr.String())
		}
		for _, verb := range strings.Fields("create list show update delete submit tail inbox send letters cancel pause resume approvals approve deny alerts status version completion") {
			if !strings.Contains(out.String(), "\n  "+verb+" ") {
				t.Errorf("%q does not name %s", args, verb)
			}
		}
	}
}

// No line of any help is wider than 100 columns, and nothing of a text is lost where it is
// broken.
func TestHelpFits(t *testing.T) {
	p := program{stdin: strings.NewReader(""), env: func(string) string { return "" }, now: time.Now}
	for _, cmd := range append(everyVerb(), newRootCommand(&p)) {
		var out, stderr bytes.Buffer
		p.stdout, p.stderr = &out, &stderr
		if code := run(t.Context(), append(strings.Fields(cmd.CommandPath())[1:], "--help"), p); code != 0 {
			t.Errorf("%s --help: exit code %d, %s", cmd.CommandPath(), code, stderr.String())
		}
		for line := range strings.Lines(out.String()) {
			if len(line) > helpColumns+1 || strings.HasSuffix(line, " \n") {
				t.Errorf("%s --help has the line %q of %d columns", cmd.CommandPath(), line, len(line)-1)
			}
		}
		if !strings.Contains(strings.Join(strings.Fields(out.String()), " "), strings.Join(strings.Fields(cmd.Long), " ")) {
			t.Errorf("%s --help lacks a part of %q", cmd.CommandPath(), cmd.Long)
		}
	}
}

func TestWrapHelp(t *testing.T) {
	for _, c := range []struct {
		line    string
		columns int
		want    string
	}{
		{"Shows pods.\n", 11, "Shows pods.\n"},
		{"Shows all pods.\n", 24, "Shows all pods.\n"},
		{"Shows all pods and what they do.\n", 20, "Shows all pods and\nwhat they do.\n"},
		{"  -p, --pod string   pod name, instead of the argument POD\n", 42, "  -p, --pod string   pod name, instead of\n                     the argument POD\n"},
		{"  -p, --pod string   pod name, instead of the argument POD\n", 5, "  -p, --pod string   pod name, instead of\n                     the argument POD\n"},
		{"  podctl submit -f \"explain this\"\n", 24, "  podctl submit -f \"explain this\"\n"},
		{strings.Repeat("x", 30) + "\n", 20, strings.Repeat("x", 30) + "\n"},
	} {
		if got := wrapHelpLine(c.line, c.columns); got != c.want {
			t.Errorf("%q in %d columns is\n%swant\n%s", c.line, c.columns, got, c.want)
		}
	}
}
