package llmtest_test

import (
	"errors"
	"iter"
	"testing"

	"go.uber.org/goleak"

	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/llmtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stream yields events and then err, if it is not nil.
func stream(err error, events ...llm.Event) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		for _, ev := range events {
			if !yield(ev, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

func TestCollect(t *testing.T) {
	opaque := item.Opaque{API: "chat", JSON: "{}"}
	r, err := llmtest.Collect(stream(nil,
		llm.BlockStart{Block: 0, Kind: llm.BlockReasoning},
		llm.BlockStart{Block: 1, Kind: llm.BlockText},
		llm.BlockDelta{Block: 1, Text: "a"},
		llm.BlockDelta{Block: 0, Text: "h"},
		llm.BlockStart{Block: 2, Kind: llm.BlockToolCall, CallID: "c", Name: "n"},
		llm.BlockDelta{Block: 2, Text: "{}"},
		llm.BlockDelta{Block: 1, Text: "b"},
		llm.BlockEnd{Block: 0, Opaque: opaque},
		llm.End{Stop: llm.StopDone}))
	if err != nil || !r.Whole || r.Text() != "ab" || r.Reasoning() != "h" || len(r.Calls()) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	if r.Items[0] != (item.Reasoning{Text: "h", Opaque: opaque}) || r.Calls()[0] != (item.ToolCall{CallID: "c", Name: "n", Arguments: "{}"}) {
		t.Errorf("%+v", r.Items)
	}
}

func TestCollectFindsWhatIsWrong(t *testing.T) {
	start, end := llm.BlockStart{Kind: llm.BlockText}, llm.End{}
	for name, events := range map[string][]llm.Event{
		"a gap":                  {llm.BlockStart{Block: 1}},
		"a start twice":          {start, start},
		"text without a block":   {llm.BlockDelta{}},
		"text after its end":     {start, llm.BlockEnd{}, llm.BlockDelta{}},
		"an end twice":           {start, llm.BlockEnd{}, llm.BlockEnd{}},
		"a block below zero":     {start, llm.BlockDelta{Block: -1}},
		"something after End":    {end, start},
		"End twice":              {end, end},
		"nothing at all":         {nil},
		"a pointer, not a value": {&llm.BlockStart{}},
	} {
		if _, err := llmtest.Collect(stream(nil, events...)); err == nil {
			t.Errorf("%s was not found", name)
		}
	}
	broken := errors.New("broken")
	if r, err := llmtest.Collect(stream(broken, start)); !errors.Is(err, broken) || r.Whole || len(r.Items) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}
