package fleet

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/tap"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"podd/internal/sanitize"
	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/store"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// route says where a call about a pod of another node is answered.
type route int

const (
	// here is the node where it came in: the database has the answer.
	here route = iota
	// there is the pod's node; a call that may have been done is not sent again.
	there
	// thereAgain is the pod's node; the call does no harm twice.
	thereAgain
	// thereOrHere is the pod's node or, while that does not answer, this one.
	thereOrHere
	// anywhere is all nodes, or the pod's if the call names one.
	anywhere
)

// routes has the calls that are not answered where they came in.
var routes = map[string]route{
	poddv1.ApprovalService_GetApprovalRule_FullMethodName: thereAgain,
	poddv1.ApprovalService_ListApprovals_FullMethodName:   anywhere,
	poddv1.ApprovalService_RemoveRule_FullMethodName:      there,
	poddv1.ApprovalService_ResolveApproval_FullMethodName: there,
	poddv1.CheckoutService_ApplyCheckout_FullMethodName:   there,
	poddv1.CheckoutService_LandCheckout_FullMethodName:    there,
	poddv1.CheckoutService_RunCheck_FullMethodName:        there,
	poddv1.FileService_DiffFiles_FullMethodName:           thereAgain,
	poddv1.FileService_RestoreFiles_FullMethodName:        there,
	poddv1.FleetService_MovePod_FullMethodName:            there, // The node that gets the pod.
	poddv1.JobService_ListJobs_FullMethodName:             anywhere,
	poddv1.JobService_ReadJob_FullMethodName:              thereAgain,
	poddv1.JobService_StopJobs_FullMethodName:             there,
	poddv1.LetterService_DeliverLetter_FullMethodName:     thereAgain,
	poddv1.McpService_ListMcpServers_FullMethodName:       thereAgain,
	poddv1.PodService_CancelInboxItem_FullMethodName:      there,
	poddv1.PodService_Cancel_FullMethodName:               there,
	poddv1.PodService_Compact_FullMethodName:              there,
	poddv1.PodService_CompletePath_FullMethodName:         thereAgain,
	poddv1.PodService_DeletePod_FullMethodName:            there,
	poddv1.PodService_ForkPod_FullMethodName:              there,
	poddv1.PodService_GetContext_FullMethodName:           thereAgain,
	poddv1.PodService_GetPod_FullMethodName:               thereOrHere,
	poddv1.PodService_ListPrompts_FullMethodName:          thereAgain,
	poddv1.PodService_Notify_FullMethodName:               thereAgain,
	poddv1.PodService_Pause_FullMethodName:                there,
	poddv1.PodService_RenamePod_FullMethodName:            there,
	poddv1.PodService_RestorePod_FullMethodName:           there,
	poddv1.PodService_Resume_FullMethodName:               there,
	poddv1.PodService_RewindPod_FullMethodName:            there,
	poddv1.PodService_Stream_FullMethodName:               thereOrHere,
	poddv1.PodService_Submit_FullMethodName:               thereAgain,
	poddv1.PodService_UpdatePod_FullMethodName:            there,
	poddv1.TriggerService_FireTrigger_FullMethodName:      there,
	poddv1.TriggerService_PauseTrigger_FullMethodName:     thereAgain,
	poddv1.TriggerService_RemoveTrigger_FullMethodName:    there,
	poddv1.TriggerService_SetTrigger_FullMethodName:       there,
}

// userKey is the metadata with the user who made a call that a node sends on.
const userKey = "podd-user"

// tries bounds how often a call is sent on; triesPause is the time between two.
const (
	tries      = 3
	triesPause = 100 * time.Millisecond
	// movePatience bounds how long a call waits for a pod that is moving.
	movePatience = time.Minute
)

// PodOf is the pod that a request names; empty if it names none.
func PodOf(req any) string {
	m, ok := req.(proto.Message)
	if !ok {
		return ""
	}
	r := m.ProtoReflect()
	f := r.Descriptor().Fields().ByName("pod")
	if f == nil || f.Kind() != protoreflect.StringKind || f.IsList() {
		return ""
	}
	return r.Get(f).String()
}

// types makes the messages of a method.
func types(method string) (in, out proto.Message, err error) {
	service, name, _ := cutMethod(method)
	d, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(service + "." + name))
	if err != nil {
		return nil, nil, err
	}
	m, ok := d.(protoreflect.MethodDescriptor)
	if !ok {
		return nil, nil, errors.New(method + " is no method")
	}
	for _, part := range []struct {
		name protoreflect.FullName
		to   *proto.Message
	}{{m.Input().FullName(), &in}, {m.Output().FullName(), &out}} {
		t, err := protoregistry.GlobalTypes.FindMessageByName(part.name)
		if err != nil {
			return nil, nil, err
		}
		*part.to = t.New().Interface()
	}
	return in, out, nil
}

// Unary answers a call, here or by another node.
func (f *Fleet) Unary(ctx context.Context, req any, method string, handler grpc.UnaryHandler) (any, error) {
	if m, ok := req.(*poddv1.MovePodRequest); ok && f != nil {
		return f.move(ctx, m, handler)
	}
	to, pod := routes[method], PodOf(req)
	switch {
	case f == nil || to == here:
		return handler(ctx, req)
	case pod == "" && to == anywhere:
		return f.everywhere(ctx, req, method, handler)
	case pod == "":
		return handler(ctx, req)
	}
	switch r := req.(type) {
	case *poddv1.SubmitRequest:
		r.RequestId = cmp.Or(r.GetRequestId(), rand.Text())
	case *poddv1.NotifyRequest:
		r.RequestId = cmp.Or(r.GetRequestId(), rand.Text())
	}
	return f.about(ctx, pod, req, method, handler)
}

// isMoving says that a pod did nothing because it is moving to another node.
func isMoving(err error) bool { return item.ReasonOf(wire.FromStatus(err)) == store.ReasonMoving }

// wasMoved says that a node lost the pod while it answered: it was moved by force.
func wasMoved(err error) bool { return item.ReasonOf(wire.FromStatus(err)) == store.ReasonStaleEpoch }

// about answers a call about a pod, once that does not move.
func (f *Fleet) about(ctx context.Context, pod string, req any, method string, handler grpc.UnaryHandler) (resp any, err error) {
	for until := time.Now().Add(movePatience); ; {
		resp, err = f.aboutSettled(ctx, pod, req, method, handler)
		again := isMoving(err) || wasMoved(err) && routes[method] != there
		if again && time.Now().Before(until) && sleep(ctx, triesPause) {
			continue
		}
		if wasMoved(err) {
			err = item.Errorf(item.KindUnavailable, store.ReasonNodeAway, "pod %s was moved to another node; the call may have taken effect: look, and try again", pod)
		}
		return resp, err
	}
}

func (f *Fleet) aboutSettled(ctx context.Context, pod string, req any, method string, handler grpc.UnaryHandler) (any, error) {
	for try := 1; ; try++ {
		resp, again, err := f.aboutOnce(ctx, pod, req, method, handler)
		if routes[method] == thereOrHere && (isMoving(err) || item.ReasonOf(err) == store.ReasonNodeAway) {
			return handler(ctx, req)
		}
		if err == nil || !again || try == tries || !sleep(ctx, triesPause) {
			return resp, err
		}
	}
}

// aboutOnce answers a call about a pod. again says that it may be sent once more.
func (f *Fleet) aboutOnce(ctx context.Context, pod string, req any, method string, handler grpc.UnaryHandler) (resp any, again bool, err error) {
	at, err := f.locate(ctx, pod)
	if err != nil {
		return nil, false, err
	}
	n := at.Node
	if at.Here {
		resp, err = handler(ctx, req)
		if item.ReasonOf(err) != store.ReasonNotOwner {
			return resp, false, err
		}
		// It is in the trash of another node, or was moved.
		if n, err = f.named(ctx, err); err != nil {
			return nil, false, err
		}
	}
	if !n.Answers() {
		return nil, false, store.Elsewhere(pod, n)
	}
	resp, again, err = f.send(ctx, n, req, method)
	if again && at.Heir && leaves(err) {
		return nil, false, store.Moving(pod, "")
	}
	return resp, again, err
}

// leaves says that a node does not answer or is stopping.
func leaves(err error) bool {
	reason := item.ReasonOf(err)
	return reason == store.ReasonNodeAway || reason == pod.ReasonStopping
}

// locate is Store.Locate; what no pod has is answered here.
func (f *Fleet) locate(ctx context.Context, pod string) (at store.Place, err error) {
	at, err = f.members.Locate(ctx, pod)
	if item.ReasonOf(err) == store.ReasonPodNotFound {
		return store.Place{Here: true}, nil
	}
	return at, err
}

// named is the node that an error names.
func (f *Fleet) named(ctx context.Context, refused error) (store.Node, error) {
	all, err := f.members.Nodes(ctx)
	if err != nil {
		return store.Node{}, err
	}
	e, _ := errors.AsType[*item.Error](refused)
	i := slices.IndexFunc(all, func(n store.Node) bool { return n.Name == e.Meta["node"] })
	if i < 0 || all[i].Self || !all[i].Answers() {
		return store.Node{}, refused
	}
	return all[i], nil
}

// send sends a call to a node. again says that it may be sent once more.
func (f *Fleet) send(ctx context.Context, n store.Node, req any, method string) (resp any, again bool, err error) {
	_, out, err := types(method)
	if err != nil {
		return nil, false, err
	}
	conn, err := f.peers.Ready(ctx, n)
	if err != nil {
		return nil, true, err
	}
	err = conn.Invoke(f.outgoing(ctx), method, req, out)
	if err == nil {
		return out, false, nil
	}
	return nil, routes[method] != there || item.ReasonOf(wire.FromStatus(err)) == store.ReasonNotOwner, theirs(n, routes[method] == there, err)
}

// outgoing names the user to the other node.
func (f *Fleet) outgoing(ctx context.Context) context.Context {
	return metadata.NewOutgoingContext(ctx, metadata.Pairs(userKey, f.User))
}

// theirs is the error of another node as one of this. sent says that what it was asked to do may be
// done.
func theirs(n store.Node, sent bool, err error) error {
	known := wire.FromStatus(err)
	e, ok := errors.AsType[*item.Error](known)
	if !ok {
		return known
	}
	if e.Reason == wire.ReasonUnreachable {
		return unreachable(n, sent, err)
	}
	e.Cause = nil
	return e
}

// allWithin bounds a question to all nodes.
const allWithin = time.Second

// everywhere adds the answers of the other nodes to that of this one.
func (f *Fleet) everywhere(ctx context.Context, req any, method string, handler grpc.UnaryHandler) (any, error) {
	resp, err := handler(ctx, req)
	if err != nil {
		return nil, err
	}
	all, err := f.members.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	answers := make([]any, len(all))
	asking, cancel := context.WithTimeout(ctx, allWithin)
	defer cancel()
	each(len(all), func(i int) {
		if n := all[i]; !n.Self && n.Answers() {
			answers[i], _, _ = f.send(asking, n, req, method)
		}
	})
	var missing []string
	for i, n := range all {
		switch {
		case answers[i] != nil:
			proto.Merge(resp.(proto.Message), answers[i].(proto.Message))
		case !n.Self && n.Pods > 0:
			missing = append(missing, n.Name)
		}
	}
	switch m := resp.(type) {
	case *poddv1.ListApprovalsResponse:
		m.MissingNodes = missing
		slices.SortStableFunc(m.Approvals, func(a, b *poddv1.Approval) int { return a.GetTime().AsTime().Compare(b.GetTime().AsTime()) })
	case *poddv1.ListJobsResponse:
		m.MissingNodes = missing
	}
	return resp, nil
}

// sleep waits; false if ctx ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// admit refuses what no node sends on.
func admit(ctx context.Context, info *tap.Info) (context.Context, error) {
	if to, ok := routes[info.FullMethodName]; ok && to != here {
		return ctx, nil
	}
	return ctx, wire.ToStatus(item.Errorf(item.KindDenied, "NOT_FOR_NODES", "nodes do not send on the call %q", info.FullMethodName))
}

// UserOf is the user who made a call: the one whom another node names, or else user.
func UserOf(ctx context.Context, user string) string {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return user
	}
	if _, node := p.AuthInfo.(credentials.TLSInfo); !node {
		return user
	}
	for _, name := range metadata.ValueFromIncomingContext(ctx, userKey) {
		return sanitize.Line(name)
	}
	return ""
}
