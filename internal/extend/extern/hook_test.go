package extern_test

import (
	"log/slog"
	"strings"
	"testing"

	"podd/internal/extend/extern"
	"podd/pkg/hook"
	"podd/pkg/item"
)

// hook makes a hook that runs a shell script for events.
func (b *bench) hook(t *testing.T, script string, on ...string) *extern.Hook {
	t.Helper()
	h, err := b.Hook(extern.Command{Name: "x", On: on, Argv: []string{"sh", "-c", script}})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// happen sends a hook one event of every kind.
func happen(h hook.Hook) {
	h.Pod(hook.PodEvent{Change: hook.PodLoaded, ID: "p1", Name: "demo"})
	h.Entry("p1", item.Entry{Seq: 5, Turn: 1, Kind: item.TurnStarted{RequestIDs: []string{"r"}}})
	h.Edge(hook.Edge{Name: hook.EdgeBeforeTool, Pod: "p1", Turn: 1, Step: 1, CallID: "c", Key: "k", Tool: "shell", Arguments: "{}", Decision: "denied by x: no"})
	h.Entry("p1", item.Entry{Seq: 6, Turn: 1, Kind: item.AlertRaised{Alert: item.Alert{Text: "oh"}}})
	h.Alert(item.Alert{Seq: 1, Pod: "p1", Text: "oh"})
	h.Alert(item.Alert{Seq: 2, Text: "the daemon's own"})
	h.Entry("p1", item.Entry{Seq: 7, Turn: 1, Kind: item.TurnEnded{Outcome: item.OutcomeFinished}})
	h.Entry("p1", item.Entry{Seq: 8, Kind: item.UnknownKind{}})
	h.Pod(hook.PodEvent{Change: hook.PodDeleted, ID: "p2", Name: "gone"})
}

func TestHookEvents(t *testing.T) {
	for on, want := range map[string]string{
		"entry":       "turn_started alert turn_ended entry",
		"turn_ended":  "turn_ended",
		"alert":       "alert alert",
		"pod":         "pod pod",
		"before_tool": "before_tool",
		"item":        "",
	} {
		b := newBench(t)
		happen(b.hook(t, "printf '%s ' $PODD_EVENT >>"+b.dir+"/seen", on, "note"))
		got := ""
		if !b.lacks("seen") {
			got = strings.TrimSpace(b.file(t, "seen"))
		}
		if got != want {
			t.Errorf("on %s runs for %q, want %q", on, got, want)
		}
	}
}

func TestHookEventSchema(t *testing.T) {
	b := newBench(t)
	tell := func(on string, event func(hook.Hook)) { event(b.hook(t, "cat >"+b.dir+"/event", on)) }
	tell("turn_ended", func(h hook.Hook) {
		h.Entry("p1", item.Entry{Seq: 7, Turn: 1, Kind: item.TurnStarted{}})
		h.Entry("p1", item.Entry{Seq: 8, Turn: 1, Kind: item.TurnEnded{Outcome: item.OutcomeFailed, Cause: "c"}})
	})
	wantIn(t, b.file(t, "event"), strings.ReplaceAll(begin("turn_ended"), "DIR", b.dir), `"turn":1,"entry":{"seq":"8"`, `"outcome":"OUTCOME_FAILED"`)
	tell("alert", func(h hook.Hook) { h.Alert(item.Alert{Seq: 1, Text: "oh"}) })
	wantIn(t, b.file(t, "event"), `"pod":{"id":"","name":"","dir":""},"alert":{"seq":"1"`, `"text":"oh"`)
	tell("pod", func(h hook.Hook) { h.Pod(hook.PodEvent{Change: hook.PodDeleted, ID: "p2", Name: "gone"}) })
	b.wantEvent(t, `{"version":1,"event":"pod","name":"x","pod":{"id":"p2","name":"gone","dir":""},"change":"deleted"}`)
	tell("before_tool", func(h hook.Hook) {
		h.Edge(hook.Edge{Name: hook.EdgeBeforeTool, Pod: "p1", Turn: 1, CallID: "c", Key: "k", Tool: "shell", Arguments: "{}", Decision: "denied"})
	})
	b.wantEvent(t, begin("before_tool")+`,"turn":1,"call":{"id":"c","key":"k","tool":"shell","arguments":{}},"decision":"denied"}`)
	tell("after_tool", func(h hook.Hook) {
		h.Edge(hook.Edge{Name: hook.EdgeAfterTool, Pod: "p1", Turn: 1, CallID: "c", Key: "k", Tool: "shell", Text: "ls"})
	})
	b.wantEvent(t, begin("after_tool")+`,"turn":1,"call":{"id":"c","key":"k","tool":"shell","arguments":""},"output":{"summary":"ls","content":"","is_error":false}}`)
	tell("aborted", func(h hook.Hook) { h.Edge(hook.Edge{Name: hook.EdgeAborted, Pod: "p1", Turn: 1, Text: "why"}) })
	b.wantEvent(t, begin("aborted")+`,"turn":1,"abort":{"cause":"why"}}`)
	tell("prompt_submit", func(h hook.Hook) {
		h.Edge(hook.Edge{Name: hook.EdgePromptSubmit, Pod: "p1", RequestID: "r", Text: "hi"})
	})
	b.wantEvent(t, begin("prompt_submit")+`,"submit":{"request_id":"r","text":"hi"}}`)
	tell("before_request", func(h hook.Hook) { h.Edge(hook.Edge{Name: hook.EdgeBeforeRequest, Pod: "p1", Turn: 1, Step: 4}) })
	b.wantEvent(t, begin("before_request")+`,"turn":1,"request":{"step":4}}`)
	tell("turn_end", func(h hook.Hook) {
		h.Edge(hook.Edge{Name: hook.EdgeTurnEnd, Pod: "p1", Turn: 1, Step: 4, Text: "Done."})
	})
	b.wantEvent(t, begin("turn_end")+`,"turn":1,"end":{"steps":4,"answer":"Done."}}`)
}

// Each failure of a hook is logged, and the first raises an alert; output of any length
// is dropped.
func TestHookFails(t *testing.T) {
	b := newBench(t)
	h := b.hook(t, "echo oh no >&2; exit 3", "alert")
	for range 3 {
		h.Alert(item.Alert{})
	}
	if want := "hook x ended with exit status 3: oh no at alert; see podd's log for further failures"; len(b.alerts) != 1 || b.alerts[0] != want {
		t.Errorf("alerts %q", b.alerts)
	}
	if got := strings.Count(b.logged(), "hook failed"); got != 3 {
		t.Errorf("%d failures are logged", got)
	}
	loud := newBench(t)
	loud.hook(t, "head -c 100000000 /dev/zero", "alert").Alert(item.Alert{})
	if len(loud.alerts) > 0 {
		t.Errorf("alerts %q", loud.alerts)
	}
}

// A hanging hook ends with the Runner, which is not a failure.
func TestCloseEndsHooks(t *testing.T) {
	b := newBench(t)
	h := b.hook(t, "cd "+b.dir+"; "+lingers, "alert")
	f := hook.NewFanout(slog.New(slog.DiscardHandler), nil, h)
	for range 10 {
		f.Alert(item.Alert{})
	}
	for b.lacks("leader") {
		continue
	}
	b.Close()
	f.Close(nil)
	b.gone(t)
	if len(b.alerts) > 0 {
		t.Errorf("alerts %q", b.alerts)
	}
}
