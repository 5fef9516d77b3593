package main

import (
	"slices"
	"strconv"
	"strings"
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

// outcome is the cost of a window under one policy.
type outcome struct {
	cost                          float64
	tokens, misses, events, calls int
	// needed are the tokens of the results that calls needed, missed those of them that were left out.
	needed, missed int
}

// replay is one window under one policy.
type replay struct {
	window *window
	policy policy
	ledger *fold.Ledger
	bill   bill
	outcome
	// seen is for the rules of peers.
	seen seen
	// sizes are the tokens of each item, by its sequence minus 1, as they are sent.
	sizes []int

	// now is the time of the current call; only differences matter.
	now time.Time
	seq item.Seq
	// copies are, for each added item, the sequences of its content: where it is, and where
	// it was fetched again.
	copies [][]item.Seq
}

// replayWindow runs a window through the ledger.
func replayWindow(w *window, p policy, t terms) (outcome, error) {
	mode := p.mode
	if p.choose != nil {
		mode = fold.ModeOff
	}
	ledger, err := fold.NewLedger(fold.Config{Mode: mode, Cache: t.cache})
	if err != nil {
		return outcome{}, err
	}
	ledger.Setup(fold.Terms{Price: t.price, Fixed: fixedPrefix})
	r := &replay{window: w, policy: p, ledger: ledger, bill: newBill(t.price), now: time.Unix(0, 0)}
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
	if missed := r.missing(call); len(missed) > 0 {
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
	r.sizes = append(r.sizes, e.Tokens)
	if strings.Contains("uco", it.Role) {
		r.seen.events++
	}
	if startsTurn {
		r.seen.turn++
		r.seen.begins = true
	}
	if e.Result {
		r.seen.results = append(r.seen.results, result{seq: e.Seq, tokens: e.Tokens, turn: r.seen.turn, event: r.seen.events})
	}
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
	seqs, prefix := r.chosen()
	if len(seqs) == 0 {
		return
	}
	r.events++
	r.ledger.Prune(0, "", seqs)
	r.bill.broken(prefix)
	for _, seq := range seqs {
		r.sizes[seq-1] = stubSize + itemOverhead
		for i := range r.seen.results {
			if r.seen.results[i].seq == seq {
				r.seen.results[i].tokens = r.sizes[seq-1]
			}
		}
	}
}

// chosen are the results that the policy leaves out now, and the size of the request before the first of them.
func (r *replay) chosen() (seqs []item.Seq, prefix int) {
	if r.policy.choose == nil {
		d := r.ledger.Decide(r.now)
		p, _ := d.Entry()
		return p.Seqs, d.Prefix
	}
	r.seen.tokens = r.ledger.Tokens()
	r.seen.idle = 0
	if r.bill.sent {
		r.seen.idle = r.now.Sub(r.bill.last)
	}
	seqs = slices.DeleteFunc(r.policy.choose(&r.seen), func(seq item.Seq) bool { return r.sizes[seq-1] <= stubSize+itemOverhead })
	if len(seqs) == 0 {
		return nil, 0
	}
	prefix = fixedPrefix
	for _, size := range r.sizes[:seqs[0]-1] {
		prefix += size
	}
	return seqs, prefix
}

// missing are the items that a call needs and cannot see, ascending: of each need the last one, which would be fetched.
func (r *replay) missing(call int) []int {
	var needed, missing []int
	for _, need := range r.window.Needs[call] {
		needed = append(needed, slices.Max(need))
		if !slices.ContainsFunc(need, r.visible) {
			missing = append(missing, slices.Max(need))
		}
	}
	slices.Sort(needed)
	for _, i := range slices.Compact(needed) {
		r.needed += r.window.Items[i].Tokens
	}
	slices.Sort(missing)
	missing = slices.Compact(missing)
	for _, i := range missing {
		r.missed += r.window.Items[i].Tokens
	}
	return missing
}

func (r *replay) visible(i int) bool {
	return slices.ContainsFunc(r.copies[i], func(s item.Seq) bool { return !r.ledger.Pruned(s) })
}

// send is one request and its answer; the step continues if it only fetches missed
// content.
func (r *replay) send(stepGoesOn bool) {
	r.bill.request(r.ledger.Tokens(), r.now)
	r.ledger.Answered(fold.Answer{Time: r.now, StepGoesOn: stepGoesOn})
	r.seen.begins = r.seen.begins && stepGoesOn
	for i := range r.seen.results {
		r.seen.results[i].sent = true
	}
}
