package pod_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"
)

// gates hold what podd is about to do until the test lets it go on: a write, a request to the model, a call of a tool. Those of
// a podd that was killed let nothing through any more.
type gates struct {
	mu sync.Mutex
	// free lets everything through, dead nothing.
	free, dead bool
	waiting    []*halt
	// pods are short names of the pods, in the order in which they were seen.
	pods map[string]string
}

// halt is one that waits. Its verdict is nil to go on, errKilled, errLost or another error that podd gets.
type halt struct {
	what    string
	model   bool
	batch   store.Batch
	verdict chan error
}

// errLost lets a write through and kills podd before it learns that.
var errLost = fmt.Errorf("%w after a write", errKilled)

// pass waits until the test lets podd go on, or until the caller gives up.
func (g *gates) pass(ctx context.Context, w *halt, pod string) error {
	g.mu.Lock()
	if g.dead || g.free {
		defer g.mu.Unlock()
		if g.dead {
			return errKilled
		}
		return nil
	}
	if g.pods[pod] == "" {
		g.pods[pod] = fmt.Sprintf("pod%d", len(g.pods))
	}
	w.what, w.verdict = g.pods[pod]+" "+w.what, make(chan error, 1)
	g.waiting = append(g.waiting, w)
	g.mu.Unlock()
	select {
	case err := <-w.verdict:
		return err
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting = slices.DeleteFunc(g.waiting, func(other *halt) bool { return other == w })
	if g.dead {
		return errKilled
	}
	return context.Cause(ctx)
}

// list are those that wait.
func (g *gates) list() []*halt {
	g.mu.Lock()
	defer g.mu.Unlock()
	slices.SortStableFunc(g.waiting, func(a, b *halt) int { return cmp.Compare(a.what, b.what) })
	return slices.Clone(g.waiting)
}

// let gives one that waits its verdict.
func (g *gates) let(w *halt, verdict error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := slices.Index(g.waiting, w); i >= 0 {
		g.waiting = slices.Delete(g.waiting, i, i+1)
		w.verdict <- verdict
	}
}

// open lets everything through from now on.
func (g *gates) open() {
	g.mu.Lock()
	g.free = true
	g.mu.Unlock()
	for _, w := range g.list() {
		g.let(w, nil)
	}
}

// die kills podd. lost says which of its writes are stored nevertheless. It returns those that are not.
func (g *gates) die(lost func() bool) (late []store.Batch) {
	all := g.list()
	g.mu.Lock()
	g.dead, g.free = true, false
	g.mu.Unlock()
	for _, w := range all {
		switch {
		case lost():
			g.let(w, errLost)
		default:
			g.let(w, errKilled)
			if w.batch.Pod != "" {
				late = append(late, w.batch)
			}
		}
	}
	return late
}

// gatedStore is the real store behind gates.
type gatedStore struct {
	store.Store
	gates *gates
}

// through does a write that a gate lets through.
func through(ctx context.Context, s gatedStore, w *halt, pod string, write func() error) error {
	switch err := s.gates.pass(ctx, w, pod); err {
	case nil:
		return write()
	case errLost:
		_ = write()
		return err
	default:
		return err
	}
}

// Append waits at a gate.
func (s gatedStore) Append(ctx context.Context, b store.Batch) (appended store.Appended, err error) {
	var kinds []string
	for _, e := range b.Entries {
		kinds = append(kinds, strings.TrimPrefix(fmt.Sprintf("%T", e.Kind), "item."))
	}
	err = through(ctx, s, &halt{what: fmt.Sprintf("stores %s", kinds), batch: b}, b.Pod, func() (err error) {
		appended, err = s.Store.Append(ctx, b)
		return err
	})
	return appended, err
}

// Claim waits at a gate.
func (s gatedStore) Claim(ctx context.Context, pod string) (epoch store.Epoch, err error) {
	err = through(ctx, s, &halt{what: "claims"}, pod, func() (err error) {
		epoch, err = s.Store.Claim(ctx, pod)
		return err
	})
	return epoch, err
}

// CreatePod waits at a gate.
func (s gatedStore) CreatePod(ctx context.Context, p item.Pod) error {
	return through(ctx, s, &halt{what: "is created"}, p.ID, func() error { return s.Store.CreatePod(ctx, p) })
}

// Fork waits at a gate.
func (s gatedStore) Fork(ctx context.Context, parent string, at item.Seq, p item.Pod) error {
	return through(ctx, s, &halt{what: "forks"}, parent, func() error { return s.Store.Fork(ctx, parent, at, p) })
}

// TrashPods waits at a gate.
func (s gatedStore) TrashPods(ctx context.Context, ids []string, at time.Time) error {
	return through(ctx, s, &halt{what: "is deleted"}, ids[0], func() error { return s.Store.TrashPods(ctx, ids, at) })
}

// RestorePod waits at a gate.
func (s gatedStore) RestorePod(ctx context.Context, id, name string) error {
	return through(ctx, s, &halt{what: "is restored"}, id, func() error { return s.Store.RestorePod(ctx, id, name) })
}
