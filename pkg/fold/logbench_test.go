package fold

import (
	"fmt"
	"testing"
	"time"

	"podd/pkg/item"
)

// grown is a log of at least the given number of entries, in turns of 20 steps. compacted
// replaces all but the last turn by a summary.
func grown(entries int, compacted bool) (log []item.Entry) {
	var turn int64
	add := func(kinds ...item.Kind) {
		for _, k := range kinds {
			seq := item.Seq(len(log) + 1)
			log = append(log, item.Entry{Seq: seq, Turn: turn, Time: time.Unix(int64(seq), 0).UTC(), Kind: k})
		}
	}
	add(item.Setup{Model: "dear", Tools: make([]item.ToolSpec, 12)})
	for len(log) < entries {
		last := item.Seq(len(log))
		turn++
		id := fmt.Sprint("r", turn)
		add(item.Submitted{RequestID: id}, item.TurnStarted{RequestIDs: []string{id}}, item.ItemAdded{Item: item.UserMessage{Text: "go on"}})
		for step := range 20 {
			call := fmt.Sprint("c", len(log))
			add(item.ItemAdded{Item: item.AssistantMessage{Text: "let me see"}},
				item.ItemAdded{Item: item.ToolCall{CallID: call, Name: "read_file", Arguments: `{"path":"a.go"}`}},
				item.RequestUsage{Step: step + 1, Model: "dear", Measured: true, Usage: item.Usage{Input: int64(len(log)), Requests: 1}},
				item.ToolStarted{CallID: call, Tool: "read_file", Arguments: `{"path":"a.go"}`},
				item.ItemAdded{Item: item.ToolResult{CallID: call, Tool: "read_file", Output: item.Output{
					Kind: item.OutputRead, Path: fmt.Sprintf("dir/file%d.go", len(log)%500), Summary: "20 lines", Content: "some text of a file",
				}}})
		}
		add(item.TurnEnded{Outcome: item.OutcomeFinished})
		if compacted && len(log) >= entries {
			add(item.Compaction{Summary: item.SystemMessage{Text: "so far"}, UpTo: last - 1})
		}
	}
	return log
}

// BenchmarkAdd measures adding one entry to a log of 100,000.
func BenchmarkAdd(b *testing.B) {
	rules, log := newRules(b), grown(100_000, false)
	f, i := rules.New(), 0
	for b.Loop() {
		if i == len(log) {
			f, i = rules.New(), 0
		}
		f.Add(log[i])
		i++
	}
}

// BenchmarkBase measures saving and restoring the fold of a log of 100,000 entries, whole
// and compacted.
func BenchmarkBase(b *testing.B) {
	for name, compacted := range map[string]bool{"whole": false, "compacted": true} {
		rules, log := newRules(b), grown(100_000, compacted)
		f := rules.New()
		for _, e := range log {
			f.Add(e)
		}
		saved, err := f.Save()
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name+"/save", func(b *testing.B) {
			b.ReportMetric(float64(len(saved)), "bytes")
			for b.Loop() {
				if _, err := f.Save(); err != nil {
					b.Fatal(err)
				}
			}
		})
		from := max(f.Context.First()-1, 0)
		read := reading(log[from:])
		b.Run(name+"/restore", func(b *testing.B) {
			for b.Loop() {
				if _, err := rules.Restore(saved, read); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRules measures making the rules, as at podd's start and at a reload.
func BenchmarkRules(b *testing.B) {
	for b.Loop() {
		newRules(b)
	}
}

// BenchmarkClone measures the copy of a fold with 2,000 items that a replay makes for a
// rewind.
func BenchmarkClone(b *testing.B) {
	f := newRules(b).New()
	for _, e := range grown(3300, false) {
		f.Add(e)
	}
	for b.Loop() {
		f.clone()
	}
}
