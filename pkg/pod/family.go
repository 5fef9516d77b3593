package pod

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"
)

// MaxDepth is the maximum number of pods above one: a pod that a person created spawns
// pods, which spawn pods, which spawn pods.
const MaxDepth = 3

// recallTime bounds how long the turn of a sub-pod may take to end once it is cancelled.
const recallTime = 30 * time.Second

// Family knows which pods spawned which. Its methods may be called from any goroutine.
type Family struct {
	store store.Store
	pods  *loaded
}

// Ancestors are the pods above one, its parent first.
func (f *Family) Ancestors(ctx context.Context, spec item.PodSpec) ([]item.Pod, error) {
	var above []item.Pod
	for spec.Parent != "" && len(above) <= MaxDepth {
		p, err := f.store.Pod(ctx, spec.Parent)
		if err != nil {
			return nil, err
		}
		above = append(above, p)
		spec = p.Spec
	}
	return above, nil
}

// Children are a pod's sub-pods.
func (f *Family) Children(ctx context.Context, id string) ([]item.Pod, error) {
	pods, err := f.store.Pods(ctx)
	return slices.DeleteFunc(pods, func(p item.Pod) bool { return p.Spec.Parent != id }), err
}

// Watch reports whether a pod's turn waits, now and at each change, until stop is called.
// Meanwhile the pod stays loaded. tell must not block.
func (f *Family) Watch(ctx context.Context, id string, tell func(waits bool)) (stop func(), err error) {
	a, release, err := f.pods.acquire(ctx, id)
	if err != nil {
		return nil, err
	}
	unwatch := a.presence.activity.watch(tell)
	return func() {
		unwatch()
		release()
	}, nil
}

// Recall withdraws its task from a sub-pod: from its inbox, or by cancelling the turn
// that works on it, and waits for the turn's end. turn is that turn's number, 0 if
// unknown.
func (f *Family) Recall(ctx context.Context, id string, turn int64, reason string) error {
	ctx, cancel := context.WithTimeout(ctx, recallTime)
	defer cancel()
	a, release, err := f.pods.acquire(ctx, id)
	if err != nil {
		return err
	}
	defer release()
	return a.mailbox.recall(ctx, turn, reason)
}

// disown ends the turns of sub-pods that no call waits for any more: those of the calls
// of an ended turn. Usually they have ended before it, unless podd could not cancel them:
// because the tool is gone, or the turn was given up after several crashes. Sub-pods that
// are not in memory ask when they are loaded.
func (f *Family) disown(parent string) {
	for _, a := range f.pods.all() {
		if a.task.parent == parent {
			f.pods.work.Go(a.mailbox.disowned)
		}
	}
}

// waitsFor says whether the call that spawned a pod waits for it.
func (f *Family) waitsFor(ctx context.Context, spec item.PodSpec) (waits bool, err error) {
	parent, release, err := f.pods.acquire(ctx, spec.Parent)
	if err != nil {
		return false, err
	}
	defer release()
	err = parent.mailbox.do(ctx, func() { waits = parent.journal.state.Turn.HasCall(spec.ParentCall) })
	return waits, err
}

// TaskID is the request id of a sub-pod's task: it identifies the call that spawned the
// pod.
func TaskID(spec item.PodSpec) string {
	sum := sha256.Sum256([]byte(spec.Parent + "\x00" + spec.ParentCall))
	return "spawn-" + hex.EncodeToString(sum[:16])
}

// Workspace is the directory that a pod's rules and the configuration of its workspace
// are about: that of the pod at the top of its family.
func (h *Host) Workspace(ctx context.Context, idOrName string) (string, error) {
	rec, err := h.Get(ctx, idOrName)
	if err != nil {
		return "", err
	}
	above, err := h.Family.Ancestors(ctx, rec.Spec)
	if err != nil || len(above) == 0 {
		return rec.Spec.Dir, err
	}
	return above[len(above)-1].Spec.Dir, nil
}

// EndFamily ends a pod and then its sub-pods, which it spawns no more of. None of them is
// loaded again until done is called.
func (h *Host) EndFamily(ctx context.Context, rec item.Pod) (family []item.Pod, done func(), err error) {
	var undo []func()
	done = func() {
		for _, u := range undo {
			u()
		}
	}
	family = []item.Pod{rec}
	for i := 0; i < len(family); i++ {
		h.loadUnfinished(ctx, family[i])
		ended, err := h.end(ctx, family[i])
		if err != nil {
			return nil, done, err
		}
		undo = append(undo, ended)
		children, err := h.Family.Children(ctx, family[i].ID)
		if err != nil {
			return nil, done, err
		}
		family = append(family, children...)
	}
	return family, done, nil
}

// end ends a pod that is deleted, and lets the wings look at it. It is not loaded again until done is called.
func (h *Host) end(ctx context.Context, rec item.Pod) (done func(), err error) {
	done, err = h.pods.end(ctx, rec)
	if err != nil {
		return nil, err
	}
	for _, w := range h.wings {
		w.Deleting(ctx, rec)
	}
	return done, nil
}

// loadUnfinished loads a pod that has something to end, if it can be loaded.
func (h *Host) loadUnfinished(ctx context.Context, p item.Pod) {
	if a, _ := h.pods.find(p.ID); a != nil || !unfinished(p) {
		return
	}
	if _, release, err := h.pods.acquire(ctx, p.ID); err == nil {
		release()
	}
}
