package fold

import (
	"fmt"
	"slices"
	"time"

	"podd/pkg/item"
)

// PolicyPressure is the policy of a decision that the window's limit forced.
const PolicyPressure = "pressure"

// Decision is what to prune before the next request. The zero Decision prunes
// nothing.
type Decision struct {
	// Seqs are the results, ascending.
	Seqs []item.Seq
	// Policy is the mode that decided, or PolicyPressure; Reason is one sentence.
	Policy, Reason string
	// Saved is how many tokens the request loses.
	Saved int
	// Prefix is how many tokens of the request stay unchanged: those before the first pruned
	// result.
	Prefix int
	// Gain is the value of the prune, and Price the cost of breaking the cache, in tokens of
	// uncached input. Both are 0 unless the economic rule chose.
	Gain, Price float64
}

// Entry is the log entry of the decision; ok is false if there is nothing to prune.
func (d Decision) Entry() (p item.Prune, ok bool) {
	return item.Prune{Seqs: d.Seqs, Policy: d.Policy, Reason: d.Reason}, len(d.Seqs) > 0
}

// Decide says what to prune before a request that is sent now. It changes nothing: a
// decision takes effect with Prune.
func (l *Ledger) Decide(now time.Time) Decision {
	var d Decision
	switch l.cfg.Mode {
	case ModeTurns:
		d = l.decideTurns()
	case ModeEconomic:
		d = l.decideEconomic(now)
	}
	return l.fewerImages(d)
}

// decision derives the rest from the chosen records.
func (l *Ledger) decision(chosen []int, policy string) Decision {
	if len(chosen) == 0 {
		return Decision{}
	}
	slices.Sort(chosen)
	d := Decision{Policy: policy, Prefix: l.kept.Terms.Fixed + l.kept.Records[chosen[0]].start}
	for _, i := range chosen {
		d.Seqs = append(d.Seqs, l.kept.Records[i].Seq)
		d.Saved += l.kept.Records[i].saving()
	}
	return d
}

// may says whether an open record is free of the temporary protections: sent in too few
// requests, an error of the current turn.
func (l *Ledger) may(r *record) bool {
	return l.kept.Steps-r.Born >= l.cfg.MinRequests && (!r.IsError || r.Turn < l.kept.Turns)
}

// extent says how much the decision prunes.
func (d Decision) extent() string {
	if len(d.Seqs) == 1 {
		return fmt.Sprintf("1 result, %d tokens", d.Saved)
	}
	return fmt.Sprintf("%d results, %d tokens", len(d.Seqs), d.Saved)
}
