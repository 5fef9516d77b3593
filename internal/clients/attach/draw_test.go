package attach

import (
	"strings"
	"testing"
	"time"

	"podd/internal/clients/cells"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// However long the reason is, the state line says what the pod does.
func TestStateLineKeepsTheState(t *testing.T) {
	a := &app{
		turn: 3, log: newBlockList(), columns: 60, rows: 20, now: time.Now,
		pod: &poddv1.Pod{Name: "p", State: poddv1.PodState_POD_STATE_WAITING, StateReason: strings.Repeat("the endpoint answers 503 ", 9)},
	}
	got := a.statusLine()
	if !strings.Contains(got, "turn 3 waiting: the endpoint") || cells.Width(got) > 60 {
		t.Errorf("the state line is %q", got)
	}
	a.pod.StateReason = "waiting until 2026-11-26 21:38:59: nothing answers"
	if got := a.statusLine(); !strings.Contains(got, "turn 3 waiting: until 2026") {
		t.Errorf("the state line of a wait is %q", got)
	}
}

// A resent request is not a cut answer if no answer had begun.
func TestRestartWithoutAnAnswer(t *testing.T) {
	log := newBlockList()
	log.see(item.Delta{Restarted: true, Text: "retrying in 2s"})
	if len(log.blocks) != 0 {
		t.Errorf("it shows %q", log.blocks[0].Text)
	}
	log.see(text("1", "The ans"), item.Delta{Restarted: true, Text: "retrying in 2s"})
	if got := shown(log, 80); len(got) != 1 || !strings.Contains(got[0], "the answer was cut") {
		t.Errorf("it shows %q", got)
	}
}

// A denial shows once, with the call's result.
func TestDenialShowsOnce(t *testing.T) {
	log := newBlockList()
	denied := item.ToolResult{CallID: "c", Tool: "shell"}
	denied.IsError, denied.Summary = true, "shell: not run: denied by podctl (ada): no"
	log.see(item.ToolCall{CallID: "c", Name: "shell", Arguments: "{}"}, item.ApprovalResolved{CallID: "c", By: "podctl (ada)", Reason: "no"}, denied)
	if got := shown(log, 80); len(got) != 1 {
		t.Errorf("it shows %q", got)
	}
}

func TestShiftTabTogglesPlanMode(t *testing.T) {
	a := &app{now: time.Now, rows: 24, columns: 80, log: newBlockList()}
	for _, want := range []string{"plan> ", "> "} {
		a.press(key{kind: keyPlan})
		if rows, _, _ := a.inputRows(); len(rows) != 1 || rows[0] != want {
			t.Errorf("the input is %q, want %q", rows, want)
		}
	}
}
