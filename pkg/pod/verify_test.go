package pod_test

import (
	"strings"
	"testing"

	"podd/pkg/item"
)

// verify checks the invariants of a log: sequences have no gap and times never go back;
// each started turn ends exactly once, before the next one starts; each call is started
// before it has a result and has exactly one, within its turn; each submit is claimed at
// most once; a turn's end counts everything that the turn was billed.
func verify(t *testing.T, entries []item.Entry) {
	t.Helper()
	v := verifier{t: t, calls: map[string]int{}, claims: map[string]int{}, submitted: map[string]bool{}}
	for i, e := range entries {
		if e.Seq != item.Seq(i+1) {
			t.Errorf("entry %d has seq %d", i+1, e.Seq)
		}
		if i > 0 && e.Time.Before(entries[i-1].Time) {
			t.Errorf("seq %d is older than the entry before it", e.Seq)
		}
		v.add(e)
	}
	if v.open != 0 {
		t.Errorf("turn %d has no end", v.open)
	}
}

type verifier struct {
	t *testing.T
	// compacted says that the last entry is a compaction.
	compacted bool
	// open is the running turn, last the last one.
	open, last int64
	// calls is the state of each call: 1 requested, 2 answered.
	calls     map[string]int
	claims    map[string]int
	submitted map[string]bool
	// billed is what the open turn was billed.
	billed item.Usage
	// alert is the last entry's, if it is one.
	alert item.Alert
}

func (v *verifier) add(e item.Entry) {
	t := v.t
	t.Helper()
	compacted := v.compacted
	_, v.compacted = e.Kind.(item.Compaction)
	alert := v.alert
	v.alert = item.Alert{}
	switch k := e.Kind.(type) {
	case item.Submitted:
		if v.submitted[k.RequestID] {
			t.Errorf("seq %d: request %s is admitted twice", e.Seq, k.RequestID)
		}
		v.submitted[k.RequestID] = true
	case item.TurnStarted:
		if v.open != 0 || e.Turn != v.last+1 {
			t.Errorf("seq %d: turn %d starts after %d, with %d open", e.Seq, e.Turn, v.last, v.open)
		}
		v.open, v.last, v.billed = e.Turn, e.Turn, item.Usage{}
		for _, id := range k.RequestIDs {
			if v.claims[id]++; v.claims[id] > 1 || !v.submitted[id] {
				t.Errorf("seq %d: request %s is claimed %d times, submitted %v", e.Seq, id, v.claims[id], v.submitted[id])
			}
		}
	case item.TurnEnded:
		if v.open != e.Turn {
			t.Errorf("seq %d: turn %d ends while %d is open", e.Seq, e.Turn, v.open)
		}
		v.open = 0
		told, silent := alert.Reason == item.ReasonTurnEnded, k.Outcome == item.OutcomeFinished || k.Reason == "CANCELLED" && !strings.HasPrefix(k.Cause, "the parent's ")
		if told == silent && k.Reason != "CUT" {
			t.Errorf("seq %d: the end of turn %d comes after the alert %+v", e.Seq, e.Turn, alert)
		}
		if k.Usage != v.billed && k.Outcome != item.OutcomeInterrupted {
			t.Errorf("seq %d: turn %d counts %+v and was billed %+v", e.Seq, e.Turn, k.Usage, v.billed)
		}
		for id, state := range v.calls {
			if state != 2 {
				t.Errorf("seq %d: turn %d ends with call %s open", e.Seq, e.Turn, id)
			}
		}
	case item.AlertRaised:
		v.alert = k.Alert
		if want, ok := alertReasons[k.Alert.Source]; ok && k.Alert.Reason != want {
			t.Errorf("seq %d: the alert %+v has not the reason %s", e.Seq, k.Alert, want)
		}
	case item.RequestUsage:
		if e.Turn == v.open {
			v.billed = v.billed.Add(k.Usage)
		}
	case item.ItemAdded:
		if m, ok := k.Item.(item.SystemMessage); ok && m.Origin == item.OriginReadBack && !compacted {
			t.Errorf("seq %d: files come back without a compaction", e.Seq)
		}
		v.item(e, k.Item, compacted)
	}
}

// alertReasons are the reasons of sources that have only one.
var alertReasons = map[string]string{"approval": item.ReasonApprovalWaits, "fallback": item.ReasonFallback}

func (v *verifier) item(e item.Entry, it item.Item, compacted bool) {
	v.t.Helper()
	// A compaction of an idle pod adds files outside of turns.
	if outside := compacted && v.open == 0 && e.Turn == 0; !outside && (v.open == 0 || e.Turn != v.open) {
		v.t.Errorf("seq %d: an item of turn %d while %d is open", e.Seq, e.Turn, v.open)
	}
	switch it := it.(type) {
	case item.ToolCall:
		if v.calls[it.CallID] != 0 {
			v.t.Errorf("seq %d: call id %s is used twice", e.Seq, it.CallID)
		}
		v.calls[it.CallID] = 1
	case item.ToolResult:
		if v.calls[it.CallID] != 1 {
			v.t.Errorf("seq %d: a result for call %s in state %d", e.Seq, it.CallID, v.calls[it.CallID])
		}
		v.calls[it.CallID] = 2
	}
}
