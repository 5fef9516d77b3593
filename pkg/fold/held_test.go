package fold_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/openai"
	"podd/pkg/tool"
)

// outputLimits are limits of the given number of bytes, and twice that for read_file.
func limiter(l []item.OutputLimit) fold.Limiter { return tool.LimitsOf(l).Hold }

func outputLimits(bytes int) []item.OutputLimit {
	return []item.OutputLimit{
		{MaxBytes: bytes, MaxLines: 5000, Strategy: "head_tail", HeadPercent: 50},
		{Tool: "read_file", MaxBytes: 2 * bytes, MaxLines: 5000, Strategy: "head", HeadPercent: 50},
	}
}

// For any log, each result in a request is within the limits of the last setup, and its
// tokens are those of the sent text. Without limits it is sent as stored, unless it was
// pruned.
func TestSentResultsAreWithinLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newPodLog(t)
		for range rapid.IntRange(0, 30).Draw(t, "entries") {
			l.drawEntries(t)
			setup, _ := l.state.Setup()
			limits := tool.LimitsOf(setup.OutputLimits)
			parts, size := l.state.Explain(time.Time{})
			total := size.Fixed
			for _, p := range parts {
				total += p.Tokens
				if r, ok := p.Item.(item.ToolResult); ok && !p.Pruned {
					if _, over := limits.Hold(r.Tool, r.Output); over {
						t.Fatalf("#%d is sent with %d bytes", p.Seq, len(r.Content))
					}
				}
			}
			if total != size.Total {
				t.Fatalf("the parts have %d tokens, all together %d", total, size.Total)
			}
		}
		l.append(item.Setup{Model: "m"})
		for i, it := range l.state.Request().Items {
			parts, _ := l.state.Explain(time.Time{})
			stored := slices.IndexFunc(l.entries, func(e item.Entry) bool { return e.Seq == parts[i].Seq })
			if r, ok := it.(item.ToolResult); ok && !parts[i].Pruned {
				if want := l.entries[stored].Kind.(item.ItemAdded).Item.(item.ToolResult); want.Output != r.Output {
					t.Fatalf("#%d is sent as %+v", parts[i].Seq, r.Output)
				}
			}
		}
	})
}

// A setup with lower limits cuts results from then on, also in the bodies, and says
// beforehand how much that is. With the earlier limits everything is sent again.
func TestLowerLimits(t *testing.T) {
	long := item.Output{Summary: "shell: seq, exit 0", Content: strings.Repeat("0123456789\n", 1000), Kind: item.OutputShell}
	calls := []item.Kind{
		item.Setup{Model: "m", OutputLimits: outputLimits(20_000)}, item.ItemAdded{Item: item.UserMessage{Text: "go"}},
		item.ItemAdded{Item: item.ToolCall{CallID: "c1", Name: "shell", Arguments: "{}"}},
		item.ItemAdded{Item: item.ToolCall{CallID: "c2", Name: "read_file", Arguments: "{}"}},
		item.ItemAdded{Item: item.ToolResult{CallID: "c1", Tool: "shell", Output: long}},
		item.ItemAdded{Item: item.ToolResult{CallID: "c2", Tool: "read_file", Output: long}},
	}
	s := foldOf(t, calls...)
	client, err := openai.New(openai.Config{BaseURL: "http://127.0.0.1:1/v1", API: "chat"})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	encode := client.Encoder()
	body := func() string {
		b, err := encode(llm.Request{Setup: s.Request().Setup, Items: s.Request().Items})
		if err != nil {
			t.Fatal(err)
		}
		return string(bytes.Join(b, nil))
	}
	before, tokens := body(), s.Tokens()
	if e := s.Excess(outputLimits(20_000)); e.Results != 0 {
		t.Errorf("the current limits leave out %+v", e)
	}
	e := s.Excess(outputLimits(6000))
	if e.Results != 1 || len(e.Tools) != 1 || e.Tools[0] != "shell" || e.Bytes < 4500 || e.Bytes > 5500 {
		t.Errorf("lower limits leave out %+v", e)
	}
	s.Add(item.Entry{Seq: 7, Kind: item.Setup{Model: "m", OutputLimits: outputLimits(6000)}})
	after := body()
	if len(before)-len(after) < 4500 || !strings.Contains(after, "[cut: ") || s.Tokens() > tokens-1000 {
		t.Errorf("%d bytes, %d tokens after %d, %d:\n%.200s", len(after), s.Tokens(), len(before), tokens, after)
	}
	if e := s.Excess(outputLimits(6000)); e.Results != 0 {
		t.Errorf("what is cut is cut again: %+v", e)
	}
	s.Add(item.Entry{Seq: 8, Kind: item.Setup{Model: "m", OutputLimits: outputLimits(20_000)}})
	if body() != before || s.Tokens() != tokens {
		t.Errorf("with the limits of before %d bytes are sent, want %d", len(body()), len(before))
	}
}
