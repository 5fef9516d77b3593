package triggers_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"podd/internal/trash"
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

// late is a store that makes a pod once the pod above has ended, and says which pods there are as they were before.
type late struct {
	store.Store
	reached, made chan struct{}
	life          atomic.Pointer[context.Context]
}

func (s *late) CreatePod(ctx context.Context, p item.Pod) error {
	close(s.reached)
	<-(*s.life.Load()).Done()
	defer close(s.made)
	return s.Store.CreatePod(context.WithoutCancel(ctx), p)
}

func (s *late) Pods(ctx context.Context) ([]item.Pod, error) {
	all, err := s.Store.Pods(ctx)
	if life := s.life.Load(); life != nil && (*life).Err() != nil {
		<-s.made
	}
	return all, err
}

// A pod that is deleted while a trigger of it makes one takes that with it.
func TestDeletedMeanwhile(t *testing.T) {
	h := newHouse(t)
	h.set(triggers.Spec{Event: true, New: "work-{n}"}, false)
	h.stop()
	s := &late{reached: make(chan struct{}), made: make(chan struct{})}
	h.under = func(under store.Store) store.Store {
		s.Store = under
		return s
	}
	h.open()
	p, release, err := h.host.Keep(t.Context(), "site")
	check(t, err)
	life := p.Life()
	s.life.Store(&life)
	release()
	_, _, err = h.wing.Fire(t.Context(), triggers.Event{Pod: "site", Name: "t"})
	check(t, err)
	<-s.reached
	_, err = trash.Open(trash.Config{Host: h.host, For: time.Hour}).Discard(t.Context(), "site")
	check(t, err)
	if left, err := h.host.List(t.Context(), ""); err != nil || len(left) > 0 {
		t.Errorf("%+v is left, %v", left, err)
	}
}
