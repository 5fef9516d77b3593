package spec_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"podd/internal/spec"
	"podd/pkg/item"
	"podd/pkg/store"
)

// log is a log to which a test adds entries, as podd would.
type log struct {
	entries []item.Entry
	// turn is the last turn, open whether it is.
	turn int64
	open bool
	// calls counts those of the log.
	calls int
}

// add adds entries of the open turn, if there is one.
func (l *log) add(kinds ...item.Kind) *log {
	for _, k := range kinds {
		e := item.Entry{Seq: l.last() + 1, Time: time.Unix(int64(len(l.entries)), 0).UTC(), Kind: k}
		if _, ok := k.(item.TurnStarted); ok {
			l.turn, l.open = l.turn+1, true
		}
		if l.open {
			e.Turn = l.turn
		}
		if _, ok := k.(item.TurnEnded); ok {
			l.open = false
		}
		l.entries = append(l.entries, e)
	}
	return l
}

func (l *log) last() item.Seq {
	if len(l.entries) == 0 {
		return 0
	}
	return l.entries[len(l.entries)-1].Seq
}

// submit adds a submit and the beginning of its turn.
func (l *log) submit(id string) *log {
	return l.add(item.Submitted{RequestID: id, Text: id}, item.TurnStarted{RequestIDs: []string{id}}, say("user"))
}

// end ends the turn; how is changed before.
func (l *log) end(change func(*item.TurnEnded)) *log {
	end := item.TurnEnded{Outcome: item.OutcomeFinished}
	for _, e := range l.entries {
		if e.Turn != l.turn {
			continue
		}
		switch k := e.Kind.(type) {
		case item.RequestUsage:
			end.Usage = end.Usage.Add(k.Usage)
			end.Steps += int(k.Usage.Requests)
		case item.ItemAdded:
			if _, ok := k.Item.(item.ToolCall); ok {
				end.ToolCalls++
			}
		}
	}
	if change != nil {
		change(&end)
	}
	return l.add(end)
}

// answer is a step without calls.
func (l *log) answer() *log {
	return l.add(item.ItemAdded{Item: item.AssistantMessage{Text: "ok"}}, l.usage())
}

// usage is the bill of the next step.
func (l *log) usage() item.RequestUsage {
	step := 1
	for _, e := range l.entries {
		if k, ok := e.Kind.(item.RequestUsage); ok && e.Turn == l.turn && k.Purpose == "" {
			step = k.Step + 1
		}
	}
	return item.RequestUsage{Step: step, Asked: "m", Usage: item.Usage{Input: 10, Output: 1, Requests: 1}}
}

// call is a step with a call; it returns its id.
func (l *log) call() string {
	l.calls++
	id := fmt.Sprint("c", l.calls)
	l.add(item.ItemAdded{Item: item.ToolCall{CallID: id, Name: "shell", Arguments: "{}"}}, l.usage())
	return id
}

// stored drops the id of a call, for chains.
func (l *log) started(id string) *log { return l.add(start(id)) }

func say(kind string) item.Kind { return item.ItemAdded{Item: item.UserMessage{Text: kind}} }

func start(id string) item.ToolStarted {
	return item.ToolStarted{CallID: id, Tool: "shell", Arguments: "{}"}
}

func denied(id string) item.Kind {
	return item.ItemAdded{Item: item.ToolResult{CallID: id, Denied: true}}
}

func result(id string) item.Kind {
	return item.ItemAdded{Item: item.ToolResult{CallID: id, Tool: "shell", Output: item.Output{Summary: "done"}}}
}

func asks(id string) []item.Kind {
	return []item.Kind{
		item.ApprovalRequested{CallID: id, Tool: "shell", Arguments: "{}", Digest: strings.Repeat("d", 32)},
		item.AlertRaised{Alert: item.Alert{Reason: item.ReasonApprovalWaits}},
	}
}

func form(id, key string) []item.Kind {
	f := &item.Form{Questions: []item.FormQuestion{{Text: "which?", Options: []item.FormOption{{Label: "a"}, {Label: "b"}}}}}
	return []item.Kind{
		item.ApprovalRequested{CallID: id, Tool: "shell", Key: key, Digest: strings.Repeat("f", 32), Form: f},
		item.AlertRaised{Alert: item.Alert{Reason: item.ReasonApprovalWaits}},
	}
}

func ended() item.Kind { return item.AlertRaised{Alert: item.Alert{Reason: item.ReasonTurnEnded}} }

func note(ref, text string) item.Note {
	return item.Note{Origin: item.OriginLetter, Ref: ref, Text: text}
}

func letter(ref string) item.WingEntry {
	return item.WingEntry{Wing: "letters", Name: "letter", Line: "a letter", Data: `{"to":"p","ref":"` + ref + `"}`}
}

func due(n int) item.WingEntry {
	return item.WingEntry{Wing: "triggers", Name: "due", Data: fmt.Sprintf(`{"pod":"p","id":"t","n":%d}`, n), Pending: true}
}

func fired(n int, done item.Seq) item.WingEntry {
	return item.WingEntry{Wing: "triggers", Name: "fired", Data: fmt.Sprintf(`{"pod":"p","id":"t","n":%d}`, n), Done: done}
}

// good is a log with entries of each kind that may be in it.
func good() *log {
	l := &log{}
	l.add(item.Note{Text: "by the way"}, item.Submitted{RequestID: "gone"}, item.Withdrawn{RequestIDs: []string{"gone"}})
	l.add(letter("q/1"), note("q/1", "hello"), due(1))
	l.add(fired(1, l.last()))
	l.submit("r1").add(item.ItemAdded{Item: item.Note{Text: "by the way"}.Item()}, item.ItemAdded{Item: note("q/1", "hello").Item()}, item.Setup{Model: "m"})
	id := l.call()
	l.add(asks(id)...).add(item.ApprovalResolved{CallID: id, Approved: true, By: "ann"}, start(id))
	l.add(form(id, "1")...).add(item.ApprovalResolved{CallID: id, Key: "1", Approved: true, Replies: []item.FormReply{{Choices: []int{1}}}})
	l.add(item.Recovered{CallIDs: []string{id}}, result(id), item.Job{ID: "1", CallID: id, State: item.JobRunning})
	l.add(item.Submitted{RequestID: "s1", Mode: item.ModeSteer}, item.Promoted{RequestIDs: []string{"s1"}}, say("steer"))
	l.add(item.Prune{Seqs: []item.Seq{l.find(result(id))}}).answer().end(nil)
	l.add(item.Job{ID: "1", State: item.JobEnded}, item.Restore{After: 1}, item.Restore{After: 1, Ended: true})
	place := l.last()
	l.submit("r2")
	id = l.call()
	l.add(asks(id)...).add(item.ApprovalResolved{CallID: id, By: "ann"}, denied(id)).answer()
	l.add(ended()).end(func(e *item.TurnEnded) { e.Outcome = item.OutcomeLimit })
	l.add(item.Rewind{To: place}, item.Note{Text: "again"})
	l.submit("r3").add(item.ItemAdded{Item: item.Note{Text: "again"}.Item()})
	l.answer().end(nil)
	l.add(item.RequestUsage{Purpose: item.PurposeCompaction}, item.Compaction{UpTo: place - 5})
	return l.add(item.ItemAdded{Item: item.SystemMessage{Origin: item.OriginReadBack, Text: "a.go"}})
}

// find is the entry of a kind.
func (l *log) find(k item.Kind) item.Seq {
	for _, e := range l.entries {
		if added, ok := e.Kind.(item.ItemAdded); ok && added == k {
			return e.Seq
		}
	}
	return 0
}

// check is what is found in a log.
func (l *log) check(shared item.Seq) []spec.Finding {
	c := spec.New(shared)
	for _, e := range l.entries {
		c.Add(e)
	}
	return c.Found()
}

// mutants break one invariant each.
var mutants = []struct {
	id, how string
	make    func(l *log)
}{
	{"I1", "an entry is missing", func(l *log) {
		l.add(item.AlertRaised{}, item.AlertRaised{})
		l.entries = slices.Delete(l.entries, len(l.entries)-2, len(l.entries)-1)
	}},
	{"I1", "an entry is there twice", func(l *log) { l.entries = append(l.entries, l.entries[len(l.entries)-1]) }},
	{"I2", "the clock was set back", func(l *log) { l.add(ended()).entries[len(l.entries)-1].Time = time.Unix(1, 0) }},
	{"I3", "a purge in the middle", func(l *log) { l.add(item.Purged{Entries: int64(l.last()) + 1, From: l.last() + 9}) }},
	{"I4", "a turn starts in another", func(l *log) { l.add(item.TurnStarted{}, item.TurnStarted{}).end(nil) }},
	{"I4", "a number is left out", func(l *log) { l.turn++; l.add(item.TurnStarted{}).end(nil) }},
	{"I5", "a turn ends twice", func(l *log) { l.submit("x").end(nil); l.open = true; l.end(nil) }},
	{"I6", "an entry is of a turn that has ended", func(l *log) { l.open = true; l.add(say("late")) }},
	{"I6", "a step has no turn", func(l *log) { l.add(item.Recovered{}) }},
	{"I7", "a turn acts whose submit plans", func(l *log) {
		l.add(item.Submitted{RequestID: "x", Plan: true}, item.TurnStarted{RequestIDs: []string{"x"}}).end(nil)
	}},
	{"I8", "a step is left out", func(l *log) {
		l.submit("x")
		u := l.usage()
		u.Step = 2
		l.add(u).end(nil)
	}},
	{"I9", "a turn's end counts a call too few", func(l *log) {
		l.submit("x")
		id := l.call()
		l.started(id).add(result(id)).end(func(e *item.TurnEnded) { e.ToolCalls = 0 })
	}},
	{"I9", "a bill is left out", func(l *log) { l.submit("x").answer().end(func(e *item.TurnEnded) { e.Usage.Input = 1 }) }},
	{"I10", "a turn fails in silence", func(l *log) { l.submit("x").end(func(e *item.TurnEnded) { e.Outcome = item.OutcomeFailed }) }},
	{"I10", "an alert tells of a turn that finished", func(l *log) { l.submit("x").add(ended()).end(nil) }},
	{"I11", "a request is accepted twice", func(l *log) { l.submit("r1").end(nil) }},
	{"I12", "a submit runs twice", func(l *log) { l.add(item.TurnStarted{RequestIDs: []string{"r1"}}).end(nil) }},
	{"I12", "a submit runs after it was withdrawn", func(l *log) { l.add(item.TurnStarted{RequestIDs: []string{"gone"}}).end(nil) }},
	{"I12", "a turn takes a submit that was never accepted", func(l *log) { l.add(item.TurnStarted{RequestIDs: []string{"nobody"}}).end(nil) }},
	{"I13", "a submit overtakes another", func(l *log) { l.add(item.Submitted{RequestID: "first"}).submit("x").end(nil) }},
	{"I14", "a queued submit joins a turn", func(l *log) {
		l.submit("x").add(item.Submitted{RequestID: "y", Mode: item.ModeQueue}, item.Promoted{RequestIDs: []string{"y"}}).end(nil)
	}},
	{"I15", "an id is used twice", func(l *log) {
		l.submit("x")
		l.calls = 0
		l.add(result(l.call())).end(nil)
	}},
	{"I16", "a call has two results", func(l *log) {
		l.submit("x")
		id := l.call()
		l.started(id).add(result(id), result(id)).end(nil)
	}},
	{"I17", "a message joins before a result", func(l *log) {
		l.submit("x")
		id := l.call()
		l.started(id).add(say("steer"), result(id)).end(nil)
	}},
	{"I17", "the model is asked before a result", func(l *log) {
		l.submit("x")
		id := l.call()
		l.started(id).answer().add(result(id)).end(nil)
	}},
	{"I18", "a turn ends before a result", func(l *log) { l.submit("x").started(l.call()).end(nil) }},
	{"I18", "a rewind parts a call from its result", func(l *log) { l.add(item.Rewind{To: l.find(result("c1")) - 1}) }},
	{"I19", "a call starts without the item of the call", func(l *log) { l.submit("x").started("nobody's").end(nil) }},
	{"I19", "a call starts before its answer is whole", func(l *log) {
		l.submit("x").add(item.ItemAdded{Item: item.ToolCall{CallID: "x", Name: "shell"}}, start("x"), l.usage(), result("x")).end(nil)
	}},
	{"I20", "a call runs twice", func(l *log) {
		l.submit("x")
		id := l.call()
		l.started(id).started(id).add(result(id)).end(nil)
	}},
	{"I21", "a denied call runs", func(l *log) {
		l.submit("x")
		id := l.call()
		l.add(asks(id)...).add(item.ApprovalResolved{CallID: id}, start(id), denied(id)).end(nil)
	}},
	{"I21", "a call runs before it is approved", func(l *log) {
		l.submit("x")
		id := l.call()
		l.add(asks(id)...).add(start(id), result(id)).end(nil)
	}},
	{"I22", "another call runs than was approved", func(l *log) {
		l.submit("x")
		id := l.call()
		other := start(id)
		other.Arguments = `{"command":"rm"}`
		l.add(asks(id)...).add(item.ApprovalResolved{CallID: id, Approved: true}, other, result(id)).end(nil)
	}},
	{"I23", "a question about an unknown call", func(l *log) { l.submit("x").add(asks("nobody's")...).end(nil) }},
	{"I23", "a form of a call that did not start", func(l *log) {
		l.submit("x")
		id := l.call()
		l.add(form(id, "k")...).add(result(id)).end(nil)
	}},
	{"I24", "a question in silence", func(l *log) {
		l.submit("x")
		id := l.call()
		l.add(asks(id)[0], result(id)).end(nil)
	}},
	{"I25", "a question is answered twice", func(l *log) {
		l.submit("x")
		id := l.call()
		yes := item.ApprovalResolved{CallID: id, Approved: true}
		l.add(asks(id)...).add(yes, yes, start(id), result(id)).end(nil)
	}},
	{"I25", "a question is answered after its call ended", func(l *log) {
		l.submit("x")
		id := l.call()
		l.add(asks(id)...).add(result(id), item.ApprovalResolved{CallID: id}).end(nil)
	}},
	{"I26", "a reply to no option", func(l *log) {
		l.submit("x")
		id := l.call()
		l.started(id).add(form(id, "k")...).add(item.ApprovalResolved{CallID: id, Key: "k", Approved: true, Replies: []item.FormReply{{Choices: []int{9}}}}, result(id)).end(nil)
	}},
	{"I27", "a resumed turn forgets a started call", func(l *log) {
		l.submit("x")
		id := l.call()
		l.started(id).add(item.Recovered{}, result(id)).end(nil)
	}},
	{"I28", "a call that did not start is found", func(l *log) {
		l.submit("x")
		id := l.call()
		l.add(item.ItemAdded{Item: item.ToolResult{CallID: id, Recovery: item.RecoveryFound}}).end(nil)
	}},
	{"I29", "an item between turns", func(l *log) { l.add(say("alone")) }},
	{"I30", "another model is asked", func(l *log) {
		l.submit("x")
		u := l.usage()
		u.Asked = "other"
		l.add(u).end(nil)
	}},
	{"I31", "a result is pruned twice", func(l *log) {
		l.submit("x").add(item.Prune{Seqs: []item.Seq{l.find(result("c1"))}}).end(nil)
	}},
	{"I31", "an undone result is pruned", func(l *log) {
		l.submit("x").add(item.Prune{Seqs: []item.Seq{l.find(denied("c2"))}}).end(nil)
	}},
	{"I32", "a compaction up to no item", func(l *log) { l.add(item.Compaction{UpTo: 1}) }},
	{"I33", "a rewind to what was undone", func(l *log) { l.add(item.Rewind{To: l.find(denied("c2")) + 1}) }},
	{"I33", "a rewind to itself", func(l *log) { l.add(item.Rewind{To: l.last() + 1}) }},
	{"I34", "a note joins twice", func(l *log) {
		l.submit("x").add(item.ItemAdded{Item: item.Note{Text: "again"}.Item()}).end(nil)
	}},
	{"I34", "a note overtakes another", func(l *log) {
		l.add(item.Note{Text: "a"}, item.Note{Text: "b"}).submit("x").add(item.ItemAdded{Item: item.Note{Text: "b"}.Item()}).end(nil)
	}},
	{"I35", "a job ends twice", func(l *log) { l.add(item.Job{ID: "1", State: item.JobEnded}) }},
	{"I36", "a restore ends that did not begin", func(l *log) { l.add(item.Restore{After: 3, Ended: true}) }},
	{"I37", "data that is no object", func(l *log) { l.add(item.WingEntry{Wing: "w", Name: "n", Data: "[]"}) }},
	{"I37", "a line of two", func(l *log) { l.add(item.WingEntry{Wing: "w", Name: "n", Line: "a\nb"}) }},
	{"I38", "an entry is done twice", func(l *log) {
		l.add(item.WingEntry{Wing: "w", Name: "n", Pending: true})
		done := item.WingEntry{Wing: "w", Name: "d", Done: l.last()}
		l.add(done, done)
	}},
	{"I39", "a letter is accepted twice", func(l *log) { l.add(letter("q/1"), note("q/1", "hello")) }},
	{"I39", "a letter without its note", func(l *log) { l.add(letter("q/2")) }},
	{"I40", "a fire is left out", func(l *log) { l.add(due(3)) }},
	{"I40", "a fire is submitted twice", func(l *log) { l.add(fired(1, 0)) }},
	{"I41", "a denied call was not run", func(l *log) {
		l.submit("x")
		id := l.call()
		l.add(asks(id)...).add(item.ApprovalResolved{CallID: id}, result(id)).end(nil)
	}},
}

// A log as podd writes it breaks no invariant, and each mutant exactly one.
func TestMutants(t *testing.T) {
	if found := good().check(0); len(found) > 0 {
		t.Fatalf("in a good log: %v", found)
	}
	killed := map[string]bool{"I42": true} // TestInbox.
	for _, m := range mutants {
		killed[m.id] = true
		l := good()
		m.make(l)
		found := l.check(0)
		if len(found) == 0 {
			t.Errorf("%s, %s: nothing is found", m.id, m.how)
		}
		for _, f := range found {
			if f.Invariant != m.id {
				t.Errorf("%s, %s: %s", m.id, m.how, f)
			}
		}
	}
	for _, i := range spec.Invariants() {
		if !killed[i.ID] {
			t.Errorf("%s has no mutant: %s", i.ID, i.Says)
		}
	}
}

// The inbox has the submits that nothing took, without those that a fork shares.
func TestInbox(t *testing.T) {
	l := good().add(item.Submitted{RequestID: "waits"})
	for _, tc := range []struct {
		shared item.Seq
		own    bool
		inbox  []string
		found  int
	}{{0, false, []string{"waits"}, 0}, {0, false, nil, 1}, {0, false, []string{"waits", "x"}, 1}, {l.last(), true, nil, 0}, {l.last(), false, nil, 0}} {
		c := spec.New(tc.shared)
		for _, e := range l.entries {
			c.Add(e)
		}
		if tc.own {
			c.Add(item.Entry{Seq: l.last() + 1, Time: time.Unix(1<<40, 0), Kind: item.Setup{}})
		}
		c.Inbox(tc.inbox)
		if found := c.Found(); len(found) != tc.found || tc.found > 0 && found[0].Invariant != "I42" {
			t.Errorf("%+v: %v", tc, found)
		}
	}
}

// A fork admits the request ids of its parent again, and podd those that it forgot.
func TestRequestsAgain(t *testing.T) {
	l := good()
	shared := l.last()
	if found := l.submit("r1").end(nil).check(shared); len(found) > 0 {
		t.Error(found)
	}
	for n, want := range map[int]int{store.RequestsKept - 1: 1, store.RequestsKept: 0} {
		l := &log{}
		l.add(item.Submitted{RequestID: "a"})
		for i := range n {
			l.add(item.Submitted{RequestID: fmt.Sprint(i)})
		}
		if found := l.add(item.Submitted{RequestID: "a"}).check(0); len(found) != want {
			t.Errorf("after %d others: %v", n, found)
		}
	}
}

// A fork may begin between a letter and its note, which it does not have.
func TestForkedAtALetter(t *testing.T) {
	l := new(log)
	l.add(item.Setup{Model: "m"}, letter("q/1"))
	if found := l.check(l.last()); len(found) > 0 {
		t.Error(found)
	}
	l.submit("x").answer().end(nil)
	if found := l.check(2); len(found) > 0 {
		t.Error(found)
	}
	if found := l.check(1); len(found) != 1 || found[0].Invariant != "I39" {
		t.Error(found)
	}
}

// A log whose beginning was removed breaks nothing, whatever of that the rest refers to.
func TestPurged(t *testing.T) {
	l := good()
	n := l.find(result("c1")) + 9 // After the first turn.
	from := l.last() - 1
	l.add(item.WingEntry{Wing: "w", Name: "d", Done: n - 1})
	mark := l.entries[n-1]
	mark.Kind = item.Purged{Entries: int64(n), From: from, Setup: &item.Setup{Model: "m"}, Jobs: []item.Job{{ID: "1", State: item.JobEnded}}}
	mark.Turn = 1
	l.entries = append([]item.Entry{mark}, l.entries[n:]...)
	if found := l.check(0); len(found) > 0 {
		t.Error(found)
	}
	for change, at := range map[string]func(*item.Purged){"I3": func(k *item.Purged) { k.Entries++ }, "I3 ": func(k *item.Purged) { k.From-- }} {
		k, _ := mark.Kind.(item.Purged)
		at(&k)
		l.entries[0].Kind = k
		if found := l.check(0); len(found) != 1 || found[0].Invariant != strings.TrimSpace(change) {
			t.Errorf("%s: %v", change, found)
		}
	}
}

// BenchmarkChecker checks a log of a million entries.
func BenchmarkChecker(b *testing.B) {
	l := &log{}
	l.add(item.Setup{Model: "m"})
	for i := 0; len(l.entries) < 100; i++ {
		l.submit(fmt.Sprint("r", i))
		id := l.call()
		l.started(id).add(result(id)).answer().end(nil)
	}
	for b.Loop() {
		c := spec.New(0)
		at := item.Seq(0)
		turn := int64(0)
		for at < 1_000_000 {
			for _, e := range l.entries {
				at++
				e.Seq = at
				switch k := e.Kind.(type) {
				case item.TurnStarted:
					turn++
					k.RequestIDs = []string{fmt.Sprint(turn)}
					e.Kind = k
				case item.Submitted:
					k.RequestID = fmt.Sprint(turn + 1)
					e.Kind = k
				case item.ToolStarted:
					k.CallID = fmt.Sprint(turn)
					e.Kind = k
				case item.ItemAdded:
					switch it := k.Item.(type) {
					case item.ToolCall:
						it.CallID = fmt.Sprint(turn)
						e.Kind = item.ItemAdded{Item: it}
					case item.ToolResult:
						it.CallID = fmt.Sprint(turn)
						e.Kind = item.ItemAdded{Item: it}
					}
				}
				if e.Turn > 0 {
					e.Turn = turn
				}
				e.Time = time.Time{}
				c.Add(e)
			}
		}
		if found := c.Found(); len(found) > 0 {
			b.Fatal(found[0])
		}
	}
}
