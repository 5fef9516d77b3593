package item_test

import (
	"testing"

	"podd/pkg/item"
)

// An alert's reason, never its text, says whether it repeats an entry. For an alert from
// before reasons its source and level say so.
func TestAlertsThatRepeatAnEntry(t *testing.T) {
	tests := map[string]struct {
		alert item.Alert
		want  bool
	}{
		"the end of a turn":      {item.Alert{Level: item.LevelError, Source: "turn", Reason: item.ReasonTurnEnded}, true},
		"a call that waits":      {item.Alert{Level: item.LevelWarn, Source: "approval", Reason: item.ReasonApprovalWaits}, true},
		"a fallback":             {item.Alert{Level: item.LevelWarn, Source: "fallback", Reason: item.ReasonFallback}, false},
		"a later reason":         {item.Alert{Level: item.LevelInfo, Source: "turn", Reason: "LATER"}, false},
		"an old end":             {item.Alert{Level: item.LevelInfo, Source: "turn", Text: "turn 1 finished"}, true},
		"an old call that waits": {item.Alert{Level: item.LevelWarn, Source: "approval"}, true},
		"a warning about a turn": {item.Alert{Level: item.LevelWarn, Source: "turn", Text: "turn 1 finished"}, false},
		"of another source":      {item.Alert{Level: item.LevelInfo, Source: "workspace"}, false},
	}
	for name, tt := range tests {
		if got := tt.alert.Repeats(); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}
