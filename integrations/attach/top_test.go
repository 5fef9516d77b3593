//go:build integrations

package attach

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"podd/pkg/llm/scripted"
)

// The table is live: a turn begins and ends, podd is killed and comes back, the terminal
// changes its size. Enter attaches, leaving returns, q leaves the terminal as it was.
func TestTop(t *testing.T) {
	gate := make(chan struct{})
	w := world(t, scripted.Answers(scripted.Say(scripted.Text("The ans"), scripted.Wait(gate), scripted.Text("wer."))))
	w.Podctl("trigger", "add", "later", "-p", "p", "--at", "2030-01-02T03:04", "work")
	s := newScreen(t, w, 90, 12, nil, "top")
	s.await("pods: 1 · need you: 0 · at work: 0 · triggers: 1, next due 2030-01-02 03:04", "> p     idle", "Enter attach")
	for i := range 20 {
		w.Podctl("create", fmt.Sprintf("q%02d", i), "--dir", w.Workspace)
	}
	s.await("pods: 21", "9 of 21 pods")
	s.keys("End")
	s.await("> q19")
	s.keys("Home")
	w.Podctl("submit", "-p", "p", "go")
	long := regexp.MustCompile(`> p     running  the model.* ([2-9]|[1-9][0-9]) s `)
	s.awaitThat("the model at work for some seconds", func(shown string) bool {
		return strings.Contains(shown, "at work: 1") && long.MatchString(shown)
	})
	w.Kill()
	s.await("lost the connection to podd; retrying")
	w.Start()
	s.await("pods: 21 · need you: 0 · at work: 1", "> p     resuming")
	s.keys("Enter")
	s.await("The ans", "turn 1 running")
	close(gate)
	s.await("The answer.", "p · idle")
	s.keys("C-d")
	s.await("pods: 21 · need you: 0 · at work: 0", "> p     idle")
	_ = s.command("resize-window", "-x", "40", "-y", "8").Run() // The next check sees a failure.
	shown := s.await("5 of 21 pods")
	if strings.Contains(shown, "TODAY") {
		t.Errorf("a narrow terminal shows\n%s", shown)
	}
	s.typed("q")
	s.await("shell>")
	s.restored()
}

// Without colours nothing is coloured.
func TestTopWithoutColor(t *testing.T) {
	w := world(t, scripted.Answers())
	w.Podctl("pause", "p")
	s := newScreen(t, w, 80, 12, []string{"NO_COLOR=1"}, "top")
	s.await("> p     paused")
	if shown := s.escapes(); regexp.MustCompile(`\x1b\[[0-9;]*[39][0-7]m`).MatchString(shown) {
		t.Errorf("colours are there:\n%q", shown)
	}
	s.keys("Escape")
	s.await("shell>")
}
