package pod

import (
	"context"
	"encoding/json"
	"strings"

	"podd/pkg/fold"
	"podd/pkg/item"
)

// Wing is what a part of podd beside the core does for pods. What is nil does nothing.
type Wing struct {
	// Unfinished is work that an earlier podd left for the wing, by what the log of a pod says; nil without any. It is
	// called in the pod's goroutine, once the pod is loaded, and reads nothing else. The work comes before the next turn,
	// which its error delays: the pod raises an alert, and does not try the work again until it is loaded again.
	Unfinished func(p item.Pod, s fold.State) func(ctx context.Context, p *Idle) error
	// Restoring brings back what the wing has of a pod, by its id, that comes back from the trash. Its error keeps the
	// pod there.
	Restoring func(ctx context.Context, id string) error
	// Purged removes what it has of a pod that is gone for good.
	Purged func(ctx context.Context, id string)
	// Sweep removes what it has kept for its time.
	Sweep func(ctx context.Context) error
}

// Attach lets a wing take part. It is called before Recover.
func (h *Host) Attach(w Wing) {
	if w.Unfinished == nil {
		w.Unfinished = func(item.Pod, fold.State) func(context.Context, *Idle) error { return nil }
	}
	if w.Restoring == nil {
		w.Restoring = func(context.Context, string) error { return nil }
	}
	if w.Purged == nil {
		w.Purged = func(context.Context, string) {}
	}
	if w.Sweep == nil {
		w.Sweep = func(context.Context) error { return nil }
	}
	h.wings = append(h.wings, w)
}

// Record stores an entry of a wing in a pod's log, whatever the pod does, and returns its sequence. Notes are for the
// model; they are stored in the same commit.
func (h *Host) Record(ctx context.Context, idOrName string, k item.WingEntry, notes ...item.Note) (seq item.Seq, err error) {
	if k.Wing == "" || k.Name == "" || strings.Contains(k.Line, "\n") || k.Data != "" && !json.Valid([]byte(k.Data)) {
		return 0, item.Errorf(item.KindInternal, "WING_ENTRY", "the wing %q wrote an entry %q without a name, with more than a line, or with data that is no JSON", k.Wing, k.Name)
	}
	entries := []item.Entry{{Kind: k}}
	for _, note := range notes {
		entries = append(entries, item.Entry{Kind: note})
	}
	_, err = h.change(ctx, idOrName, func(a *actor) error {
		seq, err = a.record(ctx, entries...)
		return err
	})
	return seq, err
}

// startUnfinished starts what an earlier podd left unfinished; in the goroutine of a free pod. It says whether there is something.
func (a *actor) startUnfinished() bool {
	for a.turns.asked < len(a.host.wings) {
		w := a.host.wings[a.turns.asked]
		a.turns.asked++
		if do := w.Unfinished(a.journal.rec, a.journal.state); do != nil && a.free("") == nil {
			a.startAlone(do)
			return true
		}
	}
	return false
}
