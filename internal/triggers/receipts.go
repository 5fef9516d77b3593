package triggers

import (
	"context"
	"time"

	"podd/pkg/item"
)

// ReceiptKind says what became of a due time.
type ReceiptKind int

// The kinds of receipts, in this order.
const (
	// Pending waits for its submit, Fired has it; Joined stands in an earlier fire that waited; Missed was due while podd
	// did not run or the trigger was paused; Skipped did not fire; Failed could not be submitted.
	Pending ReceiptKind = iota + 1
	Fired
	Joined
	Missed
	Skipped
	Failed
)

// Receipt says what became of a due time, or of several.
type Receipt struct {
	Seq  item.Seq
	Kind ReceiptKind
	// Number is that of the fire; 0 if it did not fire.
	Number int64
	// Due is the due time, First the first one of Count.
	Due, First time.Time
	Count      int
	Event      string
	// To is the pod that has the submit, as entry Submitted.
	To, ToName string
	Submitted  item.Seq
	// Turn, Outcome and Cost are those of the turn, once it has ended; Cause says why it failed or did not fire.
	Turn           int64
	Outcome, Cause string
	Cost           float64
}

// maxReceipts is how many receipts are listed.
const maxReceipts = 1000

// Receipts are the newest receipts of a trigger since a time, the oldest first.
func (w *Wing) Receipts(ctx context.Context, idOrName, name string, limit int, since time.Time) ([]Receipt, error) {
	p, err := w.Host.Store.Pod(ctx, idOrName)
	if err != nil {
		return nil, err
	}
	b := book{trigger: "", name: name, pod: p.ID, fires: make(map[int64]int)}
	if err := w.Host.Logs.Entries(ctx, p.ID, 0, wings, func(e item.Entry) bool {
		b.add(e)
		return true
	}); err != nil {
		return nil, err
	}
	if b.trigger == "" {
		return nil, item.Errorf(item.KindNotFound, "TRIGGER_NOT_FOUND", "pod %s has no trigger %q: podctl trigger list shows all", p.Name, name)
	}
	if limit <= 0 || limit > maxReceipts {
		limit = maxReceipts
	}
	var all []Receipt
	for _, r := range b.all {
		if !r.at.Before(since) {
			all = append(all, r.Receipt)
		}
	}
	return all[max(len(all)-limit, 0):], nil
}

// book gathers the receipts of a trigger from the log of its pod.
type book struct {
	pod, name string
	// trigger is the id of the one that has the name now.
	trigger string
	all     []stored
	// fires are the places of fires in all.
	fires map[int64]int
}

type stored struct {
	Receipt
	at time.Time
}

func (b *book) add(e item.Entry) {
	if d, ok := decode[definition](e, kindSet); ok && d.Pod == b.pod && d.Name == b.name {
		if d.ID != b.trigger {
			b.trigger, b.all, b.fires = d.ID, nil, make(map[int64]int) // The one before was removed.
		}
	}
	of := func(pod, id string) bool { return pod == b.pod && id == b.trigger && id != "" }
	if d, ok := decode[due](e, kindDue); ok && of(d.Pod, d.ID) {
		b.fires[d.N] = len(b.all)
		b.all = append(b.all, stored{Receipt{Seq: e.Seq, Kind: Pending, Number: d.N, Due: d.Due, First: d.Due, Count: 1, Event: d.Event}, e.Time})
	}
	if r, ok := decode[passed](e, kindPassed); ok && of(r.Pod, r.ID) {
		kind := map[string]ReceiptKind{missed: Missed, merged: Joined, skipped: Skipped}[r.What]
		b.all = append(b.all, stored{Receipt{Seq: e.Seq, Kind: kind, Due: r.Last, First: r.First, Count: r.Count, Event: r.Event, Cause: r.Why}, e.Time})
	}
	if f, ok := decode[fired](e, kindFired); ok && of(f.Pod, f.ID) {
		r := b.fire(f.N, e)
		if r.To, r.ToName, r.Submitted, r.Cause = f.To, f.Name, f.Seq, f.Cause; f.Seq > 0 {
			r.Kind = Fired
		} else {
			r.Kind = Failed
		}
	}
	if d, ok := decode[ended](e, kindEnded); ok && of(d.Pod, d.ID) {
		r := b.fire(d.N, e)
		r.Turn, r.Outcome, r.Cost, r.Cause = d.Turn, d.Outcome, d.Cost, d.Cause
	}
}

// fire is the receipt of a fire. The entry that counted it may have been removed with the oldest part of the log.
func (b *book) fire(n int64, e item.Entry) *Receipt {
	if _, ok := b.fires[n]; !ok {
		b.fires[n] = len(b.all)
		b.all = append(b.all, stored{Receipt{Seq: e.Seq, Kind: Fired, Number: n, Due: e.Time, First: e.Time, Count: 1}, e.Time})
	}
	return &b.all[b.fires[n]].Receipt
}
