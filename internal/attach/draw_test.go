package attach

import (
	"strings"
	"testing"

	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// However long the reason is, the state line says what the pod does.
func TestStateLineKeepsTheState(t *testing.T) {
	a := &app{
		turn: 3, log: newTranscript(), screen: &terminal{columns: 60, rows: 20},
		pod: &poddv1.Pod{Name: "p", State: poddv1.PodState_POD_STATE_WAITING, StateReason: strings.Repeat("the endpoint answers 503 ", 9)},
	}
	got := a.statusLine(page{})
	if !strings.Contains(got, "turn 3 waits: the endpoint") || columnsOf(got) > 60 {
		t.Errorf("the state line is %q", got)
	}
}

// A request that is sent again is no cut answer when none had begun.
func TestRestartWithoutAnAnswer(t *testing.T) {
	log := newTranscript()
	log.delta(item.Delta{Restarted: true, Text: "trying again in 2s"})
	if len(log.blocks) != 0 {
		t.Errorf("it shows %q", log.blocks[0].text.String())
	}
	log.delta(item.Delta{Kind: item.DeltaText, Block: "1", Text: "The ans"})
	log.delta(item.Delta{Restarted: true, Text: "trying again in 2s"})
	if len(log.blocks) != 1 || !strings.Contains(log.blocks[0].text.String(), "the answer was cut") {
		t.Errorf("%d blocks", len(log.blocks))
	}
}

// A denial shows once, with the call's result.
func TestDenialShowsOnce(t *testing.T) {
	a := &app{log: newTranscript()}
	a.log.called(item.ToolCall{CallID: "c", Name: "shell", Arguments: "{}"})
	a.resolved(item.ApprovalResolved{CallID: "c", By: "podctl (ada)", Reason: "no"})
	denied := item.ToolResult{CallID: "c", Tool: "shell"}
	denied.IsError, denied.Summary = true, "shell: not run: denied by podctl (ada): no"
	a.log.result(denied)
	if len(a.log.blocks) != 1 {
		t.Errorf("it shows %d blocks", len(a.log.blocks))
	}
}
