package triggers_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"podd/internal/triggers"
	"podd/pkg/item"
	"podd/pkg/store"
)

// filling is a store that has no space until it is freed. refused tells of each write that it refuses.
type filling struct {
	store.Store
	freed   atomic.Bool
	refused chan struct{}
}

// Append refuses while there is no space.
func (f *filling) Append(ctx context.Context, b store.Batch) (store.Appended, error) {
	if f.freed.Load() {
		return f.Store.Append(ctx, b)
	}
	select {
	case f.refused <- struct{}{}:
	default:
	}
	return full{}.Append(ctx, b)
}

// A time that comes while the disk is full has its receipt later, and fires once.
func TestDueOnAFullDisk(t *testing.T) {
	h := newHouse(t)
	h.set(triggers.Spec{Every: 10 * time.Minute}, false)
	h.stop()
	f := &filling{refused: make(chan struct{}, 1)}
	h.under = func(s store.Store) store.Store {
		f.Store = s
		return f
	}
	h.mu.Lock()
	h.now = begin.Add(10 * time.Minute)
	h.mu.Unlock()
	h.open()
	<-f.refused
	h.receipts("")
	f.freed.Store(true)
	h.at(10 * time.Minute)
	h.receipts("12:10 fired 1 finished")
	h.at(20 * time.Minute)
	h.receipts("12:10 fired 1 finished", "12:20 fired 2 finished")
}

// Many triggers that are due at once have one receipt each, and podd answers meanwhile; a pod whose inbox is full gets its
// fires later.
func TestManyDueAtOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	pods, each := 10, 100
	if testing.Short() {
		pods, each = 2, 15
	}
	for p := range pods {
		name := fmt.Sprintf("p%d", p)
		_, err := h.host.Create(t.Context(), name, item.PodSpec{Dir: t.TempDir()})
		check(t, err)
		for n := range each {
			_, err := h.wing.Set(t.Context(), triggers.Setting{Pod: name, Name: fmt.Sprintf("t%d", n), Spec: triggers.Spec{Prompt: "work", At: begin.Add(time.Hour)}})
			check(t, err)
		}
	}
	h.set(triggers.Spec{Event: true}, false)
	h.at(time.Hour)
	for p := range pods {
		_, err := h.wing.Pause(t.Context(), fmt.Sprintf("p%d", p), "t0", "nobody", true) // This wakes the wing.
		check(t, err)
	}
	_, _, err := h.wing.Fire(t.Context(), triggers.Event{Pod: "site", Name: "t"})
	check(t, err)
	h.receipts("13:00 fired 1 finished")
	for p := range pods {
		name := fmt.Sprintf("p%d", p)
		h.await(fmt.Sprint(each), func() string {
			done := 0
			all, err := h.wing.List(t.Context(), name)
			check(t, err)
			for _, one := range all {
				if one.Fires > 1 {
					t.Fatalf("trigger %s of pod %s fired %d times", one.Name, name, one.Fires)
				}
				if one.Waiting+one.Working == 0 && one.Fires == 1 {
					done++
				}
			}
			return fmt.Sprint(done)
		})
		for n := range each {
			all, err := h.wing.Receipts(t.Context(), name, fmt.Sprintf("t%d", n), 0, time.Time{})
			check(t, err)
			if len(all) != 1 || shown(all[0]) != "13:00 fired 1 finished" {
				t.Fatalf("the receipts of trigger t%d of pod %s are %+v", n, name, all)
			}
		}
	}
}
