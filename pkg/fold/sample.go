package fold

import (
	"iter"
	"strings"
	"time"

	"podd/pkg/item"
)

// sample is a log with entries of every kind. Its fold distinguishes rules.
func sample(item.Seq, Selection) iter.Seq2[item.Entry, error] {
	return func(yield func(item.Entry, error) bool) {
		e := item.Entry{Time: time.Unix(1_000_000_000, 0).UTC()}
		for _, k := range sampleKinds() {
			e.Seq, e.Time, e.Kind = e.Seq+1, e.Time.Add(time.Minute), k
			if _, begins := k.(item.TurnStarted); begins {
				e.Turn++
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// sampleLimits are less than the results of the sample have.
var sampleLimits = []item.OutputLimit{{MaxBytes: 4000, MaxLines: 500, Strategy: "head_tail", HeadPercent: 50}}

// sampleKinds is a log whose beginning was removed, with three turns, the second of which
// a rewind undoes.
func sampleKinds() []item.Kind {
	setup := item.Setup{Model: "m", Base: "work", Environment: "here", Instructions: "be brief", Tools: []item.ToolSpec{{Name: "shell", Schema: "{}"}}, OutputLimits: sampleLimits}
	other := setup
	other.Model = "gpt-5.6"
	kinds := []item.Kind{
		item.Purged{Entries: 1, Setup: &setup, Totals: item.Totals{Turns: 1, Requests: []item.RequestTotal{{Model: "m", Usage: item.Usage{Input: 9}}}}},
		item.Submitted{RequestID: "r1", Text: "go on"},
		item.Submitted{RequestID: "r2"},
		item.Withdrawn{RequestIDs: []string{"r2"}},
		item.TurnStarted{RequestIDs: []string{"r1"}},
		setup,
		item.ItemAdded{Item: item.UserMessage{Text: "go on"}},
	}
	kinds = append(kinds, sampleStep("a", 1, item.Output{Kind: item.OutputRead, Path: "a.go"})...)
	kinds = append(kinds,
		item.Promoted{RequestIDs: []string{"r3"}},
		item.Job{ID: "1", CallID: "a", State: item.JobRunning},
		item.Checkpoint{Dir: "/w", Commit: "b", Parent: "a", By: item.ByAgent, Changed: 1},
		item.Restore{After: 2},
		item.WingEntry{Wing: "notes", Name: "note", Line: "a note", Data: "{}", Pending: true},
		item.Note{Text: "by the way", Wake: true, Job: "1"},
		item.ItemAdded{Item: item.SystemMessage{Origin: item.OriginNote, Text: "by the way"}},
	)
	kinds = append(kinds, sampleStep("b", 2, item.Output{Kind: item.OutputShell, IsError: true})...)
	place := item.Seq(len(kinds))
	kinds = append(kinds, item.Prune{Seqs: []item.Seq{place - 15, place}}, item.TurnEnded{Outcome: item.OutcomeFinished})
	kinds = append(kinds, item.TurnStarted{}, item.Recovered{})
	kinds = append(kinds, sampleStep("c", 1, item.Output{Kind: item.OutputEdit, Path: "a.go"})...)
	kinds = append(kinds, item.TurnEnded{Outcome: item.OutcomeInterrupted, Cause: "stopped"}, item.Rewind{To: place + 2}, item.UnknownKind{})
	kinds = append(kinds, item.TurnStarted{}, item.ItemAdded{Item: item.Reasoning{Text: "so"}},
		item.AlertRaised{Alert: item.Alert{Source: SourceFallback}}, other)
	kinds = append(kinds, sampleStep("d", 1, item.Output{Kind: item.OutputRead, Path: "a.go"})...)
	kinds = append(kinds, sampleStep("e", 2, item.Output{Kind: item.OutputShell})...)
	kinds = append(kinds, sampleStep("f", 3, item.Output{Kind: item.OutputRead, Path: "a.go"})...)
	kinds = append(kinds, sampleStep("g", 4, item.Output{Kind: item.OutputEdit, Path: "a.go"})...)
	return append(kinds,
		item.Compaction{Summary: item.SystemMessage{Origin: item.OriginCompaction, Text: "They went on."}, UpTo: place - 8},
		item.ItemAdded{Item: item.AssistantMessage{Text: "done"}},
		item.RequestUsage{Step: 2, Measured: true, Usage: item.Usage{Input: 90_000, CachedInput: 80_000, Output: 7, Requests: 1}, Model: "m"},
	)
}

// sampleStep is a step with a call that asks a person.
func sampleStep(id string, step int, out item.Output) []item.Kind {
	out.Summary, out.Content = "done", strings.Repeat(id, 5000)
	const arguments = `{"command":"cat b.go"}`
	return []item.Kind{
		item.ItemAdded{Item: item.ToolCall{CallID: id, Name: "shell", Arguments: arguments}},
		item.RequestUsage{Step: step, Measured: true, Usage: item.Usage{Input: int64(step) * 9000, CachedInput: 100, Output: 7, Requests: 1}, Model: "m"},
		item.ApprovalRequested{CallID: id, Tool: "shell", Arguments: arguments},
		item.ApprovalResolved{CallID: id, Approved: true, By: "ann"},
		item.ToolStarted{CallID: id, Tool: "shell", Arguments: arguments},
		item.ApprovalRequested{CallID: id, Tool: "shell", Key: "1", Form: &item.Form{Questions: []item.FormQuestion{{Text: "which?"}}}},
		item.ApprovalResolved{CallID: id, Key: "1", Approved: true, Replies: []item.FormReply{{Text: "this"}}, By: "ann"},
		item.ItemAdded{Item: item.ToolResult{CallID: id, Tool: "shell", Output: out}},
	}
}
