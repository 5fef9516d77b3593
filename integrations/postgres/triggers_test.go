//go:build integrations

package postgres

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"podd/integrations/rig"
	"podd/pkg/llm/scripted"
)

// A node is killed at about the time at which triggers of its pods are due: before, while or after they fire. Another node takes
// the pods over, and each trigger has one fire and one turn.
func TestTriggersFailOver(t *testing.T) {
	const pods = 6
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

// A pod that moves takes its triggers along: each fires once, at the other node.
func TestTriggersMoveWithTheirPod(t *testing.T) {
	tm := newTeam(t, func(context.Context, scripted.Request) scripted.Reply { return scripted.Say(scripted.Text("done")) })
	n1, n3 := tm.nodes["n1"], tm.nodes["n3"]
	tm.pod("site")
	n1.Podctl("trigger", "add", "soon", "-p", "site", "--at", "2s", "work")
	n1.Podctl("trigger", "add", "go", "-p", "site", "--event", "work")
	n1.Podctl("move", "site", "n3")
	n1.Podctl("trigger", "fire", "go", "--id", "one")
	for _, name := range []string{"soon", "go"} {
		rig.Await(t, "the fire of "+name, func() bool { return strings.Count(n3.Podctl("trigger", "show", name), "fired, finished") == 1 })
	}
	if owner := tm.owner("site"); owner != "n3" {
		t.Errorf("the pod is at %s", owner)
	}
	if submits, turns := kinds(t, n3, "site", "submitted"), kinds(t, n3, "site", "turn_started"); submits != 2 || turns != 2 {
		t.Errorf("it has %d submits and %d turns, want 2", submits, turns)
	}
}

// A webhook that arrives at a node which has not the pod fires the trigger on the pod's node, once, also when that was moved
// meanwhile. Each node has secrets of its own.
func TestWebhookAtAnotherNode(t *testing.T) {
	tm := startTeam(t, func(context.Context, scripted.Request) scripted.Reply { return scripted.Say(scripted.Text("done")) },
		func(_ *team, _, config string) string { return "triggers.listen = \"127.0.0.1:0\"\n" + config })
	n1, n3 := tm.nodes["n1"], tm.nodes["n3"]
	tm.pod("site")
	n1.Podctl("trigger", "add", "pushed", "-p", "site", "--webhook", "work")
	secret := strings.TrimSpace(n3.Podctl("trigger", "show", "pushed", "--secret"))
	if other := strings.TrimSpace(n1.Podctl("trigger", "show", "pushed", "--secret")); other == secret {
		t.Error("two nodes have one secret")
	}
	url := ""
	for line := range strings.Lines(n3.Podctl("trigger", "show", "pushed")) {
		if rest, ok := strings.CutPrefix(line, "url: "); ok {
			url = strings.TrimSpace(rest)
		}
	}
	post := func(id string) int {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader("body"))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+secret)
		r.Header.Set("Idempotency-Key", id)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		return resp.StatusCode
	}
	if got := post("one"); got != http.StatusAccepted {
		t.Errorf("the first delivery is answered by %d", got)
	}
	if got := post("one"); got != http.StatusOK {
		t.Errorf("the same delivery is answered by %d", got)
	}
	if owner := tm.owner("site"); owner != "n1" {
		t.Errorf("the pod is at %s", owner)
	}
	rig.Await(t, "the turn", func() bool { return kinds(t, n3, "site", "turn_ended") == 1 })
	n1.Kill()
	rig.Await(t, "another node that accepts it", func() bool { return post("two") == http.StatusAccepted || post("two") == http.StatusOK })
	rig.Await(t, "the second turn", func() bool { return kinds(t, n3, "site", "turn_ended") == 2 })
	if n := strings.Count(n3.Podctl("trigger", "show", "site/pushed"), "fired"); n != 2 {
		t.Errorf("there are %d fires, want 2", n)
	}
}
