package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"podd/pkg/client"
	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/wire"
)

// recorded is the log of a podd pod that had one turn with some calls.
func (r *rig) recorded(ctx context.Context, calls int) (log []item.Entry, err error) {
	session, err := r.podd.open(ctx)
	if err != nil {
		return nil, err
	}
	defer session.close()
	if _, err := session.turn(ctx, loop(calls)); err != nil {
		return nil, err
	}
	for m, err := range r.podd.client.Stream(ctx, client.StreamOptions{Pod: session.pod}) {
		if err != nil {
			return nil, err
		}
		if e := m.GetEntry(); e != nil {
			log = append(log, wire.EntryFromProto(e))
		}
	}
	return log, nil
}

// repeatTurn is a recorded turn with another number.
func repeatTurn(log []item.Entry, turn int64) []item.Entry {
	mark := func(id string) string { return fmt.Sprintf("%s-%d", id, turn) }
	out := make([]item.Entry, 0, len(log))
	for _, e := range log {
		e.Seq, e.Turn = 0, min(e.Turn*turn, turn)
		switch k := e.Kind.(type) {
		case item.Setup:
			if turn > 1 {
				continue
			}
		case item.Submitted:
			k.RequestID = mark(k.RequestID)
			e.Kind = k
		case item.TurnStarted:
			k.RequestIDs = []string{mark(k.RequestIDs[0])}
			e.Kind = k
		case item.ToolStarted:
			k.CallID = mark(k.CallID)
			e.Kind = k
		case item.ItemAdded:
			switch it := k.Item.(type) {
			case item.ToolCall:
				it.CallID = mark(it.CallID)
				e.Kind = item.ItemAdded{Item: it}
			case item.ToolResult:
				it.CallID = mark(it.CallID)
				e.Kind = item.ItemAdded{Item: it}
			}
		}
		out = append(out, e)
	}
	return out
}

// writer creates pods in a database that no podd has open.
type writer struct {
	store *store.Bolt
	work  string
}

// create creates an empty pod and claims it: a batch of it has an id and an epoch.
func (w writer) create(ctx context.Context, name string) (store.Batch, error) {
	now := time.Now().UTC()
	p := item.Pod{
		ID: "pod_" + name, Name: name, Spec: item.PodSpec{Dir: w.work}, CreatedAt: now,
		Status: item.PodStatus{State: item.StateIdle, LastActivity: now},
	}
	if err := w.store.CreatePod(ctx, p); err != nil {
		return store.Batch{}, err
	}
	epoch, err := w.store.Claim(ctx, p.ID)
	return store.Batch{Pod: p.ID, Epoch: epoch}, err
}

// make creates a pod whose log repeats the turn until it has the given number of entries.
func (w writer) make(ctx context.Context, name string, turn []item.Entry, entries int) error {
	b, err := w.create(ctx, name)
	for n, i := 0, int64(1); err == nil && n < entries; {
		b.Entries = nil
		for len(b.Entries) < 2000 && n+len(b.Entries) < entries {
			b.Entries = append(b.Entries, repeatTurn(turn, i)...)
			i++
		}
		n += len(b.Entries)
		b.Status = &item.PodStatus{State: item.StateIdle, Turn: i - 1, LastActivity: time.Now().UTC()}
		_, err = w.store.Append(ctx, b)
	}
	return err
}

// compact appends a compaction of all but the newest entries of a pod.
func (w writer) compact(ctx context.Context, name string) error {
	p, err := w.store.Pod(ctx, name)
	if err != nil {
		return err
	}
	epoch, err := w.store.Claim(ctx, p.ID)
	if err != nil {
		return err
	}
	// The last turn stays whole: it is shorter than a hundred entries.
	records, err := w.store.Read(ctx, p.ID, max(p.Last-100, 0), 0)
	if err != nil {
		return err
	}
	upTo := p.Last
	for _, r := range records {
		if wire.KindOf(r.Entry) == wire.KindTurnStarted {
			upTo = r.Seq - 1
		}
	}
	summary := item.SystemMessage{Origin: item.OriginCompaction, Text: strings.Repeat("What happened before. ", 50)}
	_, err = w.store.Append(ctx, store.Batch{
		Pod: p.ID, Epoch: epoch, Status: &p.Status,
		Entries: []item.Entry{{Time: time.Now(), Kind: item.Compaction{Summary: summary, UpTo: upTo, Reason: "the window is full"}}},
	})
	return err
}

// many calls f for 0 to n-1, several at once, so that they share commits.
func many(n int, f func(i int) error) error {
	const atOnce = 64
	var running sync.WaitGroup
	var first error
	var mu sync.Mutex
	for worker := range atOnce {
		running.Go(func() {
			for i := worker; i < n; i += atOnce {
				if err := f(i); err != nil {
					mu.Lock()
					first = err
					mu.Unlock()
					return
				}
			}
		})
	}
	running.Wait()
	return first
}
