package view_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"podd/internal/clients/view"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

const ours = "our-request"

// show shows messages as one turn and returns the output.
func show(t testing.TB, messages ...*poddv1.StreamResponse) (out, err string, turn *view.Turn) {
	t.Helper()
	var p pipes
	v := view.NewTurn(p.console(), ours)
	for _, m := range messages {
		if m == nil {
			v.Lost(errors.New("podd cannot be reached"))
			continue
		}
		if _, err := v.Show(m); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	return p.out.String(), p.err.String(), v
}

// lost marks the loss of the stream.
var lost *poddv1.StreamResponse

func started(seq int64) *poddv1.StreamResponse {
	return entry(seq, 3, item.TurnStarted{RequestIDs: []string{"another", ours}})
}

func finished(seq int64) *poddv1.StreamResponse {
	return entry(seq, 3, item.TurnEnded{
		Outcome: item.OutcomeFinished, Steps: 2, ToolCalls: 1,
		Usage: item.Usage{Input: 1234, CachedInput: 800, Output: 56},
	})
}

func answer(s string) item.AssistantMessage { return item.AssistantMessage{Text: s} }

func TestTurn(t *testing.T) {
	out, err, v := show(t,
		started(2),
		delta(text(3, "s1.0", "I will re")), delta(text(3, "s1.0", "ad it.")),
		added(3, 3, answer("I will read it.")),
		added(4, 3, item.ToolCall{CallID: "c1", Name: "read_file", Arguments: `{}`}),
		entry(5, 3, item.ToolStarted{CallID: "c1", Tool: "read_file"}),
		added(6, 3, item.ToolResult{CallID: "c1", Tool: "read_file", DurationMS: 3, Output: item.Output{Summary: "read_file: src/main.go, 42 lines", Content: "secret"}}),
		added(7, 3, item.ToolResult{CallID: "c2", Tool: "shell", DurationMS: 1200, Output: item.Output{Summary: "exit 1\n3 failed", IsError: true}}),
		entry(8, 3, item.AlertRaised{Alert: item.Alert{Seq: 4, Level: item.LevelWarn, Text: "slow", Count: 2}}),
		delta(text(3, "s2.0", "Do")),
		added(9, 3, answer("Done.")),
		entry(10, 3, item.AlertRaised{Alert: item.Alert{Seq: 5, Level: item.LevelInfo, Source: "turn", Reason: item.ReasonTurnEnded, Text: "turn 3 finished"}}),
		finished(10),
	)
	if want := "I will read it.\nDone.\n"; out != want {
		t.Errorf("standard output is %q, want %q", out, want)
	}
	want := `· read_file: src/main.go, 42 lines  (3 ms)
✗ shell: exit 1 | 3 failed  (1.2 s)
! warn: slow (x2)
turn 3 finished: 2 steps, 1,234 tokens in (800 cached), 56 out
`
	if err != want {
		t.Errorf("standard error is\n%s\nwant\n%s", err, want)
	}
	if turn, end := v.Ended(); turn != 3 || end == nil || end.Outcome != item.OutcomeFinished || v.Seq() != 10 {
		t.Errorf("turn %d ended as %+v at %d", turn, end, v.Seq())
	}
}

// podd's absence is one line, before the outcome of the turn.
func TestTurnThatGoesOn(t *testing.T) {
	const reason = "podd stopped during the turn"
	_, err, _ := show(t, started(1),
		entry(2, 3, item.Recovered{Reason: reason}),
		finished(4),
	)
	if !strings.HasPrefix(err, "! the turn resumes: "+reason+"\nturn 3 finished") {
		t.Errorf("standard error is %q", err)
	}
}

// An earlier turn shows only its alerts: its end is not this turn's, and the alert about
// that end does not show.
func TestTurnOfAnotherSubmit(t *testing.T) {
	other := func(seq int64, k item.Kind) *poddv1.StreamResponse { return entry(seq, 2, k) }
	out, err, v := show(t,
		other(1, item.TurnStarted{RequestIDs: []string{"other"}}),
		delta(text(2, "s1.0", "not ours")), inFlight(text(2, "s1.0", "not ours")),
		other(2, item.ItemAdded{Item: answer("not ours")}),
		other(3, item.ItemAdded{Item: item.ToolResult{Output: item.Output{Summary: "x"}}}),
		other(4, item.AlertRaised{Alert: item.Alert{Level: item.LevelError, Text: "the disk is full"}}),
		other(5, item.AlertRaised{Alert: item.Alert{Level: item.LevelError, Source: "turn", Reason: item.ReasonTurnEnded, Text: "in any words"}}),
		other(6, item.TurnEnded{Outcome: item.OutcomeFailed}),
	)
	if _, end := v.Ended(); out != "" || err != "! error: the disk is full\n" || end != nil {
		t.Errorf("shown: %q, %q, end %v", out, err, end)
	}
}

func TestEndOfAnotherTurnIsNotOurs(t *testing.T) {
	out, _, v := show(t, started(1), added(2, 4, answer("x")), entry(3, 4, item.TurnEnded{Outcome: item.OutcomeFailed}))
	if _, end := v.Ended(); end != nil || out != "" {
		t.Errorf("the end is %+v, standard output %q", end, out)
	}
}

func TestSteeredTurn(t *testing.T) {
	out, err, v := show(t,
		entry(4, 2, item.Promoted{RequestIDs: []string{ours}}),
		added(5, 2, answer("yes")),
		entry(6, 2, item.TurnEnded{Outcome: item.OutcomeFinished}),
	)
	if turn, end := v.Ended(); out != "yes\n" || turn != 2 || end == nil {
		t.Errorf("shown %q, turn %d, end %v", out, turn, end)
	}
	if err != "· joined the running turn 2\nturn 2 finished\n" {
		t.Errorf("standard error is %q", err)
	}
}

// A withdrawn submit has no turn; another submit's turn does not show.
func TestSubmitThatIsTakenBack(t *testing.T) {
	back := func(id string) *poddv1.StreamResponse { return entry(4, 0, item.Withdrawn{RequestIDs: []string{id}}) }
	for id, want := range map[string]bool{ours: true, "another": false} {
		var p pipes
		v := view.NewTurn(p.console(), ours)
		if done, err := v.Show(back(id)); done != want || err != nil || v.Withdrawn() != want {
			t.Errorf("%s: done %v, %v", id, done, err)
		}
		_ = v.Close()
	}
}

func TestTurnThatFails(t *testing.T) {
	_, err, v := show(t, started(1), entry(2, 3, item.TurnEnded{Outcome: item.OutcomeFailed, Cause: "no key", Reason: "NO_API_KEY"}))
	if _, end := v.Ended(); err != "" || end.Cause != "no key" {
		t.Errorf("standard error is %q, the end %v: the caller says why", err, end)
	}
	_, err, _ = show(t, started(1), entry(2, 3, item.TurnEnded{Outcome: item.OutcomeLimit, Steps: 1}))
	if err != "turn 3 stopped by a limit: 1 step, tokens not reported\n" {
		t.Errorf("standard error is %q", err)
	}
}

const cutNote = "(the answer was cut off; asking the model again)\n"

func TestTextThatBeginsAgain(t *testing.T) {
	restarted := delta(item.Delta{Turn: 3, Step: 1, Restarted: true, Text: "cut"})
	begun := []*poddv1.StreamResponse{started(1), delta(text(3, "s1.0", "The ans"))}
	whole := []*poddv1.StreamResponse{added(9, 3, answer("The answer.")), finished(10)}
	tests := map[string]struct {
		between []*poddv1.StreamResponse
		out     string
		cut     bool
	}{
		"told by podd":                        {[]*poddv1.StreamResponse{restarted, delta(text(3, "s1.0", "The answer."))}, "The ans\nThe answer.\n", true},
		"told by podd, before other text":     {[]*poddv1.StreamResponse{restarted}, "The ans\nThe answer.\n", true},
		"lost, with the text so far":          {[]*poddv1.StreamResponse{lost, caughtUp(), inFlight(text(3, "s1.0", "The answer"))}, "The answer.\n", false},
		"lost, with another text so far":      {[]*poddv1.StreamResponse{lost, inFlight(text(3, "s1.0", "No"))}, "The ans\nNo\nThe answer.\n", true},
		"lost, with another block so far":     {[]*poddv1.StreamResponse{lost, inFlight(text(3, "s2.0", "The"))}, "The ans\nThe answer.\n", true},
		"lost, with a tool's output in light": {[]*poddv1.StreamResponse{lost, inFlight(item.Delta{Turn: 3, Block: "o", Kind: item.DeltaToolOutput, Text: "x"})}, "The ans\nThe answer.\n", true},
		"lost, and other fragments":           {[]*poddv1.StreamResponse{lost, delta(text(3, "s1.0", "The"))}, "The ans\nThe answer.\n", true},
		"lost, and the entry goes on":         {[]*poddv1.StreamResponse{lost, caughtUp()}, "The answer.\n", false},
		"not lost":                            {nil, "The answer.\n", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var messages []*poddv1.StreamResponse
			messages = append(append(append(messages, begun...), tt.between...), whole...)
			out, err, _ := show(t, messages...)
			if out != tt.out {
				t.Errorf("standard output is %q, want %q", out, tt.out)
			}
			if strings.Contains(err, cutNote) != tt.cut {
				t.Errorf("standard error is %q", err)
			}
		})
	}
}

func TestEntryThatIsNotTheTextShown(t *testing.T) {
	out, _, _ := show(t, started(1), lost, delta(text(3, "s1.0", "older half dropped")),
		added(2, 3, answer("The older half dropped")), finished(3))
	if out != "older half dropped\nThe older half dropped\n" {
		t.Errorf("standard output is %q", out)
	}
}

// Printed text cannot grow in the middle: when other text follows it, the entry's text is
// printed whole.
func TestEntryOfTextThatStandsFurtherUp(t *testing.T) {
	out, _, _ := show(t, started(1), delta(text(3, "a", "One")), delta(text(3, "b", "Two")),
		added(2, 3, answer("One more")), added(3, 3, answer("Two")), finished(4))
	if out != "One\nTwo\nOne more\n" {
		t.Errorf("standard output is %q", out)
	}
}

// However an answer is split into fragments, whenever a client attaches, and whichever
// fragments it misses before the entry: standard output is the answer.
func TestTextComesOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		answers := rapid.SliceOfN(rapid.StringMatching(`[a-zäß ]{1,12}`), 1, 3).Draw(t, "answers")
		show := func(m *poddv1.StreamResponse, v *view.Turn) {
			if _, err := v.Show(m); err != nil {
				t.Fatal(err)
			}
		}
		var p pipes
		v := view.NewTurn(p.console(), ours)
		show(started(1), v)
		// The entries of one answer come together, after all its fragments.
		var late []*poddv1.StreamResponse
		var unfinished []item.Delta
		for i, whole := range answers {
			a := []rune(whole)
			block := string(rune('a' + i))
			at := rapid.IntRange(0, len(a)).Draw(t, "attached")
			show(inFlight(append(unfinished, text(3, block, string(a[:at])))...), v)
			for at < len(a) && rapid.Bool().Draw(t, "more") {
				n := rapid.IntRange(1, len(a)-at).Draw(t, "fragment")
				if rapid.Bool().Draw(t, "lost") {
					v.Lost(errors.New("lost"))
					show(inFlight(append(unfinished, text(3, block, string(a[:at+n])))...), v)
				} else {
					show(delta(text(3, block, string(a[at:at+n]))), v)
				}
				at += n
			}
			late = append(late, added(int64(i+2), 3, answer(whole)))
			if i+1 < len(answers) && at == len(a) && rapid.Bool().Draw(t, "late") {
				unfinished = append(unfinished, text(3, block, whole))
				continue
			}
			for _, m := range late {
				show(m, v)
			}
			late, unfinished = nil, nil
		}
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
		if want := strings.Join(answers, "\n") + "\n"; p.out.String() != want {
			t.Fatalf("standard output is %q, want %q", p.out.String(), want)
		}
	})
}

// Bytes from models and tools cannot control the terminal.
func TestTurnIsSafe(t *testing.T) {
	const evil = "\x1b]52;c;aGk=\a\u202e\r\x9b31m"
	out, err, _ := show(t, started(1),
		delta(text(3, "s1.0", evil[:1])), delta(text(3, "s1.0", evil[1:])), added(2, 3, answer(evil)),
		entry(3, 3, item.ToolStarted{CallID: "c", Tool: evil}),
		added(4, 3, item.ToolResult{CallID: "c", Tool: evil, Output: item.Output{Summary: evil}}),
		entry(5, 3, item.AlertRaised{Alert: item.Alert{Level: item.LevelWarn, Text: evil}}),
		entry(6, 3, item.ApprovalRequested{CallID: "c", Tool: evil, Question: evil}),
		entry(6, 3, item.ApprovalResolved{CallID: "c", By: evil, Reason: evil}),
		added(6, 3, item.SystemMessage{Origin: item.OriginNote, Text: evil}),
		entry(7, 3, item.Recovered{Reason: evil}),
		finished(8),
	)
	for _, shown := range []string{out, err} {
		if strings.ContainsAny(shown, "\x1b\a\r\u202e\u009b") {
			t.Errorf("%q reaches the terminal", shown)
		}
	}
	if !strings.Contains(out, `\x1b]52`) {
		t.Errorf("standard output is %q", out)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestTurnSaysThatItCannotWrite(t *testing.T) {
	v := view.NewTurn(view.Console{Out: failing{}, Err: new(bytes.Buffer)}, ours)
	if _, err := v.Show(started(1)); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Show(added(2, 3, answer("x"))); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("got %v", err)
	}
	_ = v.Close()
}

// Where only the last answer is shown, it is JSON whatever is in its strings, with the same
// value and nothing that hides. An answer that was cut off, and earlier ones, are not shown.
func TestOnlyTheLastAnswer(t *testing.T) {
	const value = "a\u007f\u009b \u202eb\U000e0041 größe 👩‍❤️‍👨 \u00ad日本"
	var p pipes
	v := view.NewTurn(p.console(), ours)
	v.OnlyLast()
	for _, m := range []*poddv1.StreamResponse{
		started(2), delta(text(3, "s1.0", "I will re")), added(3, 3, answer("I will read it.")), delta(text(3, "s2.0", `{"a":`)),
		added(4, 3, answer("{\"a\":\r\n\t\""+value+"\"\r}")), finished(5),
	} {
		if _, err := v.Show(m); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	out := p.out.String()
	var got map[string]string
	if err := json.Unmarshal([]byte(out), &got); err != nil || got["a"] != value || strings.ContainsAny(out, "\u007f\u009b\u202e\U000e0041") {
		t.Errorf("standard output is %+q, %v", out, err)
	}
	p = pipes{}
	failed := view.NewTurn(p.console(), ours)
	failed.OnlyLast()
	for _, m := range []*poddv1.StreamResponse{started(2), added(3, 3, answer("no value")), entry(4, 3, item.TurnEnded{Outcome: item.OutcomeFailed})} {
		if _, err := failed.Show(m); err != nil {
			t.Fatal(err)
		}
	}
	if err := failed.Close(); err != nil || p.out.String() != "" {
		t.Errorf("a failed turn shows %q, %v", p.out.String(), err)
	}
}
