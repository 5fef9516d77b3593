package pod

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"podd/pkg/fold"
	"podd/pkg/hook"
	"podd/pkg/item"
	"podd/pkg/worker"
)

// Wing is what a part of podd beside the core does for pods. What is nil does nothing.
type Wing struct {
	// Unfinished is work that an earlier podd left for the wing, by what the log of a pod says; nil without any. It is
	// called in the pod's goroutine, once the pod is loaded, and reads nothing else. The work comes before the next turn,
	// which its error delays: the pod raises an alert, and does not try the work again until it is loaded again.
	Unfinished func(p item.Pod, s fold.State) func(ctx context.Context, p *Idle) error
	// Settled is called in the pod's goroutine while no call runs that is not resumed: once the pod is loaded, before
	// anybody else gets it, and each time that a turn of it has ended or a submit was withdrawn between turns. It does
	// not wait.
	Settled func(p *Hosted)
	// Ending ends what runs of a pod, by its id, that leaves memory for a reason. It is called in the pod's goroutine,
	// and does not wait: the pod serves until what its log says to run has ended, for some seconds at most.
	Ending func(id string, cause error)
	// Deleting is called before a pod is deleted, once it has ended and while nobody can load it. It may read the log.
	Deleting func(ctx context.Context, p item.Pod)
	// Changed is called after each change of a pod's life, such as its deletion. It does not wait.
	Changed func(c hook.PodChange, id string)
	// Reserved is how much of what all turns of a pod may use the wing keeps for others, by the pod's id. It is called in
	// the goroutine of a turn, which makes no request after an error: it asks again, or ends if the error does not pass.
	Reserved func(ctx context.Context, id string) (worker.Reserved, error)
}

// Attach lets a wing take part. It is called before Recover.
func (h *Host) Attach(w Wing) {
	if w.Unfinished == nil {
		w.Unfinished = func(item.Pod, fold.State) func(context.Context, *Idle) error { return nil }
	}
	if w.Settled == nil {
		w.Settled = func(*Hosted) {}
	}
	if w.Ending == nil {
		w.Ending = func(string, error) {}
	}
	if w.Deleting == nil {
		w.Deleting = func(context.Context, item.Pod) {}
	}
	if w.Changed != nil {
		h.listeners.wings = append(h.listeners.wings, w.Changed)
	}
	if w.Reserved == nil {
		w.Reserved = func(context.Context, string) (worker.Reserved, error) { return worker.Reserved{}, nil }
	}
	h.wings = append(h.wings, w)
}

// Go runs work of a wing in a goroutine that Close waits for, unless the Host ends. The work's context ends when the Host
// begins to end.
func (h *Host) Go(work func(ctx context.Context)) {
	_ = h.pods.unlessClosing(func() { h.pods.work.Go(func() { work(h.running) }) })
}

// Hosted is a pod in memory, as it was when a wing got it. Its methods may be called from any goroutine but the pod's.
type Hosted struct {
	Pod   item.Pod
	State fold.State
	a     *actor
}

func (a *actor) hosted() *Hosted {
	return &Hosted{Pod: a.journal.rec, State: a.journal.state, a: a}
}

// settled lets the wings look at a pod that was loaded or whose turn has ended.
func (a *actor) settled() {
	for _, w := range a.host.wings {
		w.Settled(a.hosted())
	}
}

// Keep loads a pod, which stays in memory until release is called.
func (h *Host) Keep(ctx context.Context, idOrName string) (p *Hosted, release func(), err error) {
	a, release, err := h.pods.acquire(ctx, idOrName)
	if err != nil {
		return nil, nil, err
	}
	if err := a.mailbox.do(ctx, func() { p = a.hosted() }); err != nil {
		release()
		return nil, nil, err
	}
	return p, release, nil
}

// Life ends when the pod has left memory; its cause is the reason.
func (p *Hosted) Life() context.Context { return p.a.life }

// Record stores entries in one commit, whatever the pod does, also while it ends, and returns the sequence of the first.
// entries makes them, at least one, for the pod's state before them.
func (p *Hosted) Record(ctx context.Context, entries func(now time.Time, s fold.State) []item.Kind) (seq item.Seq, err error) {
	doErr := p.a.mailbox.do(ctx, func() {
		var all []item.Entry
		for _, k := range entries(p.a.journal.time(), p.a.journal.state) {
			all = append(all, item.Entry{Kind: k})
		}
		seq, err = p.a.record(ctx, all...)
	})
	return seq, cmp.Or(doErr, err)
}

// Note leaves a note for the model, which joins the conversation at the next step. It returns its entry.
func (p *Hosted) Note(note item.Note) (seq item.Seq, err error) {
	return p.Record(p.a.host.base, func(time.Time, fold.State) []item.Kind { return []item.Kind{note} })
}

// Raise raises an alert of the pod. One that can't be stored is logged.
func (p *Hosted) Raise(level item.Level, source, text string) {
	_ = p.a.mailbox.do(p.a.host.base, func() { p.a.journal.raise(level, source, text) })
}

// Record stores an entry of a wing in a pod's log, whatever the pod does, and returns its sequence. Notes are for the
// model; they are stored in the same commit.
func (h *Host) Record(ctx context.Context, idOrName string, k item.WingEntry, notes ...item.Note) (seq item.Seq, err error) {
	if k.Wing == "" || k.Name == "" || strings.Contains(k.Line, "\n") || k.Data != "" && !json.Valid([]byte(k.Data)) {
		return 0, item.Errorf(item.KindInternal, "WING_ENTRY", "the wing %q wrote an entry %q without a name, with more than a line, or with data that is no JSON", k.Wing, k.Name)
	}
	p, release, err := h.Keep(ctx, idOrName)
	if err != nil {
		return 0, err
	}
	defer release()
	return p.Record(ctx, func(time.Time, fold.State) []item.Kind {
		all := []item.Kind{k}
		for _, note := range notes {
			all = append(all, note)
		}
		return all
	})
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
