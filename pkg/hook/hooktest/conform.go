// Package hooktest is the suite that every hook.Hook must pass.
package hooktest

import (
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"podd/pkg/hook"
	"podd/pkg/item"
)

// Conform checks h against the contract of hook.Hook: its name is one short line and does
// not change, it accepts one of every event without a panic, and its changes to an event
// affect no other hook.
func Conform(t *testing.T, h hook.Hook) {
	t.Helper()
	t.Run("name", func(t *testing.T) {
		name := h.Name()
		if name == "" || len(name) > 64 || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsGraphic(r) }) {
			t.Errorf("the name %q is not one short line", name)
		}
		if again := h.Name(); again != name {
			t.Errorf("the name %q became %q", name, again)
		}
	})
	t.Run("events", func(t *testing.T) {
		var mu sync.Mutex
		var alerts []string
		f := hook.NewFanout(slog.New(slog.DiscardHandler), func(text string) {
			mu.Lock()
			defer mu.Unlock()
			alerts = append(alerts, text)
		}, h)
		for range 2 {
			publish(f)
		}
		f.Close(nil)
		if len(alerts) > 0 || f.Dropped()[h.Name()] > 0 {
			t.Errorf("%q, %v events dropped", alerts, f.Dropped())
		}
	})
}

// pod is the pod of the events.
const pod = "0198f3c0-0000-7000-8000-000000000001"

// publish publishes one event of every kind.
func publish(f *hook.Fanout) {
	f.Pod(hook.PodEvent{Change: hook.PodCreated, ID: pod, Name: "demo"})
	for n, kind := range Kinds() {
		f.Entry(pod, func() item.Entry {
			return item.Entry{Seq: item.Seq(n + 1), Time: time.Unix(1_700_000_000, 0), Turn: 1, Kind: kind}
		})
	}
	for _, name := range []hook.EdgeName{
		hook.EdgePromptSubmit, hook.EdgeBeforeRequest, hook.EdgeBeforeTool, hook.EdgeAfterTool, hook.EdgeTurnEnd, hook.EdgeAborted, "later",
	} {
		f.Edge(hook.Edge{Name: name, Pod: pod, Turn: 1, Step: 1})
		f.Edge(hook.Edge{
			Name: name, Pod: pod, Turn: 1, Step: 1, RequestID: "r1", CallID: "c1", Tool: "shell", Arguments: `{"command":"ls"}`,
			Text: "a\xff\n\x1b[2J", Decision: "denied by x: no",
		})
	}
	f.Alert(item.Alert{})
	f.Alert(item.Alert{Seq: 1, Pod: pod, Level: item.LevelWarn, Source: "turn", Text: "look", Time: time.Unix(1_700_000_000, 0), Count: 2})
	for _, change := range []hook.PodChange{
		hook.PodUpdated, hook.PodRenamed, hook.PodLoaded, hook.PodUnloaded, hook.PodPaused, hook.PodResumed, hook.PodDeleted, "later",
	} {
		f.Pod(hook.PodEvent{Change: change, ID: pod, Name: "demo"})
	}
}

// Kinds has one value of each kind of entry, including UnknownKind.
func Kinds() []item.Kind {
	message := item.SystemMessage{Origin: item.OriginInterceptor, Text: "the tests fail"}
	return []item.Kind{
		item.Submitted{RequestID: "r1", Segments: []item.Segment{item.TextSegment{Text: "hi"}, item.FileRef{Path: "a"}}, Text: "hi @a"},
		item.Promoted{RequestIDs: []string{"r1"}},
		item.TurnStarted{RequestIDs: []string{"r1"}},
		item.TurnEnded{Outcome: item.OutcomeFailed, Cause: "no", Reason: "INTERNAL"},
		item.Setup{Model: "m", Tools: []item.ToolSpec{{Name: "shell", Schema: "{}"}}},
		item.ItemAdded{Item: item.UserMessage{Text: "hi"}},
		item.ItemAdded{Item: message},
		item.ItemAdded{Item: item.AssistantMessage{Text: "a\xff"}},
		item.ItemAdded{Item: item.Reasoning{Text: "hm", Opaque: item.Opaque{API: "chat", JSON: "{}"}}},
		item.ItemAdded{Item: item.ToolCall{CallID: "c1", Name: "shell", Arguments: "{"}},
		item.ItemAdded{Item: item.ToolResult{CallID: "c1", Tool: "shell", Output: item.Output{Summary: "s", Cut: &item.Cut{TotalBytes: 9}}}},
		item.ToolStarted{CallID: "c1", Tool: "shell", Arguments: "{}"},
		item.RequestUsage{Usage: item.Usage{Requests: 1, Input: 10}, Model: "m", Step: 1},
		item.Prune{Seqs: []item.Seq{1}, Policy: "economic"},
		item.Compaction{Summary: message, UpTo: 3},
		item.ApprovalRequested{CallID: "c1", Digest: "\x01", Question: "sure?"},
		item.ApprovalResolved{CallID: "c1", Approved: true, By: "ada"},
		item.Rewind{To: 2},
		item.Note{Text: "note"},
		item.Recovered{Reason: "r", CallIDs: []string{"c1"}},
		item.Checkpoint{Dir: "/w", Commit: "b", Parent: "a", By: item.ByAgent},
		item.Restore{After: 1, Ended: true, Kept: []string{"/w/a"}},
		item.WingEntry{Wing: "notes", Name: "note", Line: "a note", Data: "{}"},
		item.AlertRaised{Alert: item.Alert{Seq: 1, Text: "look"}},
		item.UnknownKind{},
	}
}
