package main

import (
	"podd/internal/clients/top"
	poddv1 "podd/proto/podd/v1"
)

// The tools whose calls wait for sub-pods: for that of the call, and for those in the background.
const (
	spawnTool = "spawn_pod"
	waitTool  = "wait_for"
)

// family is what podctl knows of the sub-pods below a followed pod.
type family struct {
	// top is the id of the followed pod.
	top string
	// fleet is all pods; nil until there is a reason to watch them.
	fleet *top.Fleet
	// calls are the calls that the stream showed and that may have sub-pods, with their turns.
	calls map[string]int64
	// waits are the calls that wait for sub-pods in the background, with their turns.
	waits map[string]int64
	// due is the sequence that the stream has to reach before calls that wait are asked about; 0 if none is left out.
	due int64
}

// take takes what the watch said. It returns whether to look for calls that wait.
func (f *family) take(m *poddv1.WatchResponse) bool {
	f.fleet.Take(m)
	if !f.fleet.Complete() {
		return false
	}
	if k, ok := m.GetKind().(*poddv1.WatchResponse_Pod); ok {
		return f.child(k.Pod.GetPod().GetId()) != nil
	}
	return true
}

// started records a call that waits for a sub-pod. It returns whether to look for calls that wait.
func (f *family) started(e *poddv1.Entry) bool {
	k := e.GetToolStarted()
	if k.GetTool() == waitTool {
		f.waits[k.GetCallId()] = e.GetTurn()
	} else {
		f.calls[k.GetCallId()] = e.GetTurn()
	}
	if f.fleet == nil {
		f.fleet = top.NewFleet()
	}
	return k.GetTool() == waitTool && f.fleet.Complete()
}

// ended forgets a call that waited.
func (f *family) ended(call string) { delete(f.waits, call) }

// caller is the turn of the followed pod that waits for a sub-pod, or for one above it; 0 if the stream did not show it.
func (f *family) caller(id string) int64 {
	if call := f.child(id).GetSpec().GetParentCall(); call != "" {
		return f.calls[call]
	}
	for _, turn := range f.waits {
		return turn
	}
	return 0
}

// child is the sub-pod of the followed pod that a pod is, or is below; nil for another pod, and for one in the background
// that no wait_for waits for. After its first turn a sub-pod has done its task: its later turns keep no parent waiting.
func (f *family) child(id string) *poddv1.Pod {
	for f.fleet != nil {
		pod := f.fleet.Pod(id).GetPod()
		switch parent := pod.GetSpec().GetParent(); {
		case parent == "" || pod.GetTurn() > 1 || pod.GetSpec().GetParentCall() == "" && len(f.waits) == 0:
			return nil
		case parent == f.top:
			return pod
		default:
			id = parent
		}
	}
	return nil
}

// waiting are the sub-pods with calls that wait.
func (f *family) waiting() (pods []*poddv1.Pod) {
	for _, w := range f.fleet.Pods() {
		if w.GetApprovals() > 0 && f.child(w.GetPod().GetId()) != nil {
			pods = append(pods, w.GetPod())
		}
	}
	return pods
}
