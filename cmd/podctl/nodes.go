package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"podd/internal/clients/view"
	"podd/internal/sanitize"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

func newNodesCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "nodes",
		Short: "List the nodes that share a database",
		RunE:  p.onPodd(runNodes),
	}
	cmd.AddCommand(new(nodesRmOptions).command(p))
	return cmd
}

// runNodes shows nodes, a row each, and what is wrong with them below.
func runNodes(ctx context.Context, s *session, _ []string) error {
	resp, err := s.Fleet().ListNodes(ctx, &poddv1.ListNodesRequest{})
	if err != nil {
		return err
	}
	var notes []string
	const none, heading = "this podd has all pods; docs/nodes.md says how several share a database", "NAME\tSTATE\tLEASE\tPODS\tMOVABLE\tRUNNING\tADDRESS\tVERSION\tCONFIG"
	err = list(s.program, resp.GetNodes(), none, heading, func(n *poddv1.Node) []any {
		name, state := n.GetName(), nodeState(n)
		if down(n) && n.GetPods() > 0 {
			notes = append(notes, fmt.Sprintf("%s is %s since %s: %s", sanitize.Line(name), state, stamp(n.GetSeenAt().AsTime()), fate(n)))
		}
		if n.GetSelf() {
			name += " (this)"
		}
		age := view.Duration(n.GetLeaseAge().AsDuration()) + " ago"
		return []any{name, state, age, n.GetPods(), n.GetMovable(), n.GetRunning(), n.GetAddress(), n.GetVersion(), n.GetConfigDigest()}
	})
	for _, note := range notes {
		fmt.Fprintln(s.stdout, note)
	}
	return err
}

// nodesRmOptions are the flags of nodes rm.
type nodesRmOptions struct{ force bool }

func (o *nodesRmOptions) command(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rm NAME",
		Short: "Remove a node that is gone for good",
		Long:  "Removes a node from the list. Its podd must not run. If podd runs there again, the node is back.",
		RunE:  p.onPodd(o.run),
	}
	cmd.Flags().BoolVar(&o.force, "force", false, "also a node with pods; they cannot change until they are moved")
	return cmd
}

func (o *nodesRmOptions) run(ctx context.Context, s *session, args []string) error {
	resp, err := s.Fleet().RemoveNode(ctx, &poddv1.RemoveNodeRequest{Name: valid(args[0]), Force: o.force})
	return s.answer(resp, err, line("removed node %s", sanitize.Line(valid(args[0]))))
}

// fate says what becomes of the pods of a node that is down.
func fate(n *poddv1.Node) string {
	var says []string
	if movable := int(n.GetMovable()); movable > 0 {
		says = append(says, fmt.Sprintf("a node with their shared directory takes over its %s that can move", plural(movable, "pod")))
	}
	if staying := int(n.GetPods() - n.GetMovable()); staying > 0 {
		says = append(says, fmt.Sprintf("its %s can be read, and go on when podd runs there again or podctl move moves them", plural(staying, "pod")))
	}
	return strings.Join(says, "; ")
}

// nodeState is the state of a node, such as "up".
func nodeState(n *poddv1.Node) string {
	return strings.ToLower(strings.TrimPrefix(n.GetState().String(), "NODE_STATE_"))
}

// down says that a node answers no calls.
func down(n *poddv1.Node) bool {
	return n.GetState() == poddv1.NodeState_NODE_STATE_STOPPED || n.GetState() == poddv1.NodeState_NODE_STATE_AWAY
}

// nodeFact says which node has a pod, and whether another one takes it over; empty without nodes.
func nodeFact(pod item.Pod) string {
	switch {
	case !pod.Movable:
		return pod.Node
	case pod.Node == "":
		return "none: a node with its shared directory takes it over"
	}
	return pod.Node + "; movable: if it stops, a node with the shared directory takes over"
}

// missingNodes says on standard error which nodes did not answer.
func (p *program) missingNodes(names []string, what string) {
	if len(names) > 0 {
		fmt.Fprintf(p.stderr, "podctl: no answer from node %s: its %s are missing\n", sanitize.Line(strings.Join(names, ", ")), what)
	}
}
