package attach

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"podd/internal/clients/view"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// What a frame has of a question counts as seen once the terminal has painted that frame:
// of keys that come at once, only the last one's is.
func TestSeenOncePainted(t *testing.T) {
	for _, painted := range []bool{true, false} {
		a := scene(t)
		a.columns, a.rows, a.calls.answering = 60, 12, true
		a.calls.questions = []*question{{Approval: &poddv1.Approval{}, shown: view.Approval{Pod: "p", Call: 9, ApprovalRequested: item.ApprovalRequested{
			Tool: "shell", Arguments: `{"command":"` + strings.Repeat(`true\n`, 25) + `"}`, Question: "it asks",
		}}}}
		m := a
		_ = m.View()
		for range 5 {
			if painted {
				a.painted.Add(1)
			}
			_, _ = m.Update(tea.KeyPressMsg{Code: tea.KeyPgUp})
			_ = m.View()
		}
		a.painted.Add(1)
		_, _ = m.Update(tea.KeyPressMsg{Code: 'y', Text: "y"})
		q := a.calls.questions[0]
		if q.whole() != painted {
			t.Errorf("painted each time: %v; seen all of it: %v", painted, q.whole())
		}
		if !q.seen[0] || !painted && q.seen[len(q.seen)-1] {
			t.Errorf("painted each time: %v; seen %v", painted, q.seen)
		}
		// A frame that stays the same needs no further painting.
		_ = m.View()
		if a.calls.wholly() != painted {
			t.Errorf("the hint says that all was shown: %v", a.calls.wholly())
		}
	}
}
