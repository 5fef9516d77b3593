package top

import (
	"maps"
	"slices"

	poddv1 "podd/proto/podd/v1"
)

// Fleet is all pods, as a watch tells of them.
type Fleet struct {
	pods map[string]*poddv1.WatchedPod
	// seen are those that podd sent since the watch began; nil once it is complete.
	seen map[string]bool
}

// NewFleet knows no pod yet.
func NewFleet() *Fleet {
	return &Fleet{pods: make(map[string]*poddv1.WatchedPod), seen: make(map[string]bool)}
}

// Lost says that the watch begins again.
func (f *Fleet) Lost() { f.seen = make(map[string]bool) }

// Take takes what podd sent.
func (f *Fleet) Take(m *poddv1.WatchResponse) {
	switch k := m.GetKind().(type) {
	case *poddv1.WatchResponse_Pod:
		id := k.Pod.GetPod().GetId()
		f.pods[id] = k.Pod
		if f.seen != nil {
			f.seen[id] = true
		}
	case *poddv1.WatchResponse_Removed:
		delete(f.pods, k.Removed)
	case *poddv1.WatchResponse_Complete:
		// What podd did not send again was deleted meanwhile.
		maps.DeleteFunc(f.pods, func(id string, _ *poddv1.WatchedPod) bool { return f.seen != nil && !f.seen[id] })
		f.seen = nil
	}
}

// Complete says whether all pods are known.
func (f *Fleet) Complete() bool { return f.seen == nil }

// Measured says whether all is known that podd tells only after a while: how fast models
// write, and how large the contexts of pods are that are not in its memory.
func (f *Fleet) Measured() bool {
	for _, p := range f.pods {
		work := p.GetWork()
		writes := p.GetPod().GetState() == poddv1.PodState_POD_STATE_RUNNING && len(work.GetTools()) == 0
		if writes && work.GetTokensPerSecond() == 0 || p.GetPod().GetTurn() > 0 && work.GetContextTokens() == 0 {
			return false
		}
	}
	return true
}

// Pod is the pod with an id; nil if there is none.
func (f *Fleet) Pod(id string) *poddv1.WatchedPod { return f.pods[id] }

// Pods are the pods, in no order.
func (f *Fleet) Pods() []*poddv1.WatchedPod { return slices.Collect(maps.Values(f.pods)) }
