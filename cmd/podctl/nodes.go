package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"podd/internal/clients/view"
	"podd/internal/sanitize"
	"podd/pkg/client"
	poddv1 "podd/proto/podd/v1"
)

func newNodesCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:               "nodes",
		Short:             "List the nodes that share a database",
		Args:              operands,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.with(func(c *client.Client) error {
				resp, err := c.Fleet().ListNodes(cmd.Context(), &poddv1.ListNodesRequest{})
				if err != nil {
					return err
				}
				if p.output == outputText {
					return nodeTable(p, resp.GetNodes())
				}
				for _, n := range resp.GetNodes() {
					if err := p.printJSON(n); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	cmd.AddCommand(newNodesRmCommand(p))
	return cmd
}

// nodeTable shows nodes, a row each, and what is wrong with them below.
func nodeTable(p *program, nodes []*poddv1.Node) error {
	if len(nodes) == 0 {
		_, err := fmt.Fprintln(p.stderr, "this podd has all pods; docs/nodes.md says how several share a database")
		return err
	}
	t := newTable(p.stdout)
	fmt.Fprintln(t, "NAME\tSTATE\tLEASE\tPODS\tRUNNING\tADDRESS\tVERSION\tCONFIG")
	var notes []string
	for _, n := range nodes {
		name, state := sanitize.Line(n.GetName()), nodeState(n)
		if n.GetSelf() {
			name += " (this)"
		}
		age := view.Duration(n.GetLeaseAge().AsDuration()) + " ago"
		fmt.Fprintln(t, strings.Join([]string{
			name, state, age, fmt.Sprint(n.GetPods()), fmt.Sprint(n.GetRunning()), sanitize.Line(n.GetAddress()), sanitize.Line(n.GetVersion()), sanitize.Line(n.GetConfigDigest()),
		}, "\t"))
		if down(n) && n.GetPods() > 0 {
			notes = append(notes, fmt.Sprintf("%s is %s since %s: its %s can be read, and go on when podd runs there again or podctl move moves them",
				sanitize.Line(n.GetName()), state, stamp(n.GetSeenAt().AsTime()), plural(int(n.GetPods()), "pod")))
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

// missingNodes says on standard error which nodes did not answer.
func missingNodes(p *program, names []string, what string) {
	if len(names) > 0 {
		fmt.Fprintf(p.stderr, "podctl: no answer from node %s: its %s are missing\n", sanitize.Line(strings.Join(names, ", ")), what)
	}
}
