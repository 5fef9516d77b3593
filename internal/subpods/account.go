package subpods

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/wire"
	"podd/pkg/worker"
)

// The names of the wing and of its kinds of entries. They are in logs, so they never change.
const (
	wingName    = "subpods"
	kindStarted = "started"
	kindEnded   = "ended"
)

// started is the object of an entry in the parent's log: a call started a sub-pod in the background. Fields may be added;
// those of stored entries keep their meaning.
type started struct {
	// Parent is the id of the pod that the call is of: a fork has the entry too, and not the sub-pod.
	Parent string `json:"parent"`
	Call   string `json:"call"`
	Turn   int64  `json:"turn"`
	// Pod and Name are the sub-pod's.
	Pod  string `json:"pod"`
	Name string `json:"name"`
	// Tokens and Cost are its share of what all turns of the parent may use; 0 without such a limit.
	Tokens int64   `json:"tokens,omitempty"`
	Cost   float64 `json:"cost,omitempty"`
	// Hops is which letter the one about its end is, of those that led to each other.
	Hops int `json:"hops"`
}

// ended is the object of an entry in the parent's log: the end of a sub-pod was told.
type ended struct {
	Parent  string       `json:"parent"`
	Pod     string       `json:"pod"`
	Outcome item.Outcome `json:"outcome"`
	// NoTask says that it never had its task: no letter tells its end, but the result of the call.
	NoTask bool `json:"no_task,omitempty"`
}

// work is a sub-pod in the background, as the parent's log knows it.
type work struct {
	started
	// seq is the entry, which is pending until the end is told.
	seq item.Seq
	// outcome is how it ended, and told the entry that tells it; both are empty before that.
	outcome item.Outcome
	told    item.Seq
	// noTask says that it ended without its task.
	noTask bool
}

// account is what the log of a pod that is in memory says of its sub-pods in the background. Only the wing writes such
// entries, so it also is what the log says now, unless a write failed.
type account struct {
	// life is the pod's: another podd may write the log after it.
	life context.Context
	// A call that starts a sub-pod holds spawning. Whoever reads the log, or stores the end of a sub-pod, holds telling.
	spawning, telling baton
	// swept says that sub-pods without an entry were removed. spawning guards it.
	swept bool
	// others are the pending entries that a fork has of its source. telling guards it.
	others []work

	// mu guards the fields below.
	mu    sync.Mutex
	works []work
	// read says that it is what the log says. It is written with telling, too.
	read bool
	// changed is closed and replaced when a sub-pod has ended.
	changed chan struct{}
}

// baton is a lock whose holder may write to the log. A context ends the wait for it.
type baton chan struct{}

// take waits for the baton.
func (b baton) take(ctx context.Context) (leave func(), err error) {
	select {
	case b <- struct{}{}:
		return func() { <-b }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// account is that of a pod in memory. It stays the same one as long as the pod does: others hold it.
func (w *Wing) account(ctx context.Context, p *pod.Hosted) (*account, error) {
	w.mu.Lock()
	a := w.accounts[p.Pod.ID]
	if a == nil || a.life != p.Life() {
		a = &account{life: p.Life(), spawning: make(baton, 1), telling: make(baton, 1), changed: make(chan struct{})}
		// After its life another one may have begun, whose account stays.
		if a.life.Err() == nil {
			w.accounts[p.Pod.ID] = a
		}
	}
	w.mu.Unlock()
	if a.isRead() {
		return a, nil
	}
	leave, err := a.telling.take(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if a.isRead() {
		return a, nil
	}
	works, err := w.read(ctx, p.Pod.ID)
	if err != nil {
		return nil, err
	}
	a.take(p.Pod.ID, works)
	return a, nil
}

func (a *account) isRead() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.read
}

// take takes what the log of the pod says. A sub-pod that was started since stays. telling is held.
func (a *account) take(parent string, works []work) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.read, a.others = true, nil
	for _, s := range works {
		i := find(a.works, s.Pod)
		switch {
		case s.Parent != parent && s.told == 0:
			a.others = append(a.others, s)
		case s.Parent == parent && i < 0:
			a.works = append(a.works, s)
		case s.Parent == parent:
			a.works[i] = s
		}
	}
	a.notify()
}

// notify wakes those who wait for the end of a sub-pod. mu is held.
func (a *account) notify() {
	close(a.changed)
	a.changed = make(chan struct{})
}

// doubt has the log read again, for a write failed: the log may have it. telling is held.
func (a *account) doubt() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.read = false
}

// open loads a pod, which stays in memory until release is called, with its account.
func (w *Wing) open(ctx context.Context, id string) (p *pod.Hosted, a *account, release func(), err error) {
	p, release, err = w.Host.Keep(ctx, id)
	if err != nil {
		return nil, nil, nil, err
	}
	if a, err = w.account(ctx, p); err != nil {
		release()
		return nil, nil, nil, err
	}
	return p, a, release, nil
}

// known is the account of a pod in memory, by its id; nil if it is not what the log says.
func (w *Wing) known(id string) *account {
	w.mu.Lock()
	defer w.mu.Unlock()
	if a := w.accounts[id]; a != nil && a.life.Err() == nil && a.isRead() {
		return a
	}
	return nil
}

// read reads what a pod's log says of sub-pods in the background. What a rewind undid was started all the same.
func (w *Wing) read(ctx context.Context, id string) (works []work, err error) {
	wings := func(k wire.KindNumber) bool { return k == wire.KindWing }
	err = w.Host.Logs.Entries(ctx, id, 0, wings, func(e item.Entry) bool {
		if s, ok := decode[started](e, kindStarted); ok {
			works = append(works, work{started: s, seq: e.Seq})
		}
		if end, ok := decode[ended](e, kindEnded); ok {
			if i := find(works, end.Pod); i >= 0 {
				works[i].outcome, works[i].told, works[i].noTask = end.Outcome, e.Seq, end.NoTask
			}
		}
		return true
	})
	return works, err
}

func find(works []work, id string) int {
	return slices.IndexFunc(works, func(w work) bool { return w.Pod == id })
}

// all are the sub-pods.
func (a *account) all() []work {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.works)
}

// find is a sub-pod, if the log has it.
func (a *account) find(id string) (w work, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if i := find(a.works, id); i >= 0 {
		return a.works[i], true
	}
	return w, false
}

// next is a channel that is closed when one more has ended.
func (a *account) next() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.changed
}

// add records a sub-pod whose start is stored.
func (a *account) add(w work) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if find(a.works, w.Pod) < 0 {
		a.works = append(a.works, w)
	}
}

// end records that the end of a sub-pod is stored.
func (a *account) end(id string, outcome item.Outcome, told item.Seq) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if i := find(a.works, id); i >= 0 {
		a.works[i].outcome, a.works[i].told = outcome, told
	}
	a.notify()
}

// reserved is what the sub-pods in the background keep of what all turns of a pod may use.
func (w *Wing) reserved(ctx context.Context, id string) (sum worker.Reserved, err error) {
	a := w.known(id)
	if a == nil {
		var release func()
		if _, a, release, err = w.open(ctx, id); err != nil {
			return sum, fmt.Errorf("cannot read what sub-pods in the background reserve: %w", err)
		}
		release()
	}
	for _, s := range a.all() {
		if s.told == 0 {
			sum.Tokens, sum.Cost = item.Sum(sum.Tokens, s.Tokens), sum.Cost+s.Cost
		}
	}
	return sum, nil
}

// ends is the entry that says that a sub-pod ended.
func (s work) ends(line string, outcome item.Outcome, noTask bool) (item.WingEntry, error) {
	k, err := entryOf(kindEnded, line, ended{Parent: s.Parent, Pod: s.Pod, Outcome: outcome, NoTask: noTask})
	k.Done = s.seq
	return k, err
}

// entryOf is an entry of the wing.
func entryOf(kind, line string, object any) (item.WingEntry, error) {
	data, err := json.Marshal(object)
	if err != nil {
		err = fmt.Errorf("the entry of a sub-pod can't be written: %w", err)
	}
	return item.WingEntry{Wing: wingName, Name: kind, Line: line, Data: string(data)}, err
}

// decode is the object of an entry of the wing.
func decode[T any](e item.Entry, kind string) (object T, ok bool) {
	k, _ := e.Kind.(item.WingEntry)
	if k.Wing != wingName || k.Name != kind {
		return object, false
	}
	return object, json.Unmarshal([]byte(k.Data), &object) == nil
}
