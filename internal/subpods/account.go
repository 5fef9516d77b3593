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
}

// work is a sub-pod in the background, as the parent's log knows it.
type work struct {
	started
	// seq is the entry, which is pending until the end is told.
	seq item.Seq
	// outcome is how it ended, and told the entry that tells it; both are empty before that.
	outcome item.Outcome
	told    item.Seq
	// given says that it is known to have its task.
	given bool
}

// account is what the log of a pod that is in memory says of its sub-pods in the background. Only the wing writes such
// entries, so it also is what the log says now.
type account struct {
	// life is the pod's: another podd may write the log after it.
	life context.Context
	// spawning is held while a call starts a sub-pod, telling while the end of one is told.
	spawning, telling sync.Mutex
	// others are the pending entries that a fork has of its source. telling guards it.
	others []work

	// mu guards the fields below.
	mu    sync.Mutex
	works []work
	// changed is closed and replaced when a sub-pod has ended.
	changed chan struct{}
}

// account is that of a pod in memory.
func (w *Wing) account(ctx context.Context, p *pod.Hosted) (*account, error) {
	if a := w.known(p.Pod.ID); a != nil && a.life == p.Life() {
		return a, nil
	}
	works, err := w.read(ctx, p.Pod.ID)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if a := w.accounts[p.Pod.ID]; a != nil && a.life == p.Life() {
		return a, nil // What was written meanwhile is in that one.
	}
	a := &account{life: p.Life(), changed: make(chan struct{})}
	for _, s := range works {
		if s.Parent == p.Pod.ID {
			a.works = append(a.works, s)
		} else if s.told == 0 {
			a.others = append(a.others, s)
		}
	}
	w.accounts[p.Pod.ID] = a
	return a, nil
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

// known is the account of a pod in memory, by its id; nil if it was not read yet.
func (w *Wing) known(id string) *account {
	w.mu.Lock()
	defer w.mu.Unlock()
	if a := w.accounts[id]; a != nil && a.life.Err() == nil {
		return a
	}
	return nil
}

// forget makes the wing read the log again: it may say something else than the account.
func (w *Wing) forget(id string, a *account) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.accounts[id] == a {
		delete(w.accounts, id)
	}
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
				works[i].outcome, works[i].told = end.Outcome, e.Seq
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
	a.works = append(a.works, w)
}

// got records that a sub-pod has its task.
func (a *account) got(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if i := find(a.works, id); i >= 0 {
		a.works[i].given = true
	}
}

// end records that the end of a sub-pod is stored.
func (a *account) end(id string, outcome item.Outcome, told item.Seq) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if i := find(a.works, id); i >= 0 {
		a.works[i].outcome, a.works[i].told = outcome, told
	}
	close(a.changed)
	a.changed = make(chan struct{})
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
func (s work) ends(line string, outcome item.Outcome) (item.WingEntry, error) {
	k, err := entryOf(kindEnded, line, ended{Parent: s.Parent, Pod: s.Pod, Outcome: outcome})
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
