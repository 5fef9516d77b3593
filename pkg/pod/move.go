package pod

import (
	"slices"
	"time"

	"podd/pkg/hook"
	"podd/pkg/item"
)

// pollEvery is how often the store is asked whether pods have arrived.
const pollEvery = time.Second

// awaited is how long pods may arrive after the answer of the node that had them was lost.
const awaited = time.Minute

// AdoptPods goes on with pods that this node gets, as soon as the store says that it has them.
func (h *Host) AdoptPods(ids []string) {
	h.pods.start(func() {
		left := slices.Clone(ids)
		for until := time.Now().Add(awaited); len(left) > 0; {
			pods, err := h.Store.Pods(h.base)
			pods = slices.DeleteFunc(pods, func(p item.Pod) bool { return p.Node != h.Node || !slices.Contains(left, p.ID) })
			for _, p := range pods {
				h.listeners.changed(hook.PodUpdated, p.ID, p.Name)
				left = slices.DeleteFunc(left, func(id string) bool { return id == p.ID })
			}
			_ = h.Continue(h.base, pods...)
			if len(left) > 0 && (err == nil && time.Now().After(until) || !h.pods.sleep(pollEvery)) {
				return
			}
		}
	})
}
