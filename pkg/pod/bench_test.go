package pod_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"podd/internal/workspace"
	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/openai"
	"podd/pkg/pod"
	"podd/pkg/store"
)

// BenchmarkOpen measures loading a pod of 100,000 entries and making its next request:
// with a log that is all in the context, and with one that is compacted except for its
// last turn, and was loaded before.
func BenchmarkOpen(b *testing.B) {
	const turns, steps = 500, 50
	state := b.TempDir()
	s, err := store.OpenBolt(store.BoltConfig{Path: filepath.Join(state, "podd.db")})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	m, err := openai.New(openai.Config{BaseURL: "http://127.0.0.1:1/v1", API: "chat"})
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	fillLog(b, s, "whole", turns, steps, false)
	fillLog(b, s, "compacted", turns, steps, true)
	for _, name := range []string{"whole", "compacted"} {
		b.Run(name, func(b *testing.B) {
			open := func() {
				w, err := workspace.New(workspace.Config{SpoolDir: filepath.Join(state, "spool")}, workspace.Settings{})
				if err != nil {
					b.Fatal(err)
				}
				h, err := pod.NewHost(b.Context(), pod.Config{
					Fixed: pod.Fixed{Store: s, Workspaces: w}, Settings: pod.Settings{Router: llm.One(m), Model: item.ModelRef{Model: "m"}},
				})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := h.Context(b.Context(), name); err != nil {
					b.Fatal(err)
				}
				h.Close(b.Context())
			}
			open()
			b.ReportAllocs()
			for b.Loop() {
				open()
			}
		})
	}
}

// fillLog makes a pod with the given number of turns, each with the given number of steps
// of four entries.
func fillLog(b *testing.B, s store.Store, name string, turns, steps int, compacted bool) {
	b.Helper()
	p := item.Pod{ID: "pod_" + name, Name: name, Spec: item.PodSpec{Dir: b.TempDir()}, Status: item.PodStatus{State: item.StateIdle, Turn: int64(turns)}}
	if err := s.CreatePod(b.Context(), p); err != nil {
		b.Fatal(err)
	}
	epoch, err := s.Claim(b.Context(), p.ID)
	if err != nil {
		b.Fatal(err)
	}
	last := item.Seq(0)
	write := func(turn int64, kinds []item.Kind) {
		batch := store.Batch{Pod: p.ID, Epoch: epoch}
		for _, k := range kinds {
			batch.Entries = append(batch.Entries, item.Entry{Time: time.Unix(turn, 0), Turn: turn, Kind: k})
		}
		if _, err := s.Append(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
		last += item.Seq(len(kinds))
	}
	for turn := range int64(turns) {
		if compacted && turn == int64(turns)-1 {
			write(0, []item.Kind{item.Compaction{Summary: item.SystemMessage{Origin: item.OriginCompaction, Text: "What was."}, UpTo: last}})
		}
		kinds := []item.Kind{item.TurnStarted{}, item.ItemAdded{Item: item.UserMessage{Text: "Go on."}}}
		for step := range steps {
			id := fmt.Sprintf("call_%d_%d", turn, step)
			kinds = append(kinds,
				item.ItemAdded{Item: item.ToolCall{CallID: id, Name: "shell", Arguments: `{"command":"make"}`}},
				item.RequestUsage{Usage: item.Usage{Input: 1000, Output: 10, Requests: 1}, Measured: true, Model: "m", Step: step + 1, RequestBytes: 4000},
				item.ToolStarted{CallID: id, Tool: "shell", Arguments: `{"command":"make"}`},
				item.ItemAdded{Item: item.ToolResult{CallID: id, Tool: "shell", Output: item.Output{
					Summary: "shell: make, exit 0, 10 lines", Content: strings.Repeat("compiled a file\n", 10), Kind: item.OutputShell}}})
		}
		write(turn+1, append(kinds, item.ItemAdded{Item: item.AssistantMessage{Text: "Done."}}, item.TurnEnded{Outcome: item.OutcomeFinished}))
	}
}
