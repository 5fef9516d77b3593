package pod

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"podd/pkg/item"
)

// What the black-box tests need of the inside.

// MakeBasesAfter makes bases that spare so many entries.
func MakeBasesAfter(entries item.Seq) { baseAfter = entries }

// TryAgainAfter makes pods that are stuck try again after this time at first.
func TryAgainAfter(d time.Duration) (before time.Duration) {
	before, stuckFirst = stuckFirst, d
	return before
}

// WaitUntil waits for a time of a clock.
var WaitUntil = waitUntil

// Impatient lets nothing wait long for what hangs, until the test ends.
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

// Unlike says in what folding a pod's log from its base differs from folding all of it.
// based is the last entry of the base; 0 when there is none that counts.
func (h *Host) Unlike(ctx context.Context, pod string) (based item.Seq, differs string, err error) {
	s := h.settings()
	for {
		before, err := h.Store.Pod(ctx, pod)
		if err != nil {
			return 0, "", err
		}
		whole, err := h.foldedFrom(ctx, pod, s, 0)
		if err != nil {
			return 0, "", err
		}
		short, err := h.folded(ctx, pod, s)
		if err != nil {
			return 0, "", err
		}
		after, err := h.Store.Pod(ctx, pod)
		if err != nil {
			return 0, "", err
		}
		// The two are of one log only when nothing was written meanwhile.
		if before.First == after.First && before.Last == after.Last {
			return short.base, unlike(short, whole, s, h.Now()), nil
		}
	}
}

func unlike(got, want *folds, s *settings, now time.Time) string {
	differ := func(what string, got, want any) string { return fmt.Sprintf("%s:\n%+v\nwant\n%+v", what, got, want) }
	gotParts, gotSize := got.state.Explain()
	wantParts, wantSize := want.state.Explain()
	switch {
	case got.last != want.last:
		return differ("last", got.last, want.last)
	case fmt.Sprintf("%+v", got.journal) != fmt.Sprintf("%+v", want.journal):
		return differ("journal", got.journal, want.journal)
	case !reflect.DeepEqual(got.questions.all(), want.questions.all()):
		return differ("questions", got.questions.all(), want.questions.all())
	case got.progress.Rest() != want.progress.Rest():
		return differ("progress", got.progress.Rest(), want.progress.Rest())
	case !reflect.DeepEqual(got.state.Request(), want.state.Request()):
		return differ("request", got.state.Request(), want.state.Request())
	case !slices.Equal(got.state.OpenCalls(), want.state.OpenCalls()):
		return differ("open calls", got.state.OpenCalls(), want.state.OpenCalls())
	case !reflect.DeepEqual(gotParts, wantParts), gotSize != wantSize:
		return differ("size", gotSize, wantSize)
	}
	for _, at := range []time.Time{now, now.Add(time.Hour)} {
		if got, want := got.state.Decide(at), want.state.Decide(at); !reflect.DeepEqual(got, want) {
			return differ("decision", got, want)
		}
	}
	if want.journal.open {
		return ""
	}
	gotBase, gotErr := got.encode(s)
	wantBase, wantErr := want.encode(s)
	if !bytes.Equal(gotBase, wantBase) || gotErr != nil || wantErr != nil {
		return differ("base", gotErr, wantErr)
	}
	return ""
}
