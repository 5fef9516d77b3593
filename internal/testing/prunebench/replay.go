package main

import (
	"slices"
	"strconv"
	"time"

	"podd/pkg/fold"
	"podd/pkg/item"
)

// The cost model of the traces, in tokens.
const (
	fixedPrefix = 8000
	// itemOverhead is added to each item; stubSize remains of a pruned result.
	itemOverhead = 6
	stubSize     = 30
	// A miss costs a further call of callSize, and the content again, up to refetchMax.
	callSize   = 40
	refetchMax = 10_000
)

// outcome is the cost of a window under one mode.
type outcome struct {
	cost                          float64
	tokens, misses, events, calls int
}

// replay is one window under one mode.
type replay struct {
	window *window
	ledger *fold.Ledger
	bill   bill
	outcome

	// now is the time of the current call; only differences matter.
	now time.Time
	seq item.Seq
	// copies are, for each added item, the sequences of its content: where it is, and where
	// it was fetched again.
	copies [][]item.Seq
}

// replayWindow runs a window through the ledger.
func replayWindow(w *window, mode fold.Mode, t terms) (outcome, error) {
	ledger, err := fold.NewLedger(fold.Config{Mode: mode, Cache: t.cache})
	if err != nil {
		return outcome{}, err
	}
	ledger.Setup(fold.Terms{Price: t.price, Fixed: fixedPrefix})
	r := &replay{window: w, ledger: ledger, bill: newBill(t.price), now: time.Unix(0, 0)}
	turns := 0
	for call, at := range w.At {
		if gap := w.Gap[call]; gap > 0 {
			r.now = r.now.Add(time.Duration(gap * float64(time.Second)))
		}
		for i := len(r.copies); i < at; i++ {
			starts := w.Items[i].StartsTurn && (turns == 0 || !t.single)
			if starts {
				turns++
			}
			r.copies = append(r.copies, []item.Seq{r.add(w.Items[i], starts)})
		}
		r.call(call)
	}
	r.calls = len(w.At)
	r.cost, r.tokens = r.bill.cost, r.bill.tokens
	return r.outcome, nil
}

// call is one recorded model call.
func (r *replay) call(call int) {
	r.prune()
	if missed := r.missed(call); len(missed) > 0 {
		r.misses++
		r.send(true)
		for _, i := range missed {
			r.fetch(i)
		}
		r.prune()
	}
	r.send(false)
}

// add appends an item and returns its sequence.
func (r *replay) add(it traceItem, startsTurn bool) item.Seq {
	r.seq++
	e := fold.Element{
		Seq:        r.seq,
		Tokens:     it.Tokens + itemOverhead,
		Stub:       stubSize + itemOverhead,
		StartsTurn: startsTurn,
		Result:     it.result(),
		Kind:       item.OutputKind(it.Class),
	}
	if it.Path != 0 {
		e.Path = strconv.FormatUint(it.Path, 10)
	}
	r.ledger.Add(e)
	return r.seq
}

// fetch gets the content of a pruned result again, at the end of the conversation.
func (r *replay) fetch(i int) {
	r.add(traceItem{Role: "c", Tokens: callSize}, false)
	again := r.window.Items[i]
	again.Tokens = min(again.Tokens, refetchMax)
	r.copies[i] = append(r.copies[i], r.add(again, false))
}

func (r *replay) prune() {
	d := r.ledger.Decide(r.now)
	p, ok := d.Entry()
	if !ok {
		return
	}
	r.events++
	r.ledger.Prune(p.Seqs)
	r.bill.broken(d.Prefix)
}

// missed are the items that a call needs and cannot see, ascending: of each need the last
// one, which would be fetched.
func (r *replay) missed(call int) []int {
	var missed []int
	for _, need := range r.window.Needs[call] {
		if !slices.ContainsFunc(need, r.visible) {
			missed = append(missed, slices.Max(need))
		}
	}
	slices.Sort(missed)
	return slices.Compact(missed)
}

func (r *replay) visible(i int) bool {
	return slices.ContainsFunc(r.copies[i], func(s item.Seq) bool { return !r.ledger.Pruned(s) })
}

// send is one request and its answer; the step continues if it only fetches missed
// content.
func (r *replay) send(stepGoesOn bool) {
	r.bill.request(r.ledger.Tokens(), r.now)
	r.ledger.Answered(fold.Answer{Time: r.now, StepGoesOn: stepGoesOn})
}
