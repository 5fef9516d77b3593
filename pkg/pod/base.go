package pod

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"errors"
	"fmt"

	"podd/internal/version"
	"podd/internal/wire"
	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/store"
)

// A pod's base is what its log folds into up to an entry at which no turn is open: loading
// goes on from there and reads no entry before it but those that requests still carry.
// It is made of the log alone, and worth nothing more than the time that reading takes: who
// finds none that fits reads the whole log.

// baseAfter is how many entries that a compaction stands for are read before a base is made
// that spares it.
var baseAfter item.Seq = 1000

// base is the form in which folds are kept.
type base struct {
	Rule [sha256.Size]byte
	// First is the log's first entry when it was folded: a base of what was purged
	// meanwhile knows more than the log.
	First   item.Seq
	State   fold.State
	Context []byte
}

// baseForm is raised when a base has another form, or the same log folds into something
// else: not every build has a version of its own.
const baseForm = 3

// foldingRule names all that folding depends on beside the log.
func (s Settings) foldingRule() [sha256.Size]byte {
	return sha256.Sum256(fmt.Appendf(nil, "%d %#v %#v %#v", baseForm, version.Get(), s.Prune, s.Prices))
}

// encode gives folds the form in which they are kept. No turn may be open.
func (f *folds) encode(s *settings) ([]byte, error) {
	if f.state.Turn.Open {
		return nil, errors.New("a turn is open")
	}
	context, err := f.context.Base()
	if err != nil {
		return nil, err
	}
	b := base{Rule: s.rule, First: f.first, State: f.state, Context: context}
	var out bytes.Buffer
	err = gob.NewEncoder(&out).Encode(b)
	return out.Bytes(), err
}

// start is what folding a pod's log goes on from: its base, when there is one that is not
// above at, or nothing.
func (h *Host) start(ctx context.Context, pod string, s *settings, at item.Seq) (*folds, error) {
	rec, err := h.Store.Pod(ctx, pod)
	if err != nil {
		return nil, err
	}
	kept, ok, err := h.Store.Base(ctx, pod)
	if err != nil {
		return nil, err
	}
	if ok && kept.Seq <= at {
		f, err := h.restore(ctx, rec, s, kept)
		if err == nil {
			return f, nil
		}
		h.Logger.Debug("the whole log is read", "pod", pod, "error", err)
	}
	f, err := s.newFolds()
	if err != nil {
		return nil, err
	}
	f.first = rec.First
	return f, nil
}

// restore makes the folds that a base was made of. The log has the items.
func (h *Host) restore(ctx context.Context, rec item.Pod, s *settings, kept store.Base) (*folds, error) {
	var b base
	if err := gob.NewDecoder(bytes.NewReader(kept.Fold)).Decode(&b); err != nil {
		return nil, err
	}
	if b.Rule != s.rule {
		return nil, errors.New("it was folded by another podd, or by other settings")
	}
	if b.First != rec.First {
		return nil, errors.New("it was folded before a purge")
	}
	r, err := fold.Restore(s.contextConfig(), b.Context)
	if err != nil {
		return nil, err
	}
	if err := h.readItems(ctx, rec.ID, r, kept.Seq); err != nil {
		return nil, err
	}
	state, err := r.Context()
	if err != nil {
		return nil, err
	}
	return &folds{
		state: b.State.Priced(s.Prices), context: state,
		first: rec.First, last: kept.Seq, base: kept.Seq,
	}, nil
}

// errEnough ends reading.
var errEnough = errors.New("that is enough")

// readItems gives a state that is restored what the log has of it, up to an entry.
func (h *Host) readItems(ctx context.Context, pod string, r *fold.Restored, upTo item.Seq) error {
	first := r.First()
	if first == 0 {
		return nil
	}
	err := h.readRecords(ctx, pod, first-1, func(seq item.Seq, body []byte) error {
		if seq > upTo {
			return errEnough
		}
		if kind := wire.KindOf(body); kind != wire.KindItem && kind != wire.KindCompaction {
			return nil
		}
		e, err := wire.DecodeEntry(body)
		if err != nil {
			return damaged(pod, seq, err)
		}
		r.Add(e)
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// outdated says whether a base would spare enough.
func (a *actor) outdated(state *fold.Context) bool {
	return state.First()-1-max(a.based, a.rec.First-1) >= baseAfter
}

// rebaseAtRest makes a base of the log, when a turn or a compaction has ended and it is due.
// What the pod's own state has of the log is as good, but a base is made of what is stored.
func (a *actor) rebaseAtRest() {
	if a.broken != nil || a.folded == nil || !a.outdated(a.context) {
		return
	}
	f, err := a.host.folded(a.host.base, a.id, a.folded)
	if err != nil {
		a.log.Warn("the log could not be folded", "error", err)
		return
	}
	a.rebase(f)
}

// rebase keeps folds of the whole log as the pod's base, when it is due.
func (a *actor) rebase(f *folds) {
	if f.state.Turn.Open || !a.outdated(f.context) {
		return
	}
	fold, err := f.encode(a.folded)
	if err == nil {
		_, err = a.host.Store.Append(a.host.base, store.Batch{Pod: a.id, Epoch: a.epoch, Base: &store.Base{Seq: f.last, Fold: fold}})
	}
	if err != nil {
		a.log.Warn("what the log folds into could not be kept: loading the pod reads more", "error", err)
		return
	}
	a.based = f.last
}
