package crash

import (
	"slices"
	"testing"

	poddv1 "podd/proto/podd/v1"
)

// sound is a correct log of one turn with one command.
func sound() []*poddv1.Entry {
	itemOf := func(it *poddv1.Item) *poddv1.Entry { return &poddv1.Entry{Turn: 1, Kind: &poddv1.Entry_Item{Item: it}} }
	return numbered([]*poddv1.Entry{
		{Kind: &poddv1.Entry_Submitted{Submitted: &poddv1.Submitted{RequestId: "r1", Text: "job"}}},
		{Turn: 1, Kind: &poddv1.Entry_TurnStarted{TurnStarted: &poddv1.TurnStarted{RequestIds: []string{"r1"}}}},
		itemOf(&poddv1.Item{Kind: &poddv1.Item_UserMessage{UserMessage: &poddv1.UserMessage{Text: "job"}}}),
		itemOf(&poddv1.Item{Kind: &poddv1.Item_ToolCall{ToolCall: &poddv1.ToolCall{CallId: "c1", Name: "shell"}}}),
		{Turn: 1, Kind: &poddv1.Entry_ToolStarted{ToolStarted: &poddv1.ToolStarted{CallId: "c1"}}},
		itemOf(&poddv1.Item{Kind: &poddv1.Item_ToolResult{ToolResult: &poddv1.ToolResult{CallId: "c1", Content: "out-c1\n"}}}),
		{Turn: 1, Kind: &poddv1.Entry_TurnEnded{TurnEnded: &poddv1.TurnEnded{Outcome: poddv1.Outcome_OUTCOME_FINISHED}}},
	})
}

// wornOut is sound, except that the turn was resumed the given number of times at its
// last step and then given up.
func wornOut(resumes int) []*poddv1.Entry {
	log := sound()
	log[6].GetTurnEnded().Outcome, log[6].GetTurnEnded().Reason = poddv1.Outcome_OUTCOME_INTERRUPTED, "RECOVERY"
	for range resumes {
		log = slices.Insert(log, 6, &poddv1.Entry{Turn: 1, Kind: &poddv1.Entry_Recovered{Recovered: &poddv1.Recovered{}}})
	}
	return numbered(log)
}

func aNote() *poddv1.Entry {
	return &poddv1.Entry{Kind: &poddv1.Entry_Note{Note: &poddv1.Note{Text: "n"}}}
}

func aRewind(to int64) *poddv1.Entry {
	return &poddv1.Entry{Kind: &poddv1.Entry_Rewind{Rewind: &poddv1.Rewind{ToSeq: to}}}
}

// aCutTurn is a turn that takes the note and is cut.
func aCutTurn() []*poddv1.Entry {
	joined := &poddv1.Item{Kind: &poddv1.Item_SystemMessage{SystemMessage: &poddv1.SystemMessage{Origin: "note", Text: "n"}}}
	return []*poddv1.Entry{
		{Turn: 2, Kind: &poddv1.Entry_TurnStarted{TurnStarted: &poddv1.TurnStarted{}}},
		{Turn: 2, Kind: &poddv1.Entry_Item{Item: joined}},
		{Turn: 2, Kind: &poddv1.Entry_TurnEnded{TurnEnded: &poddv1.TurnEnded{Outcome: poddv1.Outcome_OUTCOME_INTERRUPTED, Reason: "CUT"}}},
	}
}

func numbered(log []*poddv1.Entry) []*poddv1.Entry {
	for i, e := range log {
		e.Seq = int64(i + 1)
	}
	return log
}

func without(log []*poddv1.Entry, i int) []*poddv1.Entry { return numbered(slices.Delete(log, i, i+1)) }

// The checks accept a correct log and find each fault.
func TestCheck(t *testing.T) {
	oneEach := map[string]int{ranFile: 1, endedFile: 1}
	for _, c := range []struct {
		name string
		log  []*poddv1.Entry
		// times is how often each file has the command.
		times     map[string]int
		cancelled bool
		want      []string
	}{
		{name: "sound", log: sound(), times: oneEach},
		{name: "submit is gone", log: without(sound(), 0), times: oneEach, want: []string{"lost"}},
		{name: "submit never ran", log: sound()[:1], want: []string{"lost"}},
		{name: "ran twice", log: sound(), times: map[string]int{ranFile: 2, endedFile: 1}, want: []string{"repeated"}},
		{name: "ran and was not noted", log: without(sound(), 4), times: oneEach, want: []string{"other", "other"}},
		{name: "result is lost", log: func() []*poddv1.Entry {
			l := sound()
			l[5].GetItem().Kind = &poddv1.Item_ToolResult{ToolResult: &poddv1.ToolResult{CallId: "c1", IsError: true, Summary: "interrupted; it may have taken effect"}}
			return l
		}(), times: oneEach, want: []string{"results lost"}},
		{name: "result is made up", log: sound(), times: map[string]int{ranFile: 1}, want: []string{"other"}},
		{name: "open turn", log: sound()[:6], times: oneEach, want: []string{"other"}},
		{name: "given up", log: func() []*poddv1.Entry {
			l := sound()
			l[6].GetTurnEnded().Outcome = poddv1.Outcome_OUTCOME_INTERRUPTED
			return l
		}(), times: oneEach, want: []string{"given up"}},
		{name: "given up too early", log: wornOut(mostResumes - 1), times: oneEach, want: []string{"given up"}},
		{name: "worn out", log: wornOut(mostResumes), times: oneEach},
		{name: "taken back and ran", log: numbered(slices.Insert(sound(), 1, &poddv1.Entry{Kind: &poddv1.Entry_Withdrawn{Withdrawn: &poddv1.Withdrawn{RequestIds: []string{"r1"}}}})), times: oneEach, want: []string{"repeated", "repeated"}},
		{name: "not in the conversation", log: without(sound(), 2), times: oneEach, want: []string{"lost"}},
		{name: "a note is lost", log: numbered(slices.Insert(sound(), 1, aNote())), times: oneEach, want: []string{"lost", "repeated"}},
		{name: "a note waits that no client left", log: numbered(append(sound(), aNote())), times: oneEach, want: []string{"repeated"}},
		{name: "a note that a rewind passes is stored again", log: numbered(append(sound(), aNote(), aRewind(7), aNote())), times: oneEach, want: []string{"repeated", "repeated"}},
		{name: "the turn of a note is cut by a rewind", log: numbered(slices.Concat(sound(), []*poddv1.Entry{aNote(), aRewind(8)}, aCutTurn())), times: oneEach, want: []string{"repeated", "repeated"}},
		{name: "a rewind loses a note", log: numbered(append(sound(), aNote(), aRewind(7))), times: oneEach, want: []string{"lost", "repeated", "repeated"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tally := &Tally{}
			k := checkLog("p", c.log, 0, tally)
			k.deeds(nil)
			k.submits([]ack{{id: "r1", text: "job", seq: 1}})
			count := func(file string) map[string]int { return map[string]int{"c1": c.times[file]} }
			k.commands(count(ranFile), count(endedFile), map[string]madeCall{"c1": {action: action{verb: "shell"}}}, c.cancelled)
			var got []string
			for _, w := range tally.wrong() {
				for range *w.found {
					got = append(got, w.name)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("found %v, want %v: %v", got, c.want, tally.Failures())
			}
		})
	}
}

// The check of a stream finds a missing, a repeated and a changed entry.
func TestFollower(t *testing.T) {
	log := sound()
	f := newFollower("p")
	for _, e := range log {
		f.add(e)
	}
	f.compare(log)
	if len(f.gaps)+len(f.duplicates)+len(f.changed) > 0 {
		t.Errorf("a sound stream: %v %v %v", f.gaps, f.duplicates, f.changed)
	}
	f.add(log[2])
	f.add(&poddv1.Entry{Seq: 3})
	f.add(&poddv1.Entry{Seq: 9})
	if len(f.gaps) != 1 || len(f.duplicates) != 2 || len(f.changed) != 1 || f.last() != 9 {
		t.Errorf("%v %v %v", f.gaps, f.duplicates, f.changed)
	}
	f.compare(log)
	if len(f.gaps) != 2 {
		t.Errorf("more than the log has: %v", f.gaps)
	}
}
