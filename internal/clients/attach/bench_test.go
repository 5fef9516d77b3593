package attach

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"podd/internal/clients/desk"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// long is a view of 200 by 50 with a conversation of 5,000 blocks.
func long(b *testing.B) *app {
	a := newApp(b.Context(), nil, Config{Env: noEnv, Color: true, Desk: desk.Defaults()}, &poddv1.Pod{Name: "p"})
	a.ready, a.said, a.columns, a.rows = true, "", 200, 50
	for i := range 1250 {
		id := fmt.Sprint("c", i)
		a.log.see(item.UserMessage{Text: "fix the test that fails"},
			item.ToolCall{CallID: id, Name: "shell", Arguments: `{"command":"make test"}`},
			item.ToolResult{CallID: id, Tool: "shell", Output: item.Output{Summary: "shell: make test, exit 0", Content: strings.Repeat("ok\n", 50)}},
			item.AssistantMessage{Text: "## What was wrong\n\nThe **cause** is in `main.go`:\n\n```go\nif x == nil {\n\treturn\n}\n```\n\n- one\n- two\n\n" + strings.Repeat("Some words of prose. ", 20)},
			item.TurnEnded{Outcome: item.OutcomeFinished})
	}
	return a
}

// BenchmarkFrame draws screens of 200 by 50 below 5,000 blocks: the first one, then one after
// each fragment of an answer, and after each key that scrolls.
func BenchmarkFrame(b *testing.B) {
	b.Run("first", func(b *testing.B) {
		a := long(b)
		for b.Loop() {
			for _, l := range a.log.blocks {
				l.lines, l.answer = nil, answer{}
			}
			_ = a.View()
		}
	})
	for name, change := range map[string]func(a *app){
		"stream": func(a *app) { a.log.see(text("live", "word ")) },
		"scroll": func(a *app) { a.press(key{kind: keyWheelUp}) },
	} {
		b.Run(name, func(b *testing.B) {
			a := long(b)
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				change(a)
				_ = a.View()
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}

// BenchmarkHour streams what a model writes in an hour at 50 tokens a second, in turns of five
// minutes, and reports how much the memory of the view grows. The first five minutes do not
// count: they fill what the view keeps for drawing. 0.9 MiB of it are the text itself.
func BenchmarkHour(b *testing.B) {
	for b.Loop() {
		a := long(b)
		_ = a.View()
		before := int64(0)
		for turn := range 13 {
			if turn == 1 {
				before = heap()
			}
			var whole strings.Builder
			for i := range 5 * 60 * 50 {
				word := "word "
				if i%60 == 59 {
					word = "end.\n\n"
				}
				whole.WriteString(word)
				a.log.see(text(fmt.Sprint("t", turn), word))
				if i%5 == 0 {
					_ = a.View()
				}
			}
			a.log.see(item.AssistantMessage{Text: strings.Clone(whole.String())}, item.TurnEnded{Outcome: item.OutcomeFinished})
			_ = a.View()
		}
		b.ReportMetric(float64(heap()-before)/(1<<20), "grown-MiB")
		runtime.KeepAlive(a)
	}
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc) //nolint:gosec // It is no exabyte.
}
