//go:build integrations

package postgres

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"podd/integrations/rig"
	"podd/pkg/llm/scripted"
)

// tells is a model that sends pod reviewer what its prompt says after "tell ".
func tells(_ context.Context, r scripted.Request) scripted.Reply {
	if text, ok := strings.CutPrefix(r.LastUser(), "tell "); ok && len(r.Results()) == 0 {
		return scripted.Say(scripted.Call{ID: "tell-" + text, Name: "send_message", Arguments: fmt.Sprintf(`{"to":"reviewer","text":"letter %s."}`, text)})
	}
	return scripted.Say(scripted.Text("done"))
}

// Letters to a pod whose node is away for long wait for it: over a kill of the sender's node, and its move to another one.
// Then each arrives once, in their order.
func TestLettersWait(t *testing.T) {
	c := newCluster(t)
	n1, n2, n3 := c.node("n1", tells), c.node("n2", tells), c.node("n3", tells)
	for _, w := range []*rig.World{n1, n2, n3} {
		w.Start()
	}
	n1.Podctl("create", "lead", "--dir", n1.Workspace, "--may-message", "*")
	n2.Podctl("create", "reviewer", "--dir", n2.Workspace)
	n2.Kill()
	told := 0
	tell := func(w *rig.World, says string) {
		told++
		w.Podctl("submit", "-p", "lead", fmt.Sprint("tell ", told))
		rig.Await(t, "the end of a turn", func() bool { return kinds(t, w, "lead", "turn_ended") == told })
		rig.Await(t, says, func() bool { return strings.Count(w.Podctl("letters", "lead"), says) == told })
	}
	tell(n1, "on its way")
	n1.Kill()
	n1.Start()
	tell(n1, "on its way")
	rig.Await(t, "the end of the lease", func() bool { return nodes(t, n1)["n2"] == "away" })
	tell(n1, "on its way")
	n3.Podctl("move", "lead", "n3", "--dir", n3.Workspace)
	tell(n3, "on its way")
	n3.Kill()
	n2.Start()
	n3.Start()
	tell(n3, "taken in turn")
	log := n2.Podctl("tail", "reviewer", "--after", "0", "-o", "json")
	for i, at := 1, 0; i <= told; i++ {
		text := fmt.Sprintf("letter %d.", i)
		next := strings.Index(log, text)
		if next < at {
			t.Errorf("%s is not in its place:\n%s", text, log)
		}
		at = next
	}
	if n := kinds(t, n2, "reviewer", "note"); n != told {
		t.Errorf("the reviewer got %d letters, want %d", n, told)
	}
	rig.Await(t, "the end of all deliveries", func() bool { return strings.Count(n3.Podctl("list", "-o", "json"), `"pending":0`) == 2 })
}

// Both nodes are killed after the sender's log has the letter, and before the recipient's has it. It arrives once, and so
// does one that a person sends meanwhile.
func TestLettersInBetween(t *testing.T) {
	c := newCluster(t)
	n1, n2, n3 := c.node("n1", tells), c.node("n2", tells), c.node("n3", tells)
	for _, w := range []*rig.World{n1, n2, n3} {
		w.Start()
	}
	n1.Podctl("create", "lead", "--dir", n1.Workspace, "--may-message", "*")
	n2.Podctl("create", "reviewer", "--dir", n2.Workspace)
	n2.Signal(syscall.SIGSTOP)
	n1.Podctl("submit", "-p", "lead", "tell 1")
	rig.Await(t, "the letter in the sender's log", func() bool { return strings.Contains(n3.Podctl("letters", "lead"), "on its way") })
	n1.Kill()
	person := n3.Command("podctl", "send", "--no-wake", "reviewer", "from a person")
	if err := person.Start(); err != nil {
		t.Fatal(err)
	}
	n2.Kill()
	n1.Start()
	n2.Start()
	if err := person.Wait(); err != nil {
		t.Errorf("podctl send: %v", err)
	}
	rig.Await(t, "the letter", func() bool { return strings.Contains(n3.Podctl("letters", "lead"), "taken in turn") })
	rig.Await(t, "the end of the turn", func() bool { return kinds(t, n3, "lead", "turn_ended") == 1 })
	if n := kinds(t, n3, "reviewer", "note"); n != 2 {
		t.Errorf("the reviewer got %d letters, want 2", n)
	}
}
