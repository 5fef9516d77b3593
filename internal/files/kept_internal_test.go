package files

import (
	"fmt"
	"testing"
	"time"

	"podd/pkg/item"
)

// Checkpoints since a time are kept, and always those of the last 20 turns that have some.
func TestKept(t *testing.T) {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var all []item.Entry
	for turn := range int64(30) {
		for side := range 2 {
			all = append(all, item.Entry{
				Turn: turn, Time: begin.AddDate(0, 0, int(turn)),
				Kind: item.Checkpoint{Dir: "/d", Commit: fmt.Sprintf("%d.%d", turn, side)},
			})
		}
	}
	for since, want := range map[int]string{0: "0.0", 5: "5.0", 10: "10.0", 20: "10.0", 100: "10.0"} {
		got := kept(all, begin.AddDate(0, 0, since))
		if len(got) == 0 || got[0].Commit != want || got[len(got)-1].Commit != "29.1" {
			t.Errorf("since day %d: %v, want the first to be %s", since, got, want)
		}
	}
	if got := kept(all[:6], begin.AddDate(1, 0, 0)); len(got) != 6 {
		t.Errorf("of three turns %d checkpoints are kept, want 6", len(got))
	}
}
