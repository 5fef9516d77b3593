//go:build integrations

package postgres

import (
	"strings"
	"testing"

	"podd/pkg/client"
	poddv1 "podd/proto/podd/v1"
)

// A Watch at one node follows the log of a pod of another, live, and the database has what
// each day used.
func TestNodesWatch(t *testing.T) {
	c := newCluster(t)
	n1, n2 := c.node("n1", steps(1, nil)), c.node("n2", steps(1, nil))
	n1.Start()
	n2.Start()
	n1.Podctl("create", "one", "--dir", n1.Workspace)
	conn, err := client.New(client.Config{Socket: n2.Socket()})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	in, err := conn.Fleet().Watch(t.Context(), &poddv1.WatchRequest{Pod: "one", Deltas: true, Alerts: true, Beats: true})
	if err != nil {
		t.Fatal(err)
	}
	n1.Podctl("submit", "-p", "one", "go")
	seq := int64(0)
	for ended := false; !ended; {
		m, err := in.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if e := m.GetLog().GetEntry(); e != nil {
			if e.GetSeq() != seq+1 {
				t.Errorf("entry %d follows %d", e.GetSeq(), seq)
			}
			seq = e.GetSeq()
			ended = e.GetTurnEnded() != nil
		}
	}
	if table := n2.Podctl("stats", "--by", "pod"); !strings.Contains(table, "one") {
		t.Errorf("podctl stats --by pod at n2:\n%s", table)
	}
}

// Every node knows how many calls of a pod wait for a person.
func TestNodesCountApprovals(t *testing.T) {
	c := newCluster(t)
	n1, n2 := c.node("n1", steps(1, nil)), c.node("n2", steps(1, nil))
	n1.Start()
	n2.Start()
	n1.Podctl("create", "one", "--dir", n1.Workspace, "--ask", "always")
	conn, err := client.New(client.Config{Socket: n2.Socket()})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	in, err := conn.Fleet().Watch(t.Context(), &poddv1.WatchRequest{})
	if err != nil {
		t.Fatal(err)
	}
	n1.Podctl("submit", "-p", "one", "go")
	await := func(want int32) {
		t.Helper()
		for {
			m, err := in.Recv()
			if err != nil {
				t.Fatal(err)
			}
			if m.GetPod().GetApprovals() == want && m.GetPod().GetPod().GetTurn() == 1 {
				return
			}
		}
	}
	await(1)
	if table := n2.Podctl("list"); !strings.Contains(table, "1 approval") {
		t.Errorf("podctl list at n2:\n%s", table)
	}
	n2.Podctl("approve", "-p", "one", question(t, n2))
	await(0)
}
