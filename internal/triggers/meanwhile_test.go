package triggers_test

import (
	"context"
	"sync"
	"testing"

	"podd/internal/triggers"
	"podd/pkg/item"
	"podd/pkg/store"
)

// gate is a store that holds the first write or read of a kind until it is opened.
type gate struct {
	store.Store
	writes        bool
	once          sync.Once
	reached, open chan struct{}
}

func (g *gate) hold() {
	g.once.Do(func() {
		close(g.reached)
		<-g.open
	})
}

// CreatePod is held if writes are.
func (g *gate) CreatePod(ctx context.Context, p item.Pod) error {
	if g.writes {
		g.hold()
	}
	return g.Store.CreatePod(ctx, p)
}

// Read is held, unless writes are, once a turn has ended.
func (g *gate) Read(ctx context.Context, pod string, after item.Seq, limit int) ([]store.Record, error) {
	if rec, err := g.Pod(ctx, pod); err == nil && rec.Status.LastOutcome != "" && !g.writes {
		g.hold()
	}
	return g.Store.Read(ctx, pod, after, limit)
}

// A person changes, pauses or removes a trigger while it fires, or while podd looks how its turn ended. It stays as the person
// wants it, and the fire has one receipt. The log is checked at the end.
func TestChangedMeanwhile(t *testing.T) {
	for _, writes := range []bool{true, false} {
		for what, change := range map[string]func(h *house) error{
			"changed": func(h *house) error {
				h.set(triggers.Spec{Event: true, New: "other-{n}"}, true)
				return nil
			},
			"paused": func(h *house) error {
				_, err := h.wing.Pause(h.t.Context(), "site", "t", "me", false)
				return err
			},
			"removed": func(h *house) error { return h.wing.Remove(h.t.Context(), "site", "t") },
		} {
			t.Run(map[bool]string{true: "while it fires, ", false: "while it works, "}[writes]+what, func(t *testing.T) {
				h := newHouse(t)
				h.set(triggers.Spec{Event: true, New: "work-{n}"}, false)
				h.stop()
				g := &gate{writes: writes, reached: make(chan struct{}), open: make(chan struct{})}
				h.under = func(s store.Store) store.Store {
					g.Store = s
					return g
				}
				h.open()
				_, _, err := h.wing.Fire(t.Context(), triggers.Event{Pod: "site", Name: "t"})
				check(t, err)
				<-g.reached
				check(t, change(h))
				close(g.open)
				if what == "removed" {
					h.set(triggers.Spec{Event: true}, false) // Once it has fired, podd is done with the other.
					_, _, err := h.wing.Fire(t.Context(), triggers.Event{Pod: "site", Name: "t"})
					check(t, err)
				}
				h.receipts("12:00 fired 1 finished")
				h.stop()
				h.under = nil
				h.open()
				all, err := h.wing.List(t.Context(), "site")
				check(t, err)
				switch {
				case len(all) != 1:
					t.Errorf("there is another trigger: %+v", all)
				case what == "changed" && all[0].New != "other-{n}", what == "paused" && all[0].Paused != "by me":
					t.Errorf("it is not %s: %+v", what, all[0])
				}
			})
		}
	}
}

// unfired is a store that fails to store that a trigger has fired.
type unfired struct{ store.Store }

func (s unfired) Append(ctx context.Context, b store.Batch) (store.Appended, error) {
	for _, e := range b.Entries {
		if k, ok := e.Kind.(item.WingEntry); ok && k.Name == "fired" {
			return store.Appended{}, errKilled
		}
	}
	return s.Store.Append(ctx, b)
}

// podd is killed once the turn of a fire has ended, but before the log says that it fired. The fire has its whole receipt.
func TestEndedBeforeItFired(t *testing.T) {
	h := newHouse(t)
	h.set(triggers.Spec{Event: true}, false)
	h.stop()
	h.under = func(s store.Store) store.Store { return unfired{s} }
	h.open()
	_, _, err := h.wing.Fire(t.Context(), triggers.Event{Pod: "site", Name: "t"})
	check(t, err)
	h.await("finished", func() string {
		p, err := h.host.Get(t.Context(), "site")
		check(t, err)
		return string(p.Status.LastOutcome)
	})
	h.stop()
	h.under = nil
	h.open()
	h.receipts("12:00 fired 1 finished")
}
