package pod

import (
	"bytes"
	"context"
	"encoding/gob"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"podd/pkg/fold"
	"podd/pkg/item"
)

// Internals for the black-box tests.

// MakeBasesAfter makes podd write a base that saves reading that many entries.
func MakeBasesAfter(entries item.Seq) { baseAfter = entries }

// TryAgainAfter sets the first pause before a stuck pod retries.
func TryAgainAfter(d time.Duration) (before time.Duration) {
	before, stuckFirst = stuckFirst, d
	return before
}

// RestAfter sets how long pods keep the bytes of their last request until the test ends.
func RestAfter(t *testing.T, d time.Duration) {
	was := restAfter
	restAfter = d
	t.Cleanup(func() { restAfter = was })
}

// Rested waits until a loaded pod has dropped the bytes of its last request.
func (h *Host) Rested(ctx context.Context, pod string) error {
	a, _ := h.pods.find(pod)
	for rests := false; !rests; {
		if err := a.mailbox.do(ctx, func() { rests = a.turns.now == nil && a.turns.encoder.Rests() }); err != nil {
			return err
		}
	}
	return nil
}

// WaitUntil waits for a time of a clock.
var WaitUntil = waitUntil

// Impatient shortens all waits for hanging work until the test ends.
func Impatient(t *testing.T) {
	all := []*time.Duration{&silentAfter, &leaveTime, &lookTime}
	was := make([]time.Duration, len(all))
	for i, d := range all {
		was[i], *d = *d, time.Millisecond
	}
	t.Cleanup(func() {
		for i, d := range all {
			*d = was[i]
		}
	})
}

// Unlike says how folding a pod's log from its base differs from folding all of it. based
// is the last entry of the base; 0 without a valid one.
func (h *Host) Unlike(ctx context.Context, pod string) (based item.Seq, differs string, err error) {
	s := h.settings()
	for {
		before, err := h.Store.Pod(ctx, pod)
		if err != nil {
			return 0, "", err
		}
		whole, _, err := h.Logs.foldedFrom(ctx, pod, s, 0)
		if err != nil {
			return 0, "", err
		}
		short, based, err := h.Logs.folded(ctx, pod, s)
		if err != nil {
			return 0, "", err
		}
		after, err := h.Store.Pod(ctx, pod)
		if err != nil {
			return 0, "", err
		}
		// Both folds are of the same log only if nothing was written meanwhile.
		if before.First == after.First && before.Last == after.Last {
			if differs := unlike(short, whole, h.Now()); differs != "" {
				return based, differs, nil
			}
			return based, h.unlikeMemory(ctx, pod, short), nil
		}
	}
}

// unlikeMemory says whether a loaded pod at rest has another fold in memory.
func (h *Host) unlikeMemory(ctx context.Context, pod string, log *fold.Fold) (what string) {
	a, _ := h.pods.find(pod)
	if a == nil {
		return ""
	}
	_ = a.mailbox.do(ctx, func() {
		if a.turns.now == nil && a.folded != nil && a.folded.folding.Same(h.settings().folding) && a.journal.rec.Last == log.Last && a.differsFrom(log) {
			what = fmt.Sprintf("fold in memory:\n%+v %+v\nwant\n%+v %+v", a.journal.state, a.journal.carried, log.State, log.Context)
		}
	})
	return what
}

// encoded are the bytes of a state in a base. An empty list and a nil one have the same.
func encoded(s fold.State) []byte {
	var out bytes.Buffer
	if err := gob.NewEncoder(&out).Encode(s); err != nil {
		panic(err)
	}
	return out.Bytes()
}

func unlike(got, want *fold.Fold, now time.Time) string {
	differ := func(what string, got, want any) string { return fmt.Sprintf("%s:\n%+v\nwant\n%+v", what, got, want) }
	gotParts, gotSize := got.Context.Explain(time.Time{})
	wantParts, wantSize := want.Context.Explain(time.Time{})
	switch {
	case got.Last != want.Last:
		return differ("last", got.Last, want.Last)
	case want.State.Turn.Open && !bytes.Equal(encoded(got.State), encoded(want.State)): // Otherwise the bases have them.
		return differ("state", got.State, want.State)
	case !reflect.DeepEqual(got.Context.Request(), want.Context.Request()):
		return differ("request", got.Context.Request(), want.Context.Request())
	case !slices.Equal(got.Context.OpenCalls(), want.Context.OpenCalls()):
		return differ("open calls", got.Context.OpenCalls(), want.Context.OpenCalls())
	case !reflect.DeepEqual(gotParts, wantParts), gotSize != wantSize:
		return differ("size", gotSize, wantSize)
	}
	for _, at := range []time.Time{now, now.Add(time.Hour)} {
		if got, want := got.Context.Decide(at), want.Context.Decide(at); !reflect.DeepEqual(got, want) {
			return differ("decision", got, want)
		}
	}
	if want.State.Turn.Open {
		return ""
	}
	gotBase, gotErr := got.Save()
	wantBase, wantErr := want.Save()
	if !bytes.Equal(gotBase, wantBase) || gotErr != nil || wantErr != nil {
		return differ("base", gotErr, wantErr)
	}
	return ""
}

// Digest is digest for tests.
func (s Submit) Digest() ([32]byte, error) { return s.digest() }
