package worker

import (
	"reflect"
	"strings"
	"testing"

	"podd/pkg/item"
	"podd/pkg/llm"
)

func collect(t *testing.T, events ...llm.Event) (*timeline, []item.Delta) {
	t.Helper()
	var deltas []item.Delta
	tl := &timeline{turn: 3, step: 2, live: func(d item.Delta) { deltas = append(deltas, d) }}
	for _, ev := range events {
		if err := tl.add(ev); err != nil {
			t.Fatal(err)
		}
	}
	return tl, deltas
}

// A block's final text replaces its deltas if they differ, also in the size of the
// answer.
func TestTimelineLastWord(t *testing.T) {
	const head = len("c") + len("shell")
	tl, _ := collect(t,
		llm.BlockStart{Block: 0, Kind: llm.BlockToolCall, CallID: "c", Name: "shell"},
		llm.BlockDelta{Block: 0, Text: strings.Repeat("x", maxAnswer-head)},
		llm.BlockEnd{Block: 0, Text: `{"a":1}`},
		llm.End{Stop: llm.StopDone},
	)
	if got := tl.items(item.ModelRef{Model: "m"})[0].(item.ToolCall).Arguments; got != `{"a":1}` || tl.size != head+len(got) {
		t.Errorf("arguments %q, size %d", got, tl.size)
	}
}

// Overlapping blocks become items in the order of their starts; empty ones are left out,
// except calls.
func TestTimelineItems(t *testing.T) {
	secret := item.Opaque{API: "responses", JSON: "{}"}
	kept := item.Opaque{API: "responses", Model: "m", JSON: "{}"}
	tl, deltas := collect(t,
		llm.BlockStart{Block: 0, Kind: llm.BlockReasoning},
		llm.BlockStart{Block: 1, Kind: llm.BlockText},
		llm.BlockDelta{Block: 1, Text: "Hel"},
		llm.BlockDelta{Block: 0, Text: "hm"},
		llm.BlockStart{Block: 2, Kind: llm.BlockToolCall, CallID: "c", Name: "shell"},
		llm.BlockDelta{Block: 2, Text: `{"a":`},
		llm.BlockDelta{Block: 1, Text: "lo"},
		llm.BlockDelta{Block: 2, Text: `1}`},
		llm.BlockEnd{Block: 0, Opaque: secret},
		llm.BlockStart{Block: 3, Kind: llm.BlockText},
		llm.BlockStart{Block: 4, Kind: llm.BlockReasoning},
		llm.BlockEnd{Block: 4, Opaque: secret},
		llm.BlockStart{Block: 5, Kind: llm.BlockToolCall, Name: "todo"},
		llm.End{Stop: llm.StopDone},
	)
	want := []item.Item{
		item.Reasoning{Text: "hm", Opaque: kept},
		item.AssistantMessage{Text: "Hello"},
		item.ToolCall{CallID: "c", Name: "shell", Arguments: `{"a":1}`},
		item.Reasoning{Opaque: kept},
		item.ToolCall{Name: "todo"},
	}
	if got := tl.items(item.ModelRef{Model: "m"}); !reflect.DeepEqual(got, want) {
		t.Errorf("items %+v", got)
	}
	if tl.spoken() != "Hello" || tl.end == nil || len(tl.blockIDs()) != 6 {
		t.Errorf("spoken %q, end %v, blocks %v", tl.spoken(), tl.end, tl.blockIDs())
	}
	text := map[string]string{}
	for _, d := range deltas {
		if d.Turn != 3 || d.Step != 2 {
			t.Fatalf("delta %+v", d)
		}
		text[string(d.Kind)] += d.Text
	}
	if text["text"] != "Hello" || text["reasoning"] != "hm" || text["tool_arguments"] != `{"a":1}` {
		t.Errorf("deltas %v", text)
	}
}

// Events out of order are the model's error, and cause no panic.
func TestTimelineRefuses(t *testing.T) {
	for name, ev := range map[string]llm.Event{
		"a fragment before its start": llm.BlockDelta{Block: 1},
		"an end before its start":     llm.BlockEnd{Block: 7},
		"a negative block":            llm.BlockDelta{Block: -1},
		"a gap":                       llm.BlockStart{Block: 2, Kind: llm.BlockText},
		"an unknown kind":             llm.BlockStart{Block: 1, Kind: "picture"},
	} {
		tl, _ := collect(t, llm.BlockStart{Block: 0, Kind: llm.BlockText})
		err := tl.add(ev)
		if llm.ClassOf(err) != llm.ClassProtocol || !strings.Contains(err.Error(), "out of order") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An endless answer is cut off before it fills the memory.
func TestTimelineIsBounded(t *testing.T) {
	tl, _ := collect(t, llm.BlockStart{Block: 0, Kind: llm.BlockText})
	piece := strings.Repeat("x", 1<<20)
	var err error
	for n := 0; n < 10 && err == nil; n++ {
		err = tl.add(llm.BlockDelta{Block: 0, Text: piece})
	}
	if llm.ClassOf(err) != llm.ClassProtocol || len(tl.spoken()) > maxAnswer {
		t.Errorf("%d bytes, %v", len(tl.spoken()), err)
	}
}
