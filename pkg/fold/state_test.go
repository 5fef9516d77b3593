package fold

import (
	"bytes"
	"encoding/gob"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"podd/pkg/item"
)

// dear knows a price: one input token costs one dollar.
var dear = Models{Prices: []ModelPrice{{Model: "dear", Money: Money{Input: 1e6}}}}

// entries draws the next entries of a log, including ill-formed ones.
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

// A state is a value: adding to one copy never changes another. A pod tries a batch on a
// copy before it stores it, and a turn keeps one in another goroutine.
func TestCopiesNeverChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := State{}.Knowing(dear)
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

// A saved state continues as if it had never been saved.
func TestSavedGoesOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := State{}.Knowing(dear)
		before := entries(t, 1)
		for _, e := range before {
			whole.Add(e)
		}
		var decoded State
		if err := gob.NewDecoder(bytes.NewBufferString(saved(whole))).Decode(&decoded); err != nil {
			t.Fatal(err)
		}
		decoded = decoded.Knowing(dear)
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
	s := State{}.Knowing(dear)
	for i, k := range kinds {
		s.Add(item.Entry{Seq: item.Seq(i + 1), Turn: 1, Time: time.Unix(5, 0), Kind: k})
	}
	return s
}

// A question is open until it is answered, its call has a result, or the call asks again.
func TestQuestions(t *testing.T) {
	call := item.ItemAdded{Item: item.ToolCall{CallID: "a"}}
	ask := item.ApprovalRequested{CallID: "a", Question: "first"}
	started, yes := item.ToolStarted{CallID: "a"}, item.ApprovalResolved{CallID: "a", Approved: true}
	form := func(key string) item.ApprovalRequested {
		return item.ApprovalRequested{CallID: "a", Question: "form " + key, Key: key, Form: &item.Form{}}
	}
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
		"cut short":   {[]item.Kind{item.TurnEnded{}}, "", false},
		"form":        {[]item.Kind{yes, started, form("1")}, "form 1", false},
		"two forms":   {[]item.Kind{yes, started, form("1"), item.ApprovalResolved{CallID: "a", Key: "1"}, form("2")}, "form 2", false},
		"its answer":  {[]item.Kind{yes, started, form("1"), item.ApprovalResolved{CallID: "a", Key: "1"}}, "", true},
		"other key":   {[]item.Kind{yes, started, form("1"), item.ApprovalResolved{CallID: "a", Key: "2"}}, "form 1", false},
		"form ended":  {[]item.Kind{yes, started, form("1"), item.ItemAdded{Item: item.ToolResult{CallID: "a"}}}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := folded(append([]item.Kind{item.TurnStarted{}, call, ask}, c.then...)...)
			open := ""
			for _, q := range s.Turn.Questions {
				if q.IsOpen() {
					open += q.ApprovalRequested.Question
				}
			}
			all, forms := s.Turn.Asks()
			if q := s.Turn.QuestionAt(2); open != c.open || (all == 1) != (c.open != "") || (forms == 1) != strings.HasPrefix(open, "form") || q == nil || (q.Answer != nil) != c.answer {
				t.Errorf("open %q, asks %d, forms %d, %+v", open, all, forms, q)
			}
			if strings.HasPrefix(open, "form") && s.Turn.Calls[0].Started == nil {
				t.Error("the call that asks has not begun")
			}
		})
	}
}

// A call that asks after its start has done nothing, until it is started again.
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

// A rewind undoes the turn, but neither its number nor its cost.
func TestRewindKeepsWhatWasPaid(t *testing.T) {
	s := folded(item.TurnStarted{}, item.RequestUsage{Model: "dear", Measured: true, Usage: item.Usage{Input: 7, Requests: 1}}, item.Note{Text: "waits"}, item.Rewind{To: 1})
	if s.Turn.Number != 1 || s.Turn.Open || s.Total.Usage.Input != 7 || s.Total.Cost != 7 || len(s.Notes) != 1 {
		t.Errorf("%+v", s)
	}
}

// A call counts once per step in which it gives the same result; reading a job never
// counts.
func TestRepeated(t *testing.T) {
	type calls = func(step int) []item.ToolCall
	each := func(calls ...item.ToolCall) calls { return func(int) []item.ToolCall { return calls } }
	same := item.ToolCall{Name: "shell", Arguments: "{}"}
	for name, c := range map[string]struct {
		calls calls
		last  int
		times int
	}{
		"each step":             {each(same), 6, 6},
		"older steps":           {each(same), 25, 10},
		"twice a step":          {each(same, same), 6, 6},
		"with another":          {each(same, item.ToolCall{Name: "search"}), 6, 6},
		"reading a job":         {each(item.ToolCall{Name: "job", Arguments: `{"id":"1","action":"read"}`}), 9, 0},
		"stopping a job":        {each(item.ToolCall{Name: "job", Arguments: `{"id":"1","action":"stop"}`}), 9, 9},
		"a job without a sense": {each(item.ToolCall{Name: "job", Arguments: `{"action":`}), 9, 9},
		"each third step": {func(step int) []item.ToolCall {
			if step%3 > 0 {
				return nil
			}
			return []item.ToolCall{same}
		}, 30, 4},
	} {
		t.Run(name, func(t *testing.T) {
			var turn Turn
			for turn.Step < c.last {
				turn.Step++
				for _, call := range c.calls(turn.Step) {
					turn.Repeats = turn.Repeats.with(turn.Step, call.Name, call.Arguments, item.Output{Summary: "same"})
				}
			}
			if _, times := turn.Repeated(10); times != c.times {
				t.Errorf("%d times, want %d", times, c.times)
			}
			if n := len(turn.Repeats.Calls); n > 2*MaxLoopSteps {
				t.Errorf("%d calls kept", n)
			}
		})
	}
}

// An answer without text and calls is not the last one. Only those in a row are counted, over
// the note to the model and over a restart.
func TestSilentAnswersAreCounted(t *testing.T) {
	add := func(it item.Item) item.Kind { return item.ItemAdded{Item: it} }
	usage, note := item.RequestUsage{Step: 1}, add(item.SystemMessage{Origin: item.OriginNoAnswer, Text: "go on"})
	log := []item.Kind{item.TurnStarted{}}
	for _, step := range []struct {
		more   []item.Kind
		silent int
		final  bool
	}{
		{[]item.Kind{add(item.Reasoning{Text: "hm"}), add(item.AssistantMessage{Text: "\n"}), usage, note}, 1, false},
		{[]item.Kind{item.RequestUsage{Step: 2, Purpose: item.PurposeDiscarded}, item.Recovered{}}, 1, false},
		{[]item.Kind{usage}, 2, false},
		{[]item.Kind{add(item.ToolCall{CallID: "c"}), usage, add(item.ToolResult{CallID: "c"})}, 0, false},
		{[]item.Kind{usage, note}, 1, false},
		{[]item.Kind{add(item.AssistantMessage{Text: "Done."}), usage}, 0, true},
	} {
		log = append(log, step.more...)
		if s := folded(log...); s.Turn.Silent != step.silent || s.Turn.Final != step.final || s.Turn.SentBack != 0 {
			t.Errorf("after %+v the turn is %+v", step.more, s.Turn)
		}
	}
}

// The last text of an answer is the one that counts where one value is wanted. Each correction
// of a last answer counts; the schema itself, and what ends the turn, do not.
func TestAnswersAndCorrections(t *testing.T) {
	text := func(s string) item.Kind { return item.ItemAdded{Item: item.AssistantMessage{Text: s}} }
	schema := item.ItemAdded{Item: item.SystemMessage{Origin: item.OriginAnswerSchema, Text: "schema"}}
	usage := item.RequestUsage{Step: 1}
	log := []item.Kind{item.TurnStarted{AnswerSchema: "{}"}, schema, text("a remark"), text("wrong"), usage, schema, text("a remark"), text("right"), usage}
	s := folded(log...)
	if s.Turn.LastText() != "right" || s.Turn.Wanted.Mismatches != 1 || s.Turn.SentBack != 0 || s.Turn.Wanted.Schema != "{}" {
		t.Errorf("the turn is %+v", s.Turn)
	}
	if s := folded(append(log, schema)...); s.Turn.LastText() != "" || s.Turn.Wanted.Mismatches != 2 {
		t.Errorf("after a correction the turn is %+v", s.Turn)
	}
	if s := folded(append(log, item.TurnEnded{Outcome: item.OutcomeFinished})...); s.Turn.Wanted.Schema != "" {
		t.Errorf("a finished turn is %+v", s.Turn)
	}
	if s := folded(append(log, item.TurnEnded{Outcome: item.OutcomeInterrupted})...); s.Turn.Wanted.Schema != "{}" {
		t.Errorf("an interrupted turn is %+v", s.Turn)
	}
}

// The last check counts, until a turn has taken its note.
func TestFailedCheck(t *testing.T) {
	for want, kinds := range map[string][]item.Kind{
		"b": {item.Note{Text: "a", Check: item.OutcomeFinished}, item.Note{Text: "b", Check: item.OutcomeFailed}, item.Note{Text: "c"}},
		"":  {item.Note{Text: "a", Check: item.OutcomeFailed}, item.Note{Text: "b", Check: item.OutcomeFinished}},
		"-": {item.Note{Text: "-", Check: item.OutcomeFailed}, item.Note{Text: "b", Check: item.OutcomeFailed}, item.ItemAdded{Item: item.SystemMessage{Origin: item.OriginNote, Text: "-"}}},
	} {
		s := folded(kinds...)
		note, failed := s.FailedCheck()
		if got := note.Text; failed != (want != "") || failed && got != strings.ReplaceAll(want, "-", "b") {
			t.Errorf("%q: %q, %v", want, got, failed)
		}
	}
}
