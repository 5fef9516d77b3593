package attach

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// see feeds a stream: kinds of entries, items, fragments, text in flight, and nil for a
// loss of the stream.
func (t *blockList) see(messages ...any) {
	for _, m := range messages {
		var r poddv1.StreamResponse
		switch m := m.(type) {
		case nil:
			t.Lost()
			continue
		case item.Delta:
			r.Kind = &poddv1.StreamResponse_Delta{Delta: wire.DeltaToProto(m)}
		case []item.Delta:
			r.Kind = &poddv1.StreamResponse_InFlight{InFlight: wire.InFlightToProto(m)}
		case item.Item:
			r.Kind = &poddv1.StreamResponse_Entry{Entry: wire.EntryToProto(item.Entry{Seq: nextSeq(), Kind: item.ItemAdded{Item: m}})}
		case item.Kind:
			r.Kind = &poddv1.StreamResponse_Entry{Entry: wire.EntryToProto(item.Entry{Seq: nextSeq(), Kind: m})}
		}
		t.apply(&r)
	}
}

var lastSeq item.Seq

func nextSeq() item.Seq {
	lastSeq++
	return lastSeq
}

func shown(t *blockList, columns int) (lines []string) {
	for _, b := range t.blocks {
		for _, l := range t.layout(b, columns) {
			lines = append(lines, l.String())
		}
	}
	return lines
}

func expect(t *testing.T, tr *blockList, want ...string) {
	t.Helper()
	if got := strings.Join(shown(tr, 80), "\n"); got != strings.Join(want, "\n") {
		t.Errorf("it shows\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

func text(block, text string) item.Delta {
	return item.Delta{Kind: item.DeltaText, Block: block, Text: text}
}

// An entry replaces its fragments.
func TestLiveText(t *testing.T) {
	tr := newBlockList()
	tr.see(text("a", "The "), text("a", "ans"), text("b", "Next"))
	expect(t, tr, "The ans", "Next")
	tr.see(item.AssistantMessage{Text: "The answer."})
	expect(t, tr, "The answer.", "Next")
	tr.see(item.AssistantMessage{Text: "Next one."}, item.AssistantMessage{Text: "Never live."})
	expect(t, tr, "The answer.", "Next one.", "Never live.")
}

// After a loss the text in flight replaces the fragments shown; without any they
// disappear.
func TestLiveTextOverALoss(t *testing.T) {
	tr := newBlockList()
	tr.see(text("a", "The an"), nil)
	expect(t, tr, "The an")
	tr.see([]item.Delta{text("a", "The answ")}, text("a", "er"))
	expect(t, tr, "The answer")
	tr.see(nil, text("b", "Again"))
	expect(t, tr, "Again")
	tr.see(item.Delta{Restarted: true})
	expect(t, tr, "(the answer was cut off; asking the model again)")
}

func TestCalls(t *testing.T) {
	tr := newBlockList()
	const args = `{"command":"ls \u001b[2J"}`
	tr.see(item.ToolCall{CallID: "c", Name: "shell", Arguments: args}, item.ToolStarted{CallID: "c", Tool: "shell", Arguments: args},
		item.Delta{Kind: item.DeltaToolOutput, CallID: "c", Text: "one\n\x1b[2Jtwo\n"})
	expect(t, tr, `· shell command: ls \x1b[2J  (running)`, `  | \x1b[2Jtwo`)
	tr.open = true
	expect(t, tr, `· shell command: ls \x1b[2J  (running)`, `    command: ls \x1b[2J`, "  | one", `  | \x1b[2Jtwo`)
	tr.see(item.ToolResult{CallID: "c", DurationMS: 5, Output: item.Output{Summary: "exit 1", Content: "all\tof it", IsError: true}})
	expect(t, tr, "✗ shell: exit 1  (5 ms)", `    command: ls \x1b[2J`, "  | all    of it")
	tr.open = false
	expect(t, tr, "✗ shell: exit 1  (5 ms)")
	tr.see(item.ToolResult{CallID: "older", Tool: "glob", Output: item.Output{Summary: "glob: 2 paths"}})
	expect(t, tr, "✗ shell: exit 1  (5 ms)", "✓ glob: 2 paths  (0 ms)")
}

// A notice for people takes one line among the view's own; text for the model does not
// show.
func TestNotices(t *testing.T) {
	tr := newBlockList()
	tr.see(item.Submitted{RequestID: "r", Text: "waits"}, item.SystemMessage{Origin: item.OriginNote, Text: "look\nhere"},
		item.SystemMessage{Origin: item.OriginFileRef, Text: "[File: a]"})
	tr.notice(dim, "of the view")
	tr.see(item.Rewind{To: 4}, item.ApprovalResolved{Approved: true, By: "ada"}, item.Delta{Kind: item.DeltaToolArguments, Block: "w", Text: "{"},
		item.AlertRaised{Alert: item.Alert{Level: item.LevelWarn, Text: "no\x1b file", Count: 2}},
		item.TurnEnded{Outcome: item.OutcomeFailed, Cause: "no key", Usage: item.Usage{Input: 1200, Output: 3}})
	expect(t, tr, `· note: look\nhere`, "of the view", "! rewound to entry 4; the model no longer sees later entries",
		"· approved by ada", `! warn: no\x1b file (x2)`, "── turn 0 failed, 1,200 tokens in, 3 out: no key")
	tr.see(item.Withdrawn{RequestIDs: []string{"r"}})
	if got := shown(tr, 80); got[len(got)-1] != "· a queued prompt was removed" {
		t.Errorf("it shows %q", got)
	}
}

// Every line of the transcript is safe and fits, and no text is lost on the way.
func TestWrapped(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.SampledFrom([]rune("aaaaa  \n\t\x1b\u202e漢😀")))).Draw(t, "text")
		columns := rapid.IntRange(20, 40).Draw(t, "columns")
		var joined strings.Builder
		for _, l := range wrapped(words, plain, "  ", "  ", columns) {
			if l.Width() > columns || strings.ContainsAny(l.String(), "\x1b\n\t\u202e") {
				t.Fatalf("line %q of %d columns", l, l.Width())
			}
			joined.WriteString(l.String())
		}
		if want := strings.Count(words, "a"); strings.Count(joined.String(), "a") < want {
			t.Fatalf("%q lost text: %q", words, joined.String())
		}
	})
}

// An answer that grows piece by piece ends as the whole does.
func TestGrowingAnswer(t *testing.T) {
	const text = "# Title\n\nSome **bold** text\nof two lines.\n\n- one\n- two\n\n```go\nx := 1\n```\n\nThe end.\n"
	want := new(answer).lay(text, false, 40)
	var grown answer
	for n := range len(text) {
		for _, l := range grown.lay(text[:n], true, 40) {
			if l.Width() > 40 {
				t.Fatalf("line %q", l)
			}
		}
	}
	p := paint{color: true, columns: 40}
	if got := grown.lay(text, false, 40); joined(got, p) != joined(want, p) || len(got) < 9 {
		t.Errorf("it is\n%s\nwant\n%s", joined(got, p), joined(want, p))
	}
	if again := grown.lay(text, false, 30); len(again) == 0 {
		t.Error("nothing is left at another width")
	}
}

// The lines of few blocks are kept, and not of those laid out long ago. Many blocks lose the
// oldest, and what a person reads stays where it is.
func TestForgets(t *testing.T) {
	a := scene(t)
	tr := a.log
	tr.see(text("live", strings.Repeat("word\n\n", 100)))
	for range 1000 {
		tr.see(item.UserMessage{Text: "one\ntwo\nthree"})
	}
	for range 2 {
		for _, b := range tr.blocks {
			tr.layout(b, 80)
		}
		live := tr.find("live")
		if live != nil {
			live.lines = nil
			tr.layout(live, 80)
		}
		kept := 0
		for _, b := range tr.blocks {
			kept += len(b.lines)
		}
		if kept != tr.laidLines || kept > mostLaid {
			t.Fatalf("%d lines are kept, counted %d", kept, tr.laidLines)
		}
	}
	for len(tr.blocks) < 2*mostBlocks-1 {
		tr.notice(plain, "x")
	}
	a.view = scroll{up: true, block: 2*mostBlocks - 10}
	at := tr.blocks[a.view.block]
	a.receive(&poddv1.StreamResponse{Kind: &poddv1.StreamResponse_Entry{Entry: wire.EntryToProto(item.Entry{Seq: nextSeq(), Kind: item.ItemAdded{Item: item.UserMessage{Text: "new"}}})}})
	if len(tr.blocks) != mostBlocks || tr.blocks[a.view.block] != at {
		t.Errorf("%d blocks, scrolled to %d", len(tr.blocks), a.view.block)
	}
}

// A prompt of the log becomes the draft again that it was sent from, also once a turn has it.
func TestResent(t *testing.T) {
	a := scene(t)
	a.log.see(item.Submitted{RequestID: "r", Text: "see @a.txt one\n@b\n", Segments: []item.Segment{
		item.TextSegment{Text: "see "}, item.FileRef{Path: "a.txt"}, item.PasteSegment{Text: "one\n@b\n"},
	}}, item.TurnStarted{RequestIDs: []string{"r"}}, item.UserMessage{Text: "see @a.txt one\n@b\n"})
	b := a.log.blocks[len(a.log.blocks)-1]
	want := []item.Segment{item.TextSegment{Text: "see @a.txt"}, item.PasteSegment{Text: "one\n@b\n"}}
	for range 2 {
		e := a.prompt.history.resent(b, a.log.sent[b.ID])
		if got := e.segments(); !reflect.DeepEqual(got, want) {
			t.Errorf("it is %+v, want %+v", got, want)
		}
		want = []item.Segment{item.TextSegment{Text: "as it was typed"}}
		a.prompt.history.add(*written("as it was typed"), "r")
	}
}
