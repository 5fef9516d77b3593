package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"podd/pkg/item"
	"podd/pkg/store/rules"
)

// Shared is a Store that several podd, the nodes, have open at once. Each pod belongs to one
// node. Claim, and each change of a pod other than by Append, is refused elsewhere: with the
// reason NOT_OWNER or, if that node does not answer, NODE_AWAY; meta node.
type Shared interface {
	// Locate finds the node of a pod, in the trash too. An
	// unknown pod is KindNotFound, reason POD_NOT_FOUND. While no node has a movable pod, and
	// one will take it over, the error is that of Moving.
	Locate(ctx context.Context, idOrName string) (Place, error)
	// Nodes returns all nodes in the order of their names; none if this podd has the store
	// alone.
	Nodes(ctx context.Context) ([]Node, error)
	// Lease is how long ago this node renewed its lease; joined is false for a podd that has
	// the store alone.
	Lease() (age time.Duration, joined bool)
	// RemoveNode removes a node, which must not answer (NODE_UP). One that has pods needs
	// force: until they are taken or its podd is back, nobody can change them.
	RemoveNode(ctx context.Context, name string, force bool) error
	// Take makes pods of a node that does not answer those of this one, with the directories
	// of their specs; what the node may still append is refused. A node that was not stopped
	// in order needs force.
	Take(ctx context.Context, pods []item.Pod, force bool) error
	// HandOver makes pods of this node those of another, which is up, with the directories of
	// their specs; what this node may still append is refused.
	HandOver(ctx context.Context, pods []item.Pod, to string) error
}

// Place is where a pod is.
type Place struct {
	Node
	// Here says that this podd has it.
	Here bool
	// Heir says that another node takes it over if its own one stops answering.
	Heir bool
}

// ShareFile is the file with the id of a shared directory.
const ShareFile = ".podd-share"

// SplitShare splits a share, such as "ID:/mnt/team", into the id of a shared directory and its
// path, which is the same at all nodes.
func SplitShare(share string) (id, dir string) {
	id, dir, _ = strings.Cut(share, ":")
	return id, dir
}

// ShareOf is the shared directory that contains all directories of a pod, which makes it movable. It is
// empty for a pod that is not movable.
func ShareOf(shares []string, spec item.PodSpec) string {
	if spec.Checkout != (item.Checkout{}) {
		return "" // The node has it.
	}
	for _, share := range shares {
		_, dir := SplitShare(share)
		outside := func(path string) bool {
			return path != dir && !strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
		}
		if !slices.ContainsFunc(spec.Readable(), outside) {
			return share
		}
	}
	return ""
}

// CanTake refuses a node that no pod can be moved to.
func (n Node) CanTake() error {
	switch {
	case n.State == NodeUp:
		return nil
	case n.State == NodeDraining:
		return item.Errorf(item.KindUnavailable, ReasonNodeAway, "node %s is stopping: move the pod to another node, or start podd there again", n.Name)
	}
	return item.Errorf(item.KindUnavailable, ReasonNodeAway, "node %s does not run: start podd there, or move the pod to another node", n.Name)
}

// Moving is the error for a call to a pod that is moving to another node, whose name is empty while
// it is not known yet: KindUnavailable, reason POD_MOVING.
func Moving(pod, to string) error {
	if to == "" {
		return item.Errorf(item.KindUnavailable, ReasonMoving, "another node is taking over pod %s: try again", pod)
	}
	return item.Errorf(item.KindUnavailable, ReasonMoving, "pod %s is moving to node %s: try again", pod, to)
}

// NoNode says that no node has a name: KindNotFound, reason NODE_NOT_FOUND.
func NoNode(name string) error { return rules.NoNode(name) }

// NodeState is what is known of a node.
type NodeState string

// The states of a node: it renews its lease, is stopping, was stopped, or no longer renews its
// lease although nobody stopped it.
const (
	NodeUp       NodeState = "up"
	NodeDraining NodeState = "draining"
	NodeStopped  NodeState = "stopped"
	NodeAway     NodeState = "away"
)

// Node is a podd of several that share a store. A zero one is unknown.
type Node struct {
	Name string
	// Address is where other nodes reach it.
	Address string
	Version string
	// Config is equal for equal configurations.
	Config string
	State  NodeState
	// Seen is when it last renewed its lease, Age how long ago, by the clock of the store.
	Seen time.Time
	Age  time.Duration
	// Pods counts the pods that it has, Movable those of them that other nodes with the same shared
	// directory take over, Running those with a running turn when it was last seen.
	Pods, Movable, Running int
	Self                   bool
}

// Answers says whether calls can be sent to the node.
func (n Node) Answers() bool { return n.State == NodeUp || n.State == NodeDraining }

// Elsewhere is the error for a pod that another node has.
func Elsewhere(pod string, n Node) error {
	var e *item.Error
	move := fmt.Sprintf("move the pod: podctl move %s NODE", pod)
	switch {
	case n.Name == "":
		e = item.Errorf(item.KindUnavailable, ReasonNodeAway,
			"no node has pod %s: start podd on one that has its workspace, or %s", pod, move)
	case n.State == NodeStopped:
		e = item.Errorf(item.KindUnavailable, ReasonNodeAway,
			"node %s, which has pod %s, is stopped: start podd there, or %s", n.Name, pod, move)
	case n.State == NodeAway:
		e = item.Errorf(item.KindUnavailable, ReasonNodeAway,
			"node %s, which has pod %s, has not answered for %s: start podd there, or %s", n.Name, pod, n.Age.Round(time.Second), move)
	default:
		e = item.Errorf(item.KindPrecondition, ReasonNotOwner, "node %s has pod %s: ask podd there", n.Name, pod)
	}
	if n.Name != "" {
		e.Meta = map[string]string{"node": n.Name}
	}
	return e
}
