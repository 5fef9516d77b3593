package attach

import (
	"bytes"
	"context"
	"io"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/term"

	"podd/internal/clients/desk"
	"podd/pkg/client"
	poddv1 "podd/proto/podd/v1"
)

// shownOn runs a view on a terminal of its own until it ends. It returns what was written
// to the terminal, and fails if the terminal is not as it was.
func shownOn(t *testing.T, follow func(a *app) error) (written string, err error) {
	t.Helper()
	person, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	before, err := term.GetState(int(terminal.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(&out, person) // It ends with the terminal.
	}()
	ctx, fail := context.WithCancelCause(t.Context())
	// The view asks podd now and then, whatever the test does.
	unreachable, err := client.New(client.Config{Socket: "/nowhere"})
	if err != nil {
		t.Fatal(err)
	}
	defer unreachable.Close()
	a := newApp(ctx, fail, Config{Client: unreachable, Desk: desk.Defaults(), Env: noEnv, In: terminal, Out: terminal, Color: true}, &poddv1.Pod{Name: "p"})
	err = a.run(func() error { return follow(a) })
	after, stateErr := term.GetState(int(terminal.Fd()))
	if stateErr != nil || !reflect.DeepEqual(before, after) {
		t.Errorf("the terminal was %v and is %v (%v)", before, after, stateErr)
	}
	_ = terminal.Close()
	<-read
	_ = person.Close()
	return out.String(), err
}

// However the view ends, the terminal is as it was, and the error says why it ended.
func TestTerminalIsRestored(t *testing.T) {
	for name, tt := range map[string]struct {
		follow func(a *app) error
		want   string
	}{
		"a person leaves":     {func(a *app) error { a.hand(func() { a.quit = true }); return nil }, ""},
		"a panic of the view": {func(a *app) error { a.hand(func() { panic("boom") }); return nil }, "boom"},
		"a panic of drawing":  {func(a *app) error { a.hand(func() { a.ready, a.log = true, nil }); return nil }, "nil pointer"},
		"a panic beside it":   {func(*app) error { panic("aside") }, "aside"},
		"an error":            {func(*app) error { return io.ErrUnexpectedEOF }, "unexpected EOF"},
		"a hangup":            {func(*app) error { return syscall.Kill(syscall.Getpid(), syscall.SIGHUP) }, "hung up"},
	} {
		t.Run(name, func(t *testing.T) {
			var drawn chan struct{}
			written, err := shownOn(t, func(a *app) error {
				drawn = make(chan struct{})
				a.hand(func() { close(drawn) })
				<-drawn
				return tt.follow(a)
			})
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("it ended with %v, want %q", err, tt.want)
			}
			taken, given := strings.LastIndex(written, "\x1b[?1049h"), strings.LastIndex(written, "\x1b[?1049l")
			if taken > given || strings.LastIndex(written, "\x1b[?2004h") > strings.LastIndex(written, "\x1b[?2004l") {
				t.Errorf("the screen was not given back: %q", written)
			}
		})
	}
}
