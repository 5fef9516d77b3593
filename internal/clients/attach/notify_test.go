package attach

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// A person who looks elsewhere hears of the end of a long turn, at most once in ten
// seconds.
func TestNotifier(t *testing.T) {
	a := scene(t)
	now := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	a.now = func() time.Time { return now }
	turn := func(takes time.Duration) (told bool) {
		for _, e := range []item.Entry{
			{Seq: nextSeq(), Turn: 1, Time: now, Kind: item.TurnStarted{}},
			{Seq: nextSeq(), Turn: 1, Time: now.Add(takes), Kind: item.TurnEnded{Outcome: item.OutcomeFinished}},
		} {
			a.asking = true // The test does not answer.
			a.noticeEntry(wire.EntryFromProto(wire.EntryToProto(e)))
		}
		now = now.Add(takes)
		if a.command == nil {
			return false
		}
		msg, _ := a.command().(tea.RawMsg)
		a.command = nil
		return msg.Msg == "\x07"
	}
	a.pressed = now
	for i, step := range []struct {
		set   func()
		takes time.Duration
		want  bool
	}{
		{func() {}, 2 * time.Minute, true}, // No key for two minutes.
		{func() { a.pressed = now.Add(59 * time.Second) }, time.Minute, false},
		{func() { a.focused(false) }, 59 * time.Second, false},
		{func() {}, time.Minute, true},
		{func() { a.noticed = now.Add(time.Minute - time.Second) }, time.Minute, false},
		{func() { a.focused(true) }, 2 * time.Minute, false},
	} {
		step.set()
		now2 := now
		a.now = func() time.Time { return now2.Add(step.takes) }
		if got := turn(step.takes); got != step.want {
			t.Errorf("step %d: %v", i, got)
		}
	}
	a.focused(false)
	a.noticed = time.Time{}
	a.waiting([]*poddv1.Approval{{CallSeq: 4, Tool: "shell"}})
	if a.command == nil {
		t.Error("a question gives no notice")
	}
}

func TestNoticeOf(t *testing.T) {
	for term, want := range map[string]string{
		"xterm-kitty": "\x1b]9;p: x\x07", "foot": "\x1b]777;notify;podd;p: x\x1b\\", "xterm-256color": "\x07", "tmux-256color": "\x07",
	} {
		env := func(name string) string {
			if name == "TERM" {
				return term
			}
			return ""
		}
		if got := noticeOf(env, false, "p: x"); got != want {
			t.Errorf("%s: %q, want %q", term, got, want)
		}
	}
	for tmux, want := range map[string]string{"": "\x1b]9;p: x\x07", "/tmp/tmux": "\x1bPtmux;\x1b\x1b]9;p: x\x07\x1b\\"} {
		env := func(name string) string {
			if name == "TMUX" {
				return tmux
			}
			return ""
		}
		if got := noticeOf(env, true, "p: x"); got != want {
			t.Errorf("osc with TMUX=%q: %q, want %q", tmux, got, want)
		}
	}
}
