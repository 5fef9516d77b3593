package attach

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"podd/pkg/item"
)

func shown(t *transcript, columns int) (lines []string) {
	for _, b := range t.blocks {
		for _, l := range t.layout(b, columns) {
			lines = append(lines, l.text)
		}
	}
	return lines
}

func expect(t *testing.T, tr *transcript, want ...string) {
	t.Helper()
	if got := strings.Join(shown(tr, 80), "\n"); got != strings.Join(want, "\n") {
		t.Errorf("it shows\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

func text(block, text string) item.Delta {
	return item.Delta{Kind: item.DeltaText, Block: block, Text: text}
}

// An entry takes the place of its fragments.
func TestLiveText(t *testing.T) {
	tr := newTranscript()
	tr.delta(text("a", "The "))
	tr.delta(text("a", "ans"))
	tr.delta(text("b", "Next"))
	expect(t, tr, "The ans", "Next")
	tr.message(blockAnswer, "The answer.")
	expect(t, tr, "The answer.", "Next")
	tr.message(blockAnswer, "Next one.")
	tr.message(blockAnswer, "Never live.")
	expect(t, tr, "The answer.", "Next one.", "Never live.")
}

// After a loss the text so far replaces what was shown; without any it came to nothing.
func TestLiveTextOverALoss(t *testing.T) {
	tr := newTranscript()
	tr.delta(text("a", "The an"))
	tr.stale = true
	expect(t, tr, "The an")
	tr.inFlight([]item.Delta{text("a", "The answ")})
	tr.delta(text("a", "er"))
	expect(t, tr, "The answer")
	tr.stale = true
	tr.delta(text("b", "Anew"))
	expect(t, tr, "Anew")
	tr.delta(item.Delta{Restarted: true})
	expect(t, tr, "(the answer was cut; starting again)")
}

func TestCalls(t *testing.T) {
	tr := newTranscript()
	tr.called(item.ToolCall{CallID: "c", Name: "shell", Arguments: `{"command":"ls \u001b[2J"}`})
	tr.callState("c", "running")
	tr.delta(item.Delta{Kind: item.DeltaToolOutput, CallID: "c", Text: "one\n\x1b[2Jtwo\n"})
	expect(t, tr, `· shell command: ls \x1b[2J  (running)`, `  | \x1b[2Jtwo`)
	tr.open = true
	expect(t, tr, `· shell command: ls \x1b[2J  (running)`, `    command: ls \x1b[2J`, "  | one", `  | \x1b[2Jtwo`)
	tr.result(item.ToolResult{CallID: "c", DurationMS: 5, Output: item.Output{Summary: "exit 1", Content: "all\tof it", IsError: true}})
	expect(t, tr, "✗ shell: exit 1  (5 ms)", `    command: ls \x1b[2J`, "  | all    of it")
	tr.open = false
	expect(t, tr, "✗ shell: exit 1  (5 ms)")
	tr.result(item.ToolResult{CallID: "older", Tool: "glob", Output: item.Output{Summary: "glob: 2 paths"}})
	expect(t, tr, "✗ shell: exit 1  (5 ms)", "✓ glob: 2 paths  (0 ms)")
}

// Every line of the transcript is safe and fits, and no text is lost on the way.
func TestParagraphs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.SampledFrom([]rune("aaaaa  \n\t\x1b\u202e漢😀")))).Draw(t, "text")
		columns := rapid.IntRange(8, 40).Draw(t, "columns")
		var joined strings.Builder
		for _, l := range paragraphs(words, columns) {
			if columnsOf(l) > columns+columns/2 || strings.ContainsAny(l, "\x1b\n\t\u202e") {
				t.Fatalf("line %q of %d columns", l, columnsOf(l))
			}
			joined.WriteString(l)
		}
		letters := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if want := strings.Count(words, "a"); strings.Count(letters(joined.String()), "a") < want {
			t.Fatalf("%q lost text: %q", words, joined.String())
		}
	})
}
