package pod

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"podd/pkg/hook"
	"podd/pkg/item"
)

// MovePod gives a pod of another node, with its sub-pods, to this one, where their workspace is
// in dir if that isn't empty. take changes the owner in the store, or lets the node that has
// them do so, and refuses pods that may still run. Their turns and submits then go on here.
func (h *Host) MovePod(ctx context.Context, idOrName, dir string, take func(context.Context, []item.Pod) error) (item.Pod, error) {
	top, err := h.Store.Pod(ctx, idOrName)
	if err != nil {
		return item.Pod{}, err
	}
	if top.Spec.Parent != "" {
		return item.Pod{}, item.Errorf(item.KindPrecondition, "SUBPOD", "pod %s moves with the pod that spawned it: move pod %s", top.Name, top.Spec.Parent)
	}
	family := []item.Pod{top}
	for i := 0; i < len(family); i++ {
		children, err := h.Family.Children(ctx, family[i].ID)
		if err != nil {
			return item.Pod{}, err
		}
		family = append(family, children...)
	}
	for i := range family {
		spec := family[i].Spec
		if dir != "" {
			spec = inDir(spec, top.Spec.Dir, dir)
			spec.Checkout = item.Checkout{} // It stays on its node.
		}
		resolve, err := h.Workspaces.Check(spec, item.PodSpec{})
		if err != nil {
			return item.Pod{}, err
		}
		family[i].Spec = resolve(spec, item.PodSpec{})
	}
	if err := take(ctx, family); err != nil {
		h.pods.start(func() { h.awaitPods(family) })
		return item.Pod{}, err
	}
	for _, p := range family {
		h.listeners.changed(hook.PodUpdated, p.ID, p.Name)
	}
	h.pods.start(func() { h.recoverUnfinished(family) })
	return h.Store.Pod(ctx, top.ID)
}

// AdoptPods goes on with pods that this node took over.
func (h *Host) AdoptPods(ids []string) {
	h.pods.start(func() {
		for {
			pods, err := h.Store.Pods(h.base)
			if err == nil {
				pods = slices.DeleteFunc(pods, func(p item.Pod) bool { return p.Node != h.Node || !slices.Contains(ids, p.ID) })
				for _, p := range pods {
					h.listeners.changed(hook.PodUpdated, p.ID, p.Name)
				}
				h.recoverUnfinished(pods)
				return
			}
			if !h.pods.sleep(pollEvery) {
				return
			}
		}
	})
}

// awaited is how long pods may arrive after the answer of the node that had them was lost.
const awaited = time.Minute

// awaitPods goes on with pods that arrive although the move failed: the answer was lost.
func (h *Host) awaitPods(family []item.Pod) {
	for until := time.Now().Add(awaited); time.Now().Before(until); {
		if top, err := h.Store.Pod(h.base, family[0].ID); err == nil && top.Node == h.Node {
			h.recoverUnfinished(family)
			return
		}
		if !h.pods.sleep(pollEvery) {
			return
		}
	}
}

// recoverUnfinished loads those pods that have something to do.
func (h *Host) recoverUnfinished(pods []item.Pod) {
	var late []item.Pod
	for _, p := range pods {
		if !unfinished(p) {
			continue
		}
		if err := h.recover(h.base, p); passes(err) {
			late = append(late, p)
			h.pods.setLate(p.ID, err)
		}
	}
	h.recoverLate(late)
}

// inDir is a spec whose paths below one directory are below another.
func inDir(spec item.PodSpec, from, to string) item.PodSpec {
	at := func(path string) string {
		if rest, below := strings.CutPrefix(path, from); below && (rest == "" || strings.HasPrefix(rest, "/")) {
			return filepath.Join(to, rest)
		}
		return path
	}
	all := func(paths []string) (moved []string) {
		for _, path := range paths {
			moved = append(moved, at(path))
		}
		return moved
	}
	spec.Dir, spec.Read, spec.Write = at(spec.Dir), all(spec.Read), all(spec.Write)
	return spec
}
