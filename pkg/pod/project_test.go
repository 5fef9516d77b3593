package pod_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"podd/internal/guard/policy"
	"podd/internal/workspace"
	"podd/pkg/item"
	"podd/pkg/llm/scripted"
)

// writesAgents is a model that changes AGENTS.md in the middle of its turn.
func writesAgents(_ context.Context, r scripted.Request) scripted.Reply {
	if r.Steps() == 0 {
		return scripted.Say(scripted.Call{Name: "shell", Arguments: `{"command":"printf 'Use spaces.' > AGENTS.md"}`})
	}
	return scripted.Say(scripted.Text("done"))
}

// The workspace's text is sent as its word, read when a turn begins, and stays the same
// until it ends.
func TestProjectInstructions(t *testing.T) {
	h := newHouse(t, writesAgents)
	h.write("AGENTS.md", "Use tabs.")
	h.run("go")
	h.restart()
	shown, err := h.host.Context(t.Context(), "p")
	if err != nil || shown.ProjectSource != "AGENTS.md" || !strings.Contains(shown.Project, "Use spaces.") {
		t.Fatalf("context shows %q from %q: %v", shown.Project, shown.ProjectSource, err)
	}
	h.run("again")
	requests := h.model.Requests()
	if len(requests) != 3 {
		t.Fatalf("%d requests", len(requests))
	}
	for i, says := range []string{"Use tabs.", "Use tabs.", "Use spaces."} {
		if !bytes.Contains(requests[i], []byte(`as files of the workspace say`)) || !bytes.Contains(requests[i], []byte(`From the file AGENTS.md\n\n`+says)) {
			t.Errorf("request %d does not say %q:\n%s", i, says, requests[i])
		}
	}
	if !bytes.HasPrefix(requests[2], bytes.TrimRight(shown.Body, `"]}`)) {
		t.Errorf("the request is not what the context showed:\n%s\n%s", shown.Body, requests[2])
	}
	if got := len(kinds[item.Setup](h.log())); got != 2 {
		t.Errorf("%d setups are stored, want 2", got)
	}
}

// A turn that resumes after a restart sends what its first request sent.
func TestProjectInstructionsOverARestart(t *testing.T) {
	reached := make(chan struct{})
	var once sync.Once
	h, f := newFaultyHouse(t, func(ctx context.Context, r scripted.Request) scripted.Reply {
		if r.Steps() == 1 {
			once.Do(func() {
				close(reached)
				<-ctx.Done()
			})
		}
		return writesAgents(ctx, r)
	})
	h.write("AGENTS.md", "Use tabs.")
	s := h.submit("go")
	<-reached
	h.kill(f)
	if end := h.ended(s); end.Outcome != item.OutcomeFinished {
		t.Fatalf("the turn ended %+v", end)
	}
	for i, r := range h.model.Requests() {
		if !bytes.Contains(r, []byte("Use tabs.")) {
			t.Errorf("request %d:\n%s", i, r)
		}
	}
}

// One alert reports a hostile file, and nothing of its target is sent.
func TestHostileProjectInstructions(t *testing.T) {
	h := newHouse(t, readLoop(0))
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("the secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	agents := filepath.Join(h.dir, "AGENTS.md")
	for i, plant := range []func() error{
		func() error { return os.Symlink(secret, agents) },
		func() error { return syscall.Mkfifo(agents, 0o600) },
		func() error { return os.WriteFile(agents, []byte("a\u202eb\xff"), 0o600) },
	} {
		_ = os.Remove(agents)
		if err := plant(); err != nil {
			t.Fatal(err)
		}
		h.run("go")
		h.restart()
		h.run("go")
		alerts := slices.DeleteFunc(kinds[item.AlertRaised](h.log()), func(a item.AlertRaised) bool { return a.Alert.Source != "workspace" || a.Alert.Level != item.LevelWarn })
		if len(alerts) != i+1 {
			t.Errorf("%d alerts after %d files: %+v", len(alerts), i+1, kinds[item.AlertRaised](h.log()))
		}
		// An alert reports a file that differs from the previous turn's, once.
		told := slices.DeleteFunc(kinds[item.AlertRaised](h.log()), func(a item.AlertRaised) bool { return !strings.Contains(a.Alert.Text, "instructions changed") })
		if len(told) != i {
			t.Errorf("%d changes are reported after %d files: %+v", len(told), i+1, told)
		}
	}
	for _, r := range h.model.Requests() {
		if bytes.Contains(r, []byte("the secret")) || bytes.Contains(r, []byte("\u202e")) {
			t.Errorf("sent:\n%s", r)
		}
	}
}

// The configuration of a workspace applies to the pod's sub-pods at any depth, and an
// allowing rule of the pod does not override it.
func TestProjectHoldsForSpawnedPods(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	h := spawning(t, 1, map[string]scripted.Handler{
		"go":    steps(scripted.Say(spawn(`{"task":"child","dir":"sub"}`)), scripted.Say(scripted.Text("done"))),
		"child": steps(scripted.Say(shell("echo x > ran")), scripted.Say(scripted.Text("done"))),
	}, func(c *options) {
		c.Rules = []item.Rule{{Tool: "*", Decision: policy.Allow}}
		c.Project = func(dir string) workspace.Project {
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, dir)
			return workspace.Project{Rules: []item.Rule{{Tool: "shell", Decision: policy.Deny, Source: "the workspace"}}}
		}
	})
	if err := os.Mkdir(filepath.Join(h.dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	h.run("go")
	if h.exists("sub/ran") {
		t.Error("the call of a spawned pod ran against the workspace's rule")
	}
	mu.Lock()
	defer mu.Unlock()
	if len(asked) < 2 || slices.ContainsFunc(asked, func(dir string) bool { return dir != asked[0] }) {
		t.Errorf("asked for %q", asked)
	}
}
