package wire_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"podd/pkg/item"
	"podd/pkg/wire"
)

func TestKindNames(t *testing.T) {
	names := wire.KindNames()
	if names[0] != "submitted" || names[len(names)-1] != "alert" || slices.Contains(names, "") {
		t.Errorf("names %q", names)
	}
	for want, kind := range map[string]item.Kind{
		"turn_ended": item.TurnEnded{}, "usage": item.RequestUsage{}, "recovered": item.Recovered{}, "": item.UnknownKind{},
	} {
		if got := wire.KindName(kind); got != want {
			t.Errorf("%T is called %q, want %q", kind, got, want)
		}
	}
}

func TestJSON(t *testing.T) {
	text, err := wire.EntryJSON(item.Entry{Seq: 7, Time: time.Unix(0, 0), Turn: 2, Kind: item.Note{Text: "a\n<b>\xff"}})
	if err != nil || !json.Valid(text) || strings.Contains(string(text), "\n") ||
		!strings.Contains(string(text), `"seq":"7"`) || !strings.Contains(string(text), `"text":"a\n<b>`) {
		t.Errorf("%s, %v", text, err)
	}
	text, err = wire.AlertJSON(item.Alert{Level: item.LevelWarn, Text: "x"})
	if err != nil || !strings.Contains(string(text), `"level":"ALERT_LEVEL_WARN"`) || !strings.Contains(string(text), `"acked":false`) {
		t.Errorf("%s, %v", text, err)
	}
}
