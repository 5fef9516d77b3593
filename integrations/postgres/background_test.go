//go:build integrations

package postgres

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"podd/integrations/rig"
	"podd/pkg/llm/scripted"
)

// begins is a model whose pod starts a sub-pod in the background, which ends its task once the gate opens.
func begins(gate chan struct{}) scripted.Handler {
	return func(_ context.Context, r scripted.Request) scripted.Reply {
		switch {
		case r.LastUser() == "look around":
			return scripted.Say(scripted.Wait(gate), scripted.Text("It is green."))
		case r.LastUser() == "go" && len(r.Results()) == 0:
			return scripted.Say(scripted.Call{ID: "c1", Name: "spawn_pod", Arguments: `{"task":"look around","name":"slow","background":true}`})
		}
		return scripted.Say(scripted.Text("done"))
	}
}

// A pod moves to another node while its sub-pod in the background works, which goes with it: both are asked to, or their node
// is away. The pod is told of the end once.
func TestBackgroundMoved(t *testing.T) {
	for _, force := range []bool{false, true} {
		t.Run(fmt.Sprintf("force %v", force), func(t *testing.T) {
			t.Parallel()
			gate := make(chan struct{})
			c := newCluster(t)
			n1, n2 := c.node("n1", begins(gate)), c.node("n2", begins(gate))
			n1.Start()
			n2.Start()
			n1.Podctl("create", "lead", "--dir", n1.Workspace, "--sub-pods", "1")
			n1.Podctl("submit", "-p", "lead", "go")
			rig.Await(t, "the end of the first turn", func() bool { return kinds(t, n1, "lead", "turn_ended") == 1 })
			rig.Await(t, "the sub-pod's request", func() bool { return n1.Requests() == 3 })
			move := []string{"move", "lead", "n2", "--dir", n2.Workspace}
			if force {
				n1.Kill()
				rig.Await(t, "the end of the lease", func() bool { return nodes(t, n2)["n1"] == "away" })
				move = append(move, "--force")
			}
			n2.Podctl(move...)
			if force {
				n1.Start()
			}
			close(gate)
			rig.Await(t, "the turn that the letter begins", func() bool { return kinds(t, n2, "lead", "turn_ended") == 2 })
			rig.Await(t, "the end of all work", func() bool { return strings.Count(n2.Podctl("list", "-o", "json"), `"pending":0`) == 2 })
			log := n2.Podctl("tail", "lead", "--after", "0", "-o", "json")
			if n := kinds(t, n2, "lead", "note"); n != 1 || !strings.Contains(log, "It is green.") {
				t.Errorf("%d letters:\n%s", n, log)
			}
			if list := n1.Podctl("list"); strings.Count(list, "n2:"+n2.Workspace) != 2 {
				t.Errorf("podctl list:\n%s", list)
			}
		})
	}
}
