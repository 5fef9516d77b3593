package view_test

import (
	"errors"
	"strings"
	"testing"

	"podd/internal/clients/view"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// tail shows messages as a log.
func tail(t *testing.T, live bool, messages ...*poddv1.StreamResponse) string {
	t.Helper()
	var p pipes
	v := view.NewLog(p.console(), live)
	for _, m := range messages {
		if m == nil {
			v.Lost(errors.New("podd cannot be reached"))
			continue
		}
		if err := v.Show(m); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	return p.out.String()
}

func TestEachKindOfEntry(t *testing.T) {
	usage := item.Usage{Input: 1234, CachedInput: 800, Output: 56}
	file := item.SystemMessage{Origin: item.OriginFileRef, Text: "[File: a.go]\n0123456789"}
	tests := []struct {
		kind  item.Kind
		title string
		body  string
	}{
		{item.Submitted{RequestID: "r1", Mode: item.ModeSteer, Text: "fix it\n\nplease"}, "submitted as r1 (steer)", "    fix it\n\n    please\n"},
		{item.Promoted{RequestIDs: []string{"r1", "r2"}}, "joined the running turn: r1, r2", ""},
		{item.Withdrawn{RequestIDs: []string{"r1", "r2"}}, "removed from the queue: r1, r2", ""},
		{item.TurnStarted{}, "turn 3 started", ""},
		{item.TurnEnded{Outcome: item.OutcomeFinished, Steps: 1, Usage: usage}, "turn 3 finished: 1 step, 1,234 tokens in (800 cached), 56 out", ""},
		{item.TurnEnded{Outcome: item.OutcomeFinished, Steps: 1, Usage: usage, Cost: 0.01234}, "turn 3 finished: 1 step, 1,234 tokens in (800 cached), 56 out, $0.0123", ""},
		{item.TurnEnded{Outcome: item.OutcomeFailed, Cause: "no key"}, "turn 3 failed", "    no key\n"},
		{item.TurnEnded{}, "turn 3 ended in a way that this version does not know", ""},
		{item.Setup{Model: "m", Tools: make([]item.ToolSpec, 2)}, "setup: model m, 2 tools", ""},
		{item.ItemAdded{Item: item.UserMessage{Text: "hi"}}, "user", "    hi\n"},
		{item.ItemAdded{Item: file}, "system (file_ref)", "    [File: a.go] 10 bytes\n"},
		{item.ItemAdded{Item: item.SystemMessage{Origin: "note", Text: "a\nb"}}, "system (note)", "    a\n    b\n"},
		{item.ItemAdded{Item: answer("yes\n")}, "assistant", "    yes\n"},
		{item.ItemAdded{Item: item.Reasoning{Text: "hm"}}, "reasoning", "    hm\n"},
		{item.ItemAdded{Item: item.ToolCall{Name: "shell", Arguments: `{"c":1}`}}, "call shell", "    {\"c\":1}\n"},
		{item.ItemAdded{Item: item.ToolCall{Name: "shell", Arguments: strings.Repeat("ä", 300)}}, "call shell", "    " + strings.Repeat("ä", 200) + "…\n"},
		{item.ItemAdded{Item: item.ToolResult{Tool: "shell", DurationMS: 3, Output: item.Output{Summary: "ok", Content: "hidden"}}}, "result of shell (3 ms)", "    ok\n"},
		{item.ItemAdded{Item: item.ToolResult{Tool: "shell", Output: item.Output{Summary: "no", IsError: true}}}, "error of shell (0 ms)", "    no\n"},
		{item.ToolStarted{Tool: "shell"}, "started shell", ""},
		{item.RequestUsage{Step: 2, Usage: usage, Measured: true, Model: "m", DurationMS: 1500}, "step 2: 1,234 tokens in (800 cached), 56 out, m, 1.5 s", ""},
		{item.RequestUsage{Step: 2, Model: "m"}, "step 2: tokens not reported, m, 0 ms", ""},
		{item.Prune{Seqs: []item.Seq{4, 5}, Reason: "old"}, "pruned 2 results", "    old\n"},
		{item.Compaction{Summary: answer("so far"), UpTo: 9}, "compacted up to #9", "    so far\n"},
		{
			item.ApprovalRequested{Question: "rm?", Tool: "shell", Arguments: `{"command":"rm x\nrm y"}`, Digest: "\x01\x02\x03\x04\x05\x06\x07", Expires: noon}, "shell waits for approval",
			"    rm?\n      command:\n      | rm x\n      | rm y\n    digest 010203040506, expires 2026-02-03 12:01:07\n",
		},
		{item.ApprovalRequested{}, "a tool waits for approval", "      | \n    digest \n"},
		{item.ApprovalResolved{Approved: true, By: "me"}, "approved by me", ""},
		{item.ApprovalResolved{By: "me", Reason: "no"}, "denied by me", "    no\n"},
		{item.Rewind{To: 4}, "rewound to #4", ""},
		{item.Purged{Entries: 40, Reason: "too old"}, "the log begins here; 40 older entries removed", "    too old\n"},
		{item.Note{Text: "n"}, "note", "    n\n"},
		{item.Note{Text: "n", Wake: true}, "note (wakes the pod)", "    n\n"},
		{item.Recovered{Reason: "r"}, "recovered", "    r\n"},
		{item.AlertRaised{Alert: item.Alert{Level: item.LevelError, Text: "full", Count: 1}}, "alert error: full", ""},
		{item.WingEntry{Wing: "triggers", Name: "fired", Line: "trigger t fired (1)"}, "trigger t fired (1)", ""},
	}
	for _, tt := range tests {
		want := "#7  2026-02-03 12:01:07  " + tt.title + "\n" + tt.body
		if got := tail(t, false, entry(7, 3, tt.kind)); got != want {
			t.Errorf("%T shows as\n%s\nwant\n%s", tt.kind, got, want)
		}
	}
	if got := tail(t, false, entry(7, 3, item.WingEntry{Wing: "triggers", Name: "state"})); got != "" {
		t.Errorf("an entry for its wing alone shows as %q", got)
	}
	unknown := &poddv1.StreamResponse{Kind: &poddv1.StreamResponse_Entry{Entry: &poddv1.Entry{Seq: 1}}}
	if got := tail(t, false, unknown); !strings.Contains(got, "does not know") {
		t.Errorf("an unknown kind shows as %q", got)
	}
}

// A waiting call is named by its entry, if that was shown.
func TestLogNamesTheCallThatAsks(t *testing.T) {
	asks := item.ApprovalRequested{CallID: "c1", Tool: "shell"}
	got := tail(t, false, added(4, 3, item.ToolCall{CallID: "c1", Name: "shell"}), entry(5, 3, asks),
		added(6, 3, item.ToolResult{CallID: "c1"}), entry(7, 3, asks))
	if strings.Count(got, "shell waits for approval (call 4)\n") != 1 || strings.Count(got, "shell waits for approval") != 2 {
		t.Errorf("shown\n%s", got)
	}
}

// A client that attaches in the middle of an answer sees its text so far; the entry comes
// once and whole.
func TestLogAttachedInMidAnswer(t *testing.T) {
	got := tail(t, false, caughtUp(), inFlight(text(3, "b", "The an")), delta(text(3, "b", "swer")), added(4, 3, answer("The answer")))
	want := "(so far: assistant)\n    The an\n#4  2026-02-03 12:01:07  assistant\n    The answer\n"
	if got != want {
		t.Errorf("shown\n%s\nwant\n%s", got, want)
	}
}

func TestLogLive(t *testing.T) {
	head := "#4  2026-02-03 12:01:07  "
	output := func(s string) item.Delta {
		return item.Delta{Turn: 3, Block: "o", Kind: item.DeltaToolOutput, Tool: "shell", Text: s}
	}
	thought := item.Delta{Turn: 3, Block: "r", Kind: item.DeltaReasoning, Text: "hm"}
	restarted := delta(item.Delta{Turn: 3, Step: 1, Restarted: true, Text: "HTTP 503"})
	tests := map[string]struct {
		messages []*poddv1.StreamResponse
		want     string
	}{
		"text": {
			[]*poddv1.StreamResponse{delta(text(3, "b", "The\nan")), delta(text(3, "b", "swer")), added(4, 3, answer("The\nanswer"))},
			"(live: assistant)\n    The\n    answer\n" + head + "assistant  (above)\n",
		},
		"text so far that goes on": {
			[]*poddv1.StreamResponse{inFlight(text(3, "b", "The ")), delta(text(3, "b", "ans")), added(4, 3, answer("The answer"))},
			"(so far: assistant)\n    The answer\n" + head + "assistant  (above)\n",
		},
		"another text": {
			[]*poddv1.StreamResponse{delta(text(3, "b", "No")), added(4, 3, answer("Yes"))},
			"(live: assistant)\n    No\n" + head + "assistant\n    Yes\n",
		},
		"tool output": {
			[]*poddv1.StreamResponse{delta(output("one\n")), delta(output("two\n")), added(4, 3, item.ToolResult{Tool: "shell", Output: item.Output{Summary: "ok"}})},
			"(live: shell output)\n    one\n    two\n" + head + "result of shell (0 ms)\n    ok\n",
		},
		"the rest of text that stands further up": {
			[]*poddv1.StreamResponse{delta(text(3, "b", "The")), delta(output("x")), added(4, 3, answer("The answer"))},
			"(live: assistant)\n    The\n(live: shell output)\n    x\n" + head + "assistant\n    The answer\n",
		},
		"encrypted reasoning": {
			[]*poddv1.StreamResponse{delta(thought), added(4, 3, item.Reasoning{})},
			"(live: reasoning)\n    hm\n" + head + "reasoning  (above)\n",
		},
		"arguments are left to the call": {
			[]*poddv1.StreamResponse{delta(item.Delta{Turn: 3, Block: "c", Kind: item.DeltaToolArguments, Text: "{"})}, "",
		},
		"an entry in between": {
			[]*poddv1.StreamResponse{delta(text(3, "b", "a")), entry(4, 3, item.Note{Text: "n"}), delta(text(3, "b", "b")), added(4, 3, answer("abc"))},
			"(live: assistant)\n    a\n" + head + "note\n    n\n(live: assistant)\n    bc\n" + head + "assistant  (above)\n",
		},
		"restarted": {
			[]*poddv1.StreamResponse{delta(text(3, "b", "a")), restarted, delta(text(3, "b", "b")), added(4, 3, answer("b"))},
			"(live: assistant)\n    a\n(the answer was cut off; asking the model again: HTTP 503)\n(live: assistant)\n    b\n" + head + "assistant  (above)\n",
		},
		"lost": {
			[]*poddv1.StreamResponse{delta(text(3, "b", "a")), lost, inFlight(text(3, "b", "ab")), added(4, 3, answer("ab"))},
			"(live: assistant)\n    a\n(so far: assistant)\n    ab\n" + head + "assistant  (above)\n",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tail(t, true, tt.messages...); got != tt.want {
				t.Errorf("shown\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestLogIsSafe(t *testing.T) {
	const evil = "\x1b]52;c;aGk=\a\u202e\r\x9b31m"
	kinds := []item.Kind{
		item.Submitted{RequestID: evil, Text: evil}, item.Promoted{RequestIDs: []string{evil}}, item.Withdrawn{RequestIDs: []string{evil}}, item.Setup{Model: evil},
		item.TurnEnded{Outcome: item.OutcomeFailed, Cause: evil}, item.ItemAdded{Item: item.UserMessage{Text: evil}},
		item.ItemAdded{Item: item.SystemMessage{Origin: evil, Text: evil}}, item.ItemAdded{Item: item.ToolCall{Name: evil, Arguments: evil}},
		item.ItemAdded{Item: item.ToolResult{Tool: evil, Output: item.Output{Summary: evil}}}, item.ToolStarted{Tool: evil},
		item.ApprovalRequested{Question: evil, Tool: evil, Arguments: `{"` + evil + `":"` + evil + `"}`}, item.ApprovalRequested{Arguments: evil},
		item.RequestUsage{Model: evil}, item.ApprovalResolved{By: evil, Reason: evil}, item.AlertRaised{Alert: item.Alert{Text: evil}},
		item.Prune{Reason: evil}, item.Recovered{Reason: evil}, item.Note{Text: evil},
	}
	for _, k := range kinds {
		live := item.Delta{Turn: 3, Block: "o", Kind: item.DeltaToolOutput, Tool: evil, Text: evil}
		restart := item.Delta{Turn: 3, Restarted: true, Text: evil}
		if got := tail(t, true, entry(1, 3, k), delta(live), delta(restart)); strings.ContainsAny(got, "\x1b\a\r\u202e\u009b") {
			t.Errorf("%T: %q reaches the terminal", k, got)
		}
	}
}

func TestLogSaysThatItCannotWrite(t *testing.T) {
	v := view.NewLog(view.Console{Out: failing{}, Err: failing{}}, true)
	for _, m := range []*poddv1.StreamResponse{entry(1, 3, item.Note{Text: "n"}), delta(text(3, "b", "x")), inFlight(text(3, "b", "x"))} {
		if err := v.Show(m); err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("got %v", err)
		}
	}
}
