//go:build integrations

package postgres

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"podd/integrations/rig"
	"podd/pkg/llm/scripted"
)

// A node is killed at about the time at which triggers of its pods are due: before, while or after they fire. Another node takes
// the pods over, and each trigger has one fire and one turn. PODD_TRIGGER_FAILOVERS is how many pods do that.
func TestTriggersFailOver(t *testing.T) {
	pods := 6
	if more, err := strconv.Atoi(os.Getenv("PODD_TRIGGER_FAILOVERS")); err == nil {
		pods = more
	}
	tm := newTeam(t, func(context.Context, scripted.Request) scripted.Reply { return scripted.Say(scripted.Text("done")) })
	n1, n3 := tm.nodes["n1"], tm.nodes["n3"]
	for n := range pods {
		name := fmt.Sprintf("p-%d", n)
		tm.pod(name)
		n1.Podctl("trigger", "add", "soon", "-p", name, "--at", fmt.Sprintf("%dms", 4000+n*2000/pods), "work")
	}
	rig.Await(t, "the first fire", func() bool {
		return strings.Contains(n3.Podctl("trigger", "list"), "fired") || strings.Contains(n3.Podctl("trigger", "list"), "finished")
	})
	n1.Kill()
	for n := range pods {
		name := fmt.Sprintf("p-%d", n)
		rig.Await(t, "the turn of pod "+name, func() bool { return kinds(t, n3, name, "turn_ended") > 0 })
		rig.Await(t, "the receipt of pod "+name, func() bool {
			return strings.Count(n3.Podctl("trigger", "show", filepath.Join(name, "soon")), "fired, finished") == 1
		})
		if submits, turns := kinds(t, n3, name, "submitted"), kinds(t, n3, name, "turn_started"); submits != 1 || turns != 1 {
			t.Errorf("pod %s has %d submits and %d turns, want one each", name, submits, turns)
		}
	}
}
