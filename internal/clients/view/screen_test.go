package view_test

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"podd/internal/clients/view"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// terminal is a console whose two writers share one screen, as a person sees it.
type terminal struct {
	mu     sync.Mutex
	screen bytes.Buffer
	width  int
}

func (t *terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.screen.Write(p)
}

// String is all that was written.
func (t *terminal) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.screen.String()
}

func (t *terminal) console() view.Console {
	return view.Console{
		Out: t, Err: t, OutTerminal: true, ErrTerminal: true,
		Width: func() int { return t.width },
	}
}

// seen is the screen without what was erased.
func (t *terminal) seen() string {
	var lines []string
	for line := range strings.SplitSeq(t.String(), "\n") {
		lines = append(lines, line[strings.LastIndex(line, "\r\x1b[K")+1:])
	}
	return strings.ReplaceAll(strings.Join(lines, "\n"), "\x1b[K", "")
}

// A line for a tool in the middle of the text gets its own line. The text continues below
// it, and its end leaves no empty line.
func TestTextAndNotesShareATerminal(t *testing.T) {
	term := &terminal{width: 40}
	v := view.NewTurn(term.console(), ours)
	alert := entry(2, 3, item.AlertRaised{Alert: item.Alert{Level: item.LevelInfo, Text: strings.Repeat("long ", 20)}})
	for _, m := range []func() error{
		func() error { _, err := v.Show(started(1)); return err },
		func() error { _, err := v.Show(delta(text(3, "b", "The an"))); return err },
		func() error { _, err := v.Show(alert); return err },
		func() error { _, err := v.Show(delta(text(3, "b", "swer"))); return err },
		func() error { _, err := v.Show(alert); return err },
		func() error { _, err := v.Show(added(3, 3, answer("The answer"))); return err },
		func() error { _, err := v.Show(added(4, 3, answer("More."))); return err },
		v.Close,
	} {
		if err := m(); err != nil {
			t.Fatal(err)
		}
	}
	note := "! info: long long long long long long l…\n"
	if want := "The an\n" + note + "swer\n" + note + "More.\n"; term.seen() != want {
		t.Errorf("the screen shows\n%s\nwant\n%s", term.seen(), want)
	}
}

func TestSpinner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		term := &terminal{width: 30}
		v := view.NewTurn(term.console(), ours)
		last := func() string {
			synctest.Wait()
			s := term.String()
			return s[strings.LastIndex(s, "\r\x1b[K")+len("\r\x1b[K"):]
		}
		pass := func(d time.Duration) { time.Sleep(d); synctest.Wait() }
		show := func(kind item.Kind) {
			if _, err := v.Show(entry(1, 3, kind)); err != nil {
				t.Fatal(err)
			}
		}
		if term.String() != "" {
			t.Errorf("drawn at once: %q", term.String())
		}
		show(item.TurnStarted{RequestIDs: []string{ours}})
		pass(200 * time.Millisecond)
		if got := last(); !strings.HasSuffix(got, " waiting for the model") {
			t.Errorf("the line says %q", got)
		}
		first := last()
		pass(3 * time.Second)
		if got := last(); got == first || !strings.HasSuffix(got, " waiting for the model  3 s") {
			t.Errorf("the line says %q", got)
		}
		show(item.ToolStarted{CallID: "1", Tool: "shell"})
		show(item.ToolStarted{CallID: "2", Tool: "read_file\x1b[2J"})
		pass(200 * time.Millisecond)
		if got := last(); !strings.Contains(got, "running 2 tools: shell, ") || strings.Contains(got, "\x1b") || len([]rune(got)) >= 30 {
			t.Errorf("the line says %q", got)
		}
		// Text is never overwritten.
		if _, err := v.Show(delta(text(3, "b", "Hello"))); err != nil {
			t.Fatal(err)
		}
		pass(time.Second)
		if !strings.HasSuffix(term.String(), "\r\x1b[KHello") {
			t.Errorf("the screen ends with %q", last())
		}
		show(item.TurnEnded{Outcome: item.OutcomeFinished})
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
		if want := "Hello\nturn 3 finished\n"; term.seen() != want {
			t.Errorf("the screen shows %q, want %q", term.seen(), want)
		}
	})
}

// The status line has one word for each kind of message.
func TestSpinnerSays(t *testing.T) {
	frag := func(kind item.DeltaKind, tool, text string) item.Delta {
		return item.Delta{Turn: 3, Block: "x", Kind: kind, Tool: tool, Text: text}
	}
	tests := map[string]struct {
		do   func(*view.Turn) error
		want string
	}{
		"queued":      {func(v *view.Turn) error { _, err := v.Show(caughtUp()); return err }, "waiting for the running turn"},
		"thinking":    {shown(delta(frag(item.DeltaReasoning, "", "hm"))), "thinking"},
		"arguments":   {shown(delta(frag(item.DeltaToolArguments, "edit_file", "{"))), "preparing edit_file"},
		"tool output": {shown(delta(frag(item.DeltaToolOutput, "shell", "one\ntwo\n"))), "shell: two"},
		"running":     {shown(entry(2, 3, item.ToolStarted{Tool: "shell"})), "running shell"},
		"retry":       {shown(delta(item.Delta{Turn: 3, Restarted: true, Text: "HTTP 503; trying again"})), "HTTP 503; trying again"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				term := &terminal{width: 80}
				v := view.NewTurn(term.console(), ours)
				if err := tt.do(v); err != nil {
					t.Fatal(err)
				}
				time.Sleep(300 * time.Millisecond)
				synctest.Wait()
				if got := term.String(); !strings.Contains(got, tt.want) {
					t.Errorf("the screen shows %q, want %q on it", got, tt.want)
				}
				if err := v.Close(); err != nil || term.seen() != "" {
					t.Errorf("after Close (%v) the screen shows %q", err, term.seen())
				}
			})
		})
	}
}

// shown shows a message of this turn.
func shown(m *poddv1.StreamResponse) func(*view.Turn) error {
	return func(v *view.Turn) error {
		if _, err := v.Show(started(1)); err != nil {
			return err
		}
		_, err := v.Show(m)
		return err
	}
}

func TestColor(t *testing.T) {
	for _, color := range []bool{true, false} {
		term := &terminal{width: 80}
		c := term.console()
		c.Color = color
		v := view.NewTurn(c, ours)
		if err := shown(finished(2))(v); err != nil {
			t.Fatal(err)
		}
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(term.String(), "\x1b[2mturn 3"); got != color {
			t.Errorf("with color %v the screen shows %q", color, term.String())
		}
	}
	var p pipes
	c := p.console()
	c.Color = true
	v := view.NewTurn(c, ours)
	if err := shown(finished(2))(v); err != nil {
		t.Fatal(err)
	}
	if _ = v.Close(); strings.Contains(p.err.String(), "\x1b") {
		t.Errorf("a pipe gets %q", p.err.String())
	}
}
