package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"podd/internal/clients/view"
	"podd/internal/sanitize"
	"podd/pkg/client"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

func newNodesCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "nodes",
		Short: "List the nodes that share a database",
		RunE: p.onPodd(func(ctx context.Context, c *client.Client, _ []string) error {
			resp, err := c.Fleet().ListNodes(ctx, &poddv1.ListNodesRequest{})
			if err != nil {
				return err
			}
			return printEach(p, resp.GetNodes(), func() error { return p.nodeTable(resp.GetNodes()) })
		}),
	}
	cmd.AddCommand(newNodesRmCommand(p))
	return cmd
}

// nodeTable shows nodes, a row each, and what is wrong with them below.
func (p *program) nodeTable(nodes []*poddv1.Node) error {
	if len(nodes) == 0 {
		_, err := fmt.Fprintln(p.stderr, "this podd has all pods; docs/nodes.md says how several share a database")
		return err
	}
	t := newTable(p.stdout)
	fmt.Fprintln(t, "NAME\tSTATE\tLEASE\tPODS\tMOVABLE\tRUNNING\tADDRESS\tVERSION\tCONFIG")
	var notes []string
	for _, n := range nodes {
		name, state := sanitize.Line(n.GetName()), nodeState(n)
		if n.GetSelf() {
			name += " (this)"
		}
		age := view.Duration(n.GetLeaseAge().AsDuration()) + " ago"
		fmt.Fprintln(t, strings.Join([]string{
			name, state, age, fmt.Sprint(n.GetPods()), fmt.Sprint(n.GetMovable()), fmt.Sprint(n.GetRunning()), sanitize.Line(n.GetAddress()), sanitize.Line(n.GetVersion()), sanitize.Line(n.GetConfigDigest()),
		}, "\t"))
		if down(n) && n.GetPods() > 0 {
			notes = append(notes, fmt.Sprintf("%s is %s since %s: %s", sanitize.Line(n.GetName()), state, stamp(n.GetSeenAt().AsTime()), fate(n)))
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, note := range notes {
		fmt.Fprintln(p.stdout, note)
	}
	return nil
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

// leaseFact says how old the lease of this node is; empty without other nodes.
func leaseFact(s *poddv1.GetStatusResponse) string {
	if s.GetNode() == "" {
		return ""
	}
	return fmt.Sprintf("%s, lease renewed %s ago; podctl nodes lists all", s.GetNode(), view.Duration(s.GetLeaseAge().AsDuration()))
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
