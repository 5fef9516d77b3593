//go:build integrations

// Package shell tests podd the way a person in a shell uses it: with the programs as
// built for users.
package shell

import (
	"context"
	"strings"
	"testing"

	"podd/integrations/rig"
	"podd/pkg/llm/scripted"
)

func TestSubmitFollows(t *testing.T) {
	w := rig.New(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		return scripted.Say(scripted.Text("You said: " + r.LastUser()))
	})
	w.Podctl("create", "p", "--dir", w.Workspace)
	if out := w.Podctl("submit", "-p", "p", "-f", "good morning"); !strings.Contains(out, "You said: good morning") {
		t.Fatalf("the answer is not there:\n%s", out)
	}
	w.Kill()
	w.Start()
	if out := w.Podctl("tail", "p"); !strings.Contains(out, "You said: good morning") {
		t.Fatalf("the answer is not there after a crash:\n%s", out)
	}
}
