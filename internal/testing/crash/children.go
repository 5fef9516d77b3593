package crash

import (
	"encoding/json"
	"strings"

	poddv1 "podd/proto/podd/v1"
)

// told is what a pod's log says of its sub-pods in the background, by their ids.
type told struct {
	// calls are the calls that started them, ends how often the end of each was told, outcomes how it ended.
	calls    map[string]string
	ends     map[string]int
	outcomes map[string]string
	// letters counts the letters about each, texts are what the model reads of them.
	letters map[string]int
	texts   map[string]string
}

// toldOf reads the log of a pod. A fork has entries of another pod, which are about pods of that one.
func toldOf(id string, log []*poddv1.Entry) told {
	t := told{
		calls: make(map[string]string), ends: make(map[string]int), outcomes: make(map[string]string),
		letters: make(map[string]int), texts: make(map[string]string),
	}
	var about string
	for _, e := range log {
		if about != "" && e.GetNote().GetOrigin() == "letter" {
			t.texts[about] = e.GetNote().GetText()
		}
		about = ""
		w := e.GetWing()
		var k struct{ Parent, Call, Pod, Outcome, From, To string }
		if w == nil || json.Unmarshal([]byte(w.GetData()), &k) != nil {
			continue
		}
		switch kind := w.GetWing() + " " + w.GetName(); {
		case kind == "subpods started" && k.Parent == id:
			t.calls[k.Pod] = k.Call
		case kind == "subpods ended" && k.Parent == id:
			t.ends[k.Pod]++
			t.outcomes[k.Pod] = k.Outcome
		case kind == "letters letter" && k.To == id:
			t.letters[k.From]++
			about = k.From
		}
	}
	return t
}

// began compares the calls that started pods in the background with the logs: each started one, which got its task once,
// and whose end the parent was told once.
func (i *inspection) began(all []kin) {
	byID := make(map[string]kin)
	for _, k := range all {
		if k.GetSpec().GetParent() != "" && k.GetSpec().GetParentCall() == "" {
			byID[k.GetId()] = k
		}
	}
	for _, k := range all {
		t := toldOf(k.GetId(), k.log)
		starts := make(map[string]int)
		for id, call := range t.calls {
			starts[call]++
			if child, ok := byID[id]; ok {
				i.left(k, t, child, i.model.made(call))
			} else if t.letters[id] > 0 || t.ends[id] != 1 {
				i.tally.Lost.add("%s: the pod %s of call %s is gone", k.pod, id, call)
			}
			delete(byID, id)
		}
		i.starts(k, starts)
	}
	for _, k := range byID {
		i.tally.Other.add("%s is in the background and in no log", k.pod)
	}
}

// starts compares the calls of a pod with how many pods the log says that each started.
func (i *inspection) starts(k kin, starts map[string]int) {
	for id, s := range k.calls {
		if i.model.made(id).verb != "begin" || s.seq <= k.from || s.result == nil {
			continue
		}
		ok := !s.result.GetIsError()
		i.tally.act("begin", ok)
		switch n := starts[id]; {
		case n > 1:
			i.tally.Repeated.add("%s: the call %s started %d pods", k.pod, id, n)
		case ok != (n == 1) && !i.cancels && !k.mayCancel && !k.wasCancelled(s.turn):
			i.tally.Other.add("%s: the call %s started %d pods, and its result is: %s", k.pod, id, n, s.result.GetSummary())
		}
	}
}

// left compares a pod in the background with what its parent was told.
func (i *inspection) left(parent kin, t told, k kin, call madeCall) {
	id, answer := k.GetId(), ""
	if j, ok := parseJob(call.task); ok {
		answer = j.answer()
	}
	if t.ends[id] > 1 || t.letters[id] > 1 {
		i.tally.Repeated.add("%s: the end of %s was told %d times, in %d letters", parent.pod, k.pod, t.ends[id], t.letters[id])
	}
	if t.ends[id] == 0 || t.letters[id] == 0 {
		i.tally.Lost.add("%s: the end of %s was told %d times, in %d letters", parent.pod, k.pod, t.ends[id], t.letters[id])
		return
	}
	end := k.ends[1].GetTurnEnded()
	outcome := strings.ToLower(strings.TrimPrefix(end.GetOutcome().String(), "OUTCOME_"))
	switch {
	case len(k.submitted) > 1 || k.last > 1:
		i.tally.Repeated.add("%s: the task was given %d times, in %d turns", k.pod, len(k.submitted), k.last)
	case end == nil && len(k.submitted) == 0 && t.outcomes[id] == "interrupted":
		// podd stopped before it gave the task, and the parent knows.
	case end == nil || outcome != t.outcomes[id]:
		i.tally.Other.add("%s ended as %s, and its parent was told: %s", k.pod, outcome, t.outcomes[id])
	case outcome == "finished" && !strings.Contains(t.texts[id], answer):
		i.tally.Lost.add("%s: the letter about %s has not its answer: %q", parent.pod, k.pod, t.texts[id])
	case outcome != "finished" && end.GetReason() != "RECOVERY" && !i.cancels:
		i.tally.Other.add("%s ended as %s, and no client cancelled it: %s", k.pod, outcome, end.GetCause())
	}
}
