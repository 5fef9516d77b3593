package triggers

import (
	"testing"
	"time"

	"podd/internal/questions"
	"podd/pkg/item"
	"podd/pkg/pod"
)

// A change is the pod's own while a call of it ran, until its result or the end of its turn; not while the pod asks a person or
// waits for sub-pods.
func TestWhoseChange(t *testing.T) {
	begin := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	at := func(second int) time.Time { return begin.Add(time.Duration(second) * time.Second) }
	b := ran{open: make(map[string]int)}
	for second, k := range []item.Kind{
		2:  item.ToolStarted{CallID: "a", Tool: "shell"},
		4:  item.ItemAdded{Item: item.ToolResult{CallID: "a"}},
		6:  item.ToolStarted{CallID: "b", Tool: questions.Name},
		8:  item.ItemAdded{Item: item.ToolResult{CallID: "b"}},
		10: item.ToolStarted{CallID: "c", Tool: pod.WaitTool},
		11: item.ToolStarted{CallID: "d", Tool: pod.SpawnTool},
		14: item.ToolStarted{CallID: "e", Tool: "shell"},
		16: item.TurnEnded{},
		20: item.ToolStarted{CallID: "f", Tool: "shell"},
	} {
		if k != nil {
			b.add(item.Entry{Time: at(second), Kind: k})
		}
	}
	for second, own := range map[int]bool{1: false, 2: true, 4: true, 5: false, 7: false, 12: false, 14: true, 16: true, 17: false, 21: true, 1000: true} {
		c := change{at: at(second)}
		if got := c.during(b.all, begin); got != own {
			t.Errorf("a change at %d s is the pod's own: %t", second, got)
		}
	}
	if early := (&change{at: at(2).Add(-coarse)}); !early.during(b.all, begin) {
		t.Error("the clock of files is behind")
	}
	gone := change{}
	for seen, own := range map[int]bool{3: true, 15: true, 16: false} {
		if got := gone.during(b.all[:2], at(seen)); got != own {
			t.Errorf("a file that is gone, and was there at %d s, was removed by the pod: %t", seen, got)
		}
	}
}
