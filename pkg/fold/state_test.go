package fold

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"podd/pkg/item"
)

// dear are prices: a token in costs one dollar.
var dear = []ModelPrice{{Model: "dear", Money: Money{Input: 1e6}}}

// entries draws the next entries of a log, ill-formed ones too.
func entries(t *rapid.T, first item.Seq) []item.Entry {
	id := rapid.SampledFrom([]string{"a", "b", "c"})
	kind := rapid.Custom(func(t *rapid.T) item.Kind {
		call := id.Draw(t, "call")
		return rapid.SampledFrom([]item.Kind{
			item.TurnStarted{RequestIDs: []string{call}},
			item.TurnEnded{Outcome: item.OutcomeInterrupted, Cause: call},
			item.Rewind{To: 1},
			item.Note{Text: call, Wake: call == "a"},
			item.Promoted{}, item.Recovered{Waited: call == "b"},
			item.Setup{Model: call}, item.AlertRaised{Alert: item.Alert{Source: SourceFallback}},
			item.RequestUsage{Step: 3, Model: "dear", Measured: true, Usage: item.Usage{Input: 7, Requests: 1}},
			item.RequestUsage{Purpose: item.PurposeSubPod, Model: "free", Usage: item.Usage{Input: 7, Requests: 2}},
			item.ItemAdded{Item: item.UserMessage{Text: call}},
			item.ItemAdded{Item: item.AssistantMessage{Text: call}},
			item.ItemAdded{Item: item.SystemMessage{Origin: item.OriginNote, Text: call}},
			item.ItemAdded{Item: item.ToolCall{CallID: call, Name: "shell"}},
			item.ItemAdded{Item: item.ToolResult{CallID: call, Output: item.Output{Summary: call}, Aborted: ""}},
			item.ToolStarted{CallID: call, Arguments: "{}"},
			item.ApprovalRequested{CallID: call, Question: call},
			item.ApprovalResolved{CallID: call, By: call},
		}).Draw(t, "kind")
	})
	var out []item.Entry
	for i, k := range rapid.SliceOfN(kind, 1, 60).Draw(t, "kinds") {
		seq := first + item.Seq(i)
		out = append(out, item.Entry{Seq: seq, Turn: int64(1 + seq/20), Time: time.Unix(int64(seq), 0).UTC(), Kind: k})
	}
	return out
}

func saved(s State) string {
	var out bytes.Buffer
	if err := gob.NewEncoder(&out).Encode(s); err != nil {
		panic(err)
	}
	return out.String()
}

// A state is a value: what a copy holds never changes, whatever is added to another one. A
// batch is tried on a copy before it is stored, and a turn keeps one in another goroutine.
func TestCopiesNeverChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := State{}.Priced(dear)
		var copies []State
		var were []string
		for _, e := range entries(t, 1) {
			copies, were = append(copies, s), append(were, saved(s))
			tried := s
			tried.Add(item.Entry{Turn: e.Turn, Kind: item.TurnEnded{}})
			s.Add(e)
		}
		for i, c := range copies {
			if saved(c) != were[i] {
				t.Fatalf("the state before entry %d changed:\n%+v", i+1, c)
			}
		}
	})
}

// What was saved goes on as if it had never been.
func TestSavedGoesOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := State{}.Priced(dear)
		before := entries(t, 1)
		for _, e := range before {
			whole.Add(e)
		}
		var decoded State
		if err := gob.NewDecoder(bytes.NewBufferString(saved(whole))).Decode(&decoded); err != nil {
			t.Fatal(err)
		}
		decoded = decoded.Priced(dear)
		for _, e := range entries(t, item.Seq(len(before)+1)) {
			whole.Add(e)
			decoded.Add(e)
			if saved(whole) != saved(decoded) {
				t.Fatalf("behind %T: %+v, want %+v", e.Kind, decoded, whole)
			}
		}
	})
}

// folded is the state of a log of these kinds, with sequences from 1.
func folded(kinds ...item.Kind) State {
	s := State{}.Priced(dear)
	for i, k := range kinds {
		s.Add(item.Entry{Seq: item.Seq(i + 1), Turn: 1, Time: time.Unix(5, 0), Kind: k})
	}
	return s
}

// A question is open until it is answered, its call has a result, or the call asks again.
func TestQuestions(t *testing.T) {
	call := item.ItemAdded{Item: item.ToolCall{CallID: "a"}}
	ask := item.ApprovalRequested{CallID: "a", Question: "first"}
	for name, c := range map[string]struct {
		then   []item.Kind
		open   string
		answer bool
	}{
		"asked":       {nil, "first", false},
		"answered":    {[]item.Kind{item.ApprovalResolved{CallID: "a", Approved: true}}, "", true},
		"result":      {[]item.Kind{item.ItemAdded{Item: item.ToolResult{CallID: "a"}}}, "", false},
		"asks again":  {[]item.Kind{item.ApprovalRequested{CallID: "a", Question: "second"}}, "second", false},
		"late answer": {[]item.Kind{item.ItemAdded{Item: item.ToolResult{CallID: "a"}}, item.ApprovalResolved{CallID: "a"}}, "", false},
		"the end":     {[]item.Kind{item.ItemAdded{Item: item.ToolResult{CallID: "a"}}, item.TurnEnded{}}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := folded(append([]item.Kind{item.TurnStarted{}, call, ask}, c.then...)...)
			open := ""
			for _, q := range s.Turn.Questions {
				if q.IsOpen() {
					open += q.ApprovalRequested.Question
				}
			}
			if q := s.Turn.QuestionAt(2); open != c.open || s.Turn.Asks() != (c.open != "") || q == nil || (q.Answer != nil) != c.answer {
				t.Errorf("open %q, asks %v, %+v", open, s.Turn.Asks(), q)
			}
		})
	}
}

// A call that asks after it was started did nothing yet, until it is started again.
func TestAQuestionUndoesAStart(t *testing.T) {
	kinds := []item.Kind{item.TurnStarted{}, item.ItemAdded{Item: item.ToolCall{CallID: "a"}}, item.ToolStarted{CallID: "a"}}
	for i, started := range []bool{true, false, false, true} {
		s := folded(kinds...)
		if got := s.Turn.Calls[0].Started != nil; got != started {
			t.Errorf("after %d more entries it is started: %v", i, got)
		}
		kinds = append(kinds, []item.Kind{
			item.ApprovalRequested{CallID: "a"}, item.ApprovalResolved{CallID: "a", Approved: true}, item.ToolStarted{CallID: "a"}, item.TurnEnded{},
		}[i])
	}
}

// A rewind takes the turn back, and neither its number nor what it cost.
func TestRewindKeepsWhatWasPaid(t *testing.T) {
	s := folded(item.TurnStarted{}, item.RequestUsage{Model: "dear", Measured: true, Usage: item.Usage{Input: 7, Requests: 1}}, item.Note{Text: "waits"}, item.Rewind{To: 1})
	if s.Turn.Number != 1 || s.Turn.Open || s.Total.Usage.Input != 7 || s.Total.Cost != 7 || len(s.Notes) != 1 {
		t.Errorf("%+v", s)
	}
}

// A call that gives the same result often enough within the last steps is a loop.
func TestLoop(t *testing.T) {
	for _, c := range []struct {
		every, times int
		loops        bool
	}{{1, LoopTimes - 1, false}, {1, LoopTimes, true}, {2, LoopTimes, true}, {3, 2 * LoopTimes, false}} {
		t.Run(fmt.Sprintf("each %d steps, %d times", c.every, c.times), func(t *testing.T) {
			var r Repeats
			for i := range c.times {
				r = r.with(i*c.every, "shell", "{}", item.Output{Summary: "same"})
			}
			if r.Loop() != c.loops {
				t.Errorf("loop %v", r.Loop())
			}
		})
	}
}
