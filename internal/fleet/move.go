package fleet

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// errNoNodes refuses calls about nodes.
var errNoNodes = item.Errorf(item.KindPrecondition, "NO_NODES", "this podd has all pods: only podd with node.listen share them")

var nodeStates = map[store.NodeState]poddv1.NodeState{
	store.NodeUp:       poddv1.NodeState_NODE_STATE_UP,
	store.NodeDraining: poddv1.NodeState_NODE_STATE_DRAINING,
	store.NodeStopped:  poddv1.NodeState_NODE_STATE_STOPPED,
	store.NodeAway:     poddv1.NodeState_NODE_STATE_AWAY,
}

// ListNodes lists the podd of the database.
func (f *Fleet) ListNodes(ctx context.Context) (*poddv1.ListNodesResponse, error) {
	answer := new(poddv1.ListNodesResponse)
	if f == nil {
		return answer, nil
	}
	all, err := f.members.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	for _, n := range all {
		answer.Nodes = append(answer.Nodes, &poddv1.Node{
			Name: n.Name, Address: n.Address, Version: n.Version, State: nodeStates[n.State], SeenAt: timestamppb.New(n.Seen), LeaseAge: durationpb.New(n.Age),
			Pods: int32(n.Pods), Movable: int32(n.Movable), Running: int32(n.Running), ConfigDigest: n.Config, Self: n.Self, //nolint:gosec // Few.
		})
	}
	return answer, nil
}

// RemoveNode removes a node that is gone for good.
func (f *Fleet) RemoveNode(ctx context.Context, r *poddv1.RemoveNodeRequest) (*poddv1.RemoveNodeResponse, error) {
	if f == nil {
		return nil, errNoNodes
	}
	return &poddv1.RemoveNodeResponse{}, f.members.RemoveNode(ctx, r.GetName(), r.GetForce())
}

// MovePod gives a pod to this node.
func (f *Fleet) MovePod(ctx context.Context, r *poddv1.MovePodRequest) (*poddv1.MovePodResponse, error) {
	switch {
	case f == nil:
		return nil, errNoNodes
	case r.GetNode() != f.pods().Node && len(r.GetFamily()) > 0:
		return f.handOver(ctx, r)
	case r.GetNode() != f.pods().Node:
		return nil, item.Errorf(item.KindPrecondition, store.ReasonNotOwner, "this is node %s: ask node %s", f.pods().Node, r.GetNode())
	}
	family, err := f.family(ctx, r.GetPod(), r.GetDir())
	if err != nil {
		return nil, err
	}
	top := family[0]
	err = f.take(ctx, r, family)
	if top.Node != f.pods().Node && (err == nil || item.KindOf(err) != item.KindPrecondition) {
		ids := make([]string, len(family))
		for i, p := range family {
			ids[i] = p.ID
		}
		f.pods().AdoptPods(ids) // After an error too, but a refusal: perhaps only the answer was lost.
	}
	if err == nil {
		top, err = f.pods().Get(ctx, top.ID)
	}
	if err != nil {
		return nil, err
	}
	return &poddv1.MovePodResponse{Pod: wire.PodToProto(top)}, nil
}

// family are a pod and its sub-pods, with the specs that they get on this node, where their workspace is in dir if that
// isn't empty.
func (f *Fleet) family(ctx context.Context, idOrName, dir string) ([]item.Pod, error) {
	top, err := f.pods().Store.Pod(ctx, idOrName)
	if err != nil {
		return nil, err
	}
	if top.Spec.Parent != "" {
		return nil, item.Errorf(item.KindPrecondition, "SUBPOD", "pod %s moves with the pod that spawned it: move pod %s", top.Name, top.Spec.Parent)
	}
	family := []item.Pod{top}
	for i := 0; i < len(family); i++ {
		children, err := f.pods().Family.Children(ctx, family[i].ID)
		if err != nil {
			return nil, err
		}
		family = append(family, children...)
	}
	for i := range family {
		spec := family[i].Spec
		if dir != "" {
			spec = inDir(spec, top.Spec.Dir, dir)
			spec.Checkout = item.Checkout{} // It stays on its node.
		}
		resolve, err := f.pods().Workspaces.Check(spec, item.PodSpec{})
		if err != nil {
			return nil, err
		}
		family[i].Spec = resolve(spec, item.PodSpec{})
	}
	return family, nil
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

// take changes the owner of pods in the store, or lets the node that has them do so. It refuses pods that may still run.
func (f *Fleet) take(ctx context.Context, r *poddv1.MovePodRequest, pods []item.Pod) error {
	at, err := f.members.Locate(ctx, pods[0].ID)
	if err == nil && !at.Here && at.Answers() {
		return f.ask(ctx, at.Node, r, pods)
	}
	return f.members.Take(ctx, pods, r.GetForce())
}

// handOver gives pods of this node to another one, which asks for them.
func (f *Fleet) handOver(ctx context.Context, r *poddv1.MovePodRequest) (*poddv1.MovePodResponse, error) {
	family := make([]item.Pod, len(r.GetFamily()))
	for i, p := range r.GetFamily() {
		family[i] = wire.PodFromProto(p)
	}
	return &poddv1.MovePodResponse{}, f.pods().HandOver(ctx, family, r.GetNode(), func(ctx context.Context, pods []item.Pod) error {
		return f.members.HandOver(ctx, pods, r.GetNode())
	})
}

// ask asks the node of pods for them. If its answer is lost, the database says whether it gave
// them.
func (f *Fleet) ask(ctx context.Context, n store.Node, r *poddv1.MovePodRequest, pods []item.Pod) error {
	asked := &poddv1.MovePodRequest{Pod: pods[0].ID, Node: r.GetNode()}
	for _, p := range pods {
		asked.Family = append(asked.Family, wire.PodToProto(p))
	}
	_, _, err := f.send(ctx, n, asked, poddv1.FleetService_MovePod_FullMethodName)
	if err == nil {
		return nil
	}
	if at, unknown := f.members.Locate(context.WithoutCancel(ctx), pods[0].ID); unknown == nil && at.Here {
		return nil
	}
	return err
}

// move sends the call to the node that gets the pod.
func (f *Fleet) move(ctx context.Context, req *poddv1.MovePodRequest, handler grpc.UnaryHandler) (any, error) {
	all, err := f.members.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(n store.Node) bool { return n.Name == req.GetNode() })
	switch {
	case i < 0:
		return nil, store.NoNode(req.GetNode())
	case all[i].Self:
		return handler(ctx, req)
	}
	if err := all[i].CanTake(); err != nil {
		return nil, err
	}
	resp, _, err := f.send(ctx, all[i], req, poddv1.FleetService_MovePod_FullMethodName)
	return resp, err
}
