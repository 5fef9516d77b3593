package server

import (
	"context"
	"slices"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"podd/internal/fleet"
	"podd/internal/guard/devices"
	"podd/pkg/item"
	"podd/pkg/pod"
	poddv1 "podd/proto/podd/v1"
)

// reach is what the browser of one call may know of: some pods and their sub-pods. A nil one
// is everything.
type reach struct {
	host *pod.Host
	// pods are ids: a pod that gets the name of one of these is another pod.
	pods []string

	mu sync.Mutex
	// known are the ids that were looked up, for a pod never gets another parent.
	known map[string]bool
}

// reachOf is the reach of a device's call.
func (g webGate) reachOf(d devices.Device) *reach {
	if len(d.Pods) == 0 {
		return nil
	}
	return &reach{host: g.host, pods: d.Pods, known: map[string]bool{}}
}

// reachKey is the key of a call's *reach.
type reachKey struct{}

func withReach(ctx context.Context, r *reach) context.Context {
	return context.WithValue(ctx, reachKey{}, r)
}

// ReachesSome says whether a call reaches only some pods, such as one of a browser that is paired for these.
func ReachesSome(ctx context.Context) bool { return reaching(ctx) != nil }

// reaching is the reach of a call. Calls of clients have none, and so reach everything.
func reaching(ctx context.Context) *reach {
	r, _ := ctx.Value(reachKey{}).(*reach)
	return r
}

// id says whether a pod is within reach. The daemon itself, the empty id, is not.
func (r *reach) id(ctx context.Context, id string) bool {
	if r == nil || slices.Contains(r.pods, id) {
		return true
	}
	if id == "" {
		return false
	}
	r.mu.Lock()
	within, known := r.known[id]
	r.mu.Unlock()
	if known {
		return within
	}
	p, err := r.host.Get(ctx, id)
	if err != nil {
		return false
	}
	return r.pod(ctx, p)
}

// pod is id for a pod that was read.
func (r *reach) pod(ctx context.Context, p item.Pod) bool {
	if r == nil || slices.Contains(r.pods, p.ID) {
		return true
	}
	above, err := r.host.Family.Ancestors(ctx, p.Spec)
	if err != nil {
		return false
	}
	within := slices.ContainsFunc(above, func(a item.Pod) bool { return slices.Contains(r.pods, a.ID) })
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known[p.ID] = within
	return within
}

// within are the pods of a list within reach.
func (r *reach) within(ctx context.Context, list []item.Pod) []item.Pod {
	if r == nil {
		return list
	}
	return slices.DeleteFunc(list, func(p item.Pod) bool { return !r.pod(ctx, p) })
}

// only is pod for a query; nil if everything is within reach.
func (r *reach) only(ctx context.Context) func(item.Pod) bool {
	if r == nil {
		return nil
	}
	return func(p item.Pod) bool { return r.pod(ctx, p) }
}

// onlyID is id for a query; nil if everything is within reach.
func (r *reach) onlyID(ctx context.Context) func(string) bool {
	if r == nil {
		return nil
	}
	return func(id string) bool { return r.id(ctx, id) }
}

// sorted are the calls about several pods that answer only what is within reach.
var sorted = map[string]bool{
	poddv1.AdminService_GetStatus_FullMethodName:        true,
	poddv1.AlertService_AckAlerts_FullMethodName:        true,
	poddv1.AlertService_ListAlerts_FullMethodName:       true,
	poddv1.AlertService_StreamAlerts_FullMethodName:     true,
	poddv1.ApprovalService_ListApprovals_FullMethodName: true,
	poddv1.FleetService_GetUsageSeries_FullMethodName:   true,
	poddv1.FleetService_ListNodes_FullMethodName:        true,
	poddv1.FleetService_Search_FullMethodName:           true,
	poddv1.FleetService_Watch_FullMethodName:            true,
	poddv1.PodService_ListPods_FullMethodName:           true,
}

// narrow refuses a request about a pod that is out of reach, and one that names no pod unless
// its answer is sorted. Then the request has the pod's id, whatever name it gets meanwhile.
func (r *reach) narrow(ctx context.Context, method string, req any) error {
	named := fleet.PodOf(req)
	switch {
	case r == nil || named == "" && sorted[method]:
		return nil
	case named == "":
		return item.Errorf(item.KindDenied, "DEVICE_PODS", "this browser was let in to some pods only, and this is about all: pair it with podctl web pair without --pod")
	}
	p, err := r.host.Get(ctx, named)
	if err != nil || !r.pod(ctx, p) {
		// The same for a pod that does not exist: names are out of reach too.
		return item.Errorf(item.KindDenied, "DEVICE_PODS", "this browser was not let in to a pod %q: pair it with podctl web pair --pod", named)
	}
	m := req.(proto.Message).ProtoReflect()
	m.Set(m.Descriptor().Fields().ByName("pod"), protoreflect.ValueOfString(p.ID))
	return nil
}

// acks refuses to acknowledge alerts that are out of reach.
func (r *reach) acks(ctx context.Context, seqs []int64) error {
	if r == nil {
		return nil
	}
	for _, seq := range seqs {
		list, err := r.host.Alerts.List(ctx, pod.AlertQuery{After: item.Seq(seq) - 1, Limit: 1})
		if err != nil {
			return err
		}
		if len(list) == 0 || int64(list[0].Seq) != seq || !r.id(ctx, list[0].Pod) {
			return item.Errorf(item.KindDenied, "DEVICE_PODS", "this browser was not let in to the pod of the alert %d", seq)
		}
	}
	return nil
}

// sort removes from an answer what is out of reach. Other nodes sent parts of it.
func (r *reach) sort(ctx context.Context, resp any) {
	if r == nil {
		return
	}
	switch m := resp.(type) {
	case *poddv1.ListApprovalsResponse:
		m.Approvals = slices.DeleteFunc(m.GetApprovals(), func(a *poddv1.Approval) bool { return !r.id(ctx, a.GetPod()) })
	case *poddv1.ListNodesResponse:
		for _, n := range m.GetNodes() {
			n.Pods, n.Running = 0, 0
		}
	case *poddv1.GetStatusResponse:
		m.PodsLoaded, m.PodsRunning, m.Jobs, m.Spending = 0, 0, 0, nil
	}
}
