package pod

import (
	"fmt"
	"slices"
	"strings"

	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/tool"
)

// errand is what the log of a spawned pod says about the turn that it was spawned for.
type errand struct {
	pod  item.Pod
	task string
	// prices are those of the configuration; report shows progress.
	prices []fold.ModelPrice
	report func(text string)

	// cursor is the last entry that was read. given says that the pod has got the task.
	cursor item.Seq
	given  bool
	// turn is the number of the turn, 0 until it has begun; ended is its end.
	turn  int64
	ended *item.TurnEnded
	// bills are what the turn was billed, one for each model that was asked and answered.
	bills []item.RequestUsage
	// said is the text of the last answer.
	said []string
}

// add folds the next entry in.
func (e *errand) add(entry item.Entry) {
	e.cursor = entry.Seq
	switch k := entry.Kind.(type) {
	case item.Purged:
		e.purged(entry.Turn, k)
	case item.Submitted:
		e.given = e.given || k.RequestID == e.task
	case item.Withdrawn:
		if slices.Contains(k.RequestIDs, e.task) {
			e.ended = &item.TurnEnded{Outcome: item.OutcomeCancelled, Cause: "its task was taken out of its inbox"}
		}
	case item.TurnStarted:
		if slices.Contains(k.RequestIDs, e.task) {
			e.turn, e.bills, e.said = entry.Turn, nil, nil
		}
	}
	if e.turn == 0 || entry.Turn != e.turn {
		return
	}
	switch k := entry.Kind.(type) {
	case item.RequestUsage:
		e.bill(k)
	case item.ToolStarted:
		e.report(fmt.Sprintf("%s: %s %s\n", e.pod.Name, k.Tool, shortened(k.Arguments)))
	case item.ItemAdded:
		e.item(k.Item)
	case item.TurnEnded:
		e.ended = &k
	}
}

// purged is for a log whose beginning is gone, the task with it. When the turn began there
// it is the one that was open then; else its start follows.
func (e *errand) purged(turn int64, k item.Purged) {
	e.given, e.turn = true, turn
	for _, r := range k.Totals.Requests {
		e.bill(r.Request())
	}
}

func (e *errand) item(it item.Item) {
	switch it := it.(type) {
	case item.AssistantMessage:
		e.said = append(e.said, it.Text)
	case item.ToolResult, item.UserMessage, item.SystemMessage:
		e.said = nil
	}
}

// bill adds what a request was billed to the sum of its models.
func (e *errand) bill(u item.RequestUsage) {
	i := slices.IndexFunc(e.bills, func(b item.RequestUsage) bool {
		return b.Model == u.Model && b.Asked == u.Asked && b.Measured == u.Measured
	})
	if i < 0 {
		i = len(e.bills)
		e.bills = append(e.bills, item.RequestUsage{Model: u.Model, Asked: u.Asked, Measured: u.Measured, Purpose: item.PurposeSubPod})
	}
	e.bills[i].Usage = e.bills[i].Usage.Add(u.Usage)
	e.bills[i].DurationMS += u.DurationMS
}

// used is what was billed so far.
func (e *errand) used() share {
	s := share{spent: true}
	for _, b := range e.bills {
		s.tokens += b.Usage.Input + b.Usage.Output
		if usd, known := fold.CostOf(b, e.prices); known {
			s.cost += usd
		}
	}
	return s
}

// output is the result of a turn that has ended: what the pod said last, or why it did
// not get that far.
func (e *errand) output() tool.Output {
	end := e.ended
	work := fmt.Sprintf("%s, %s, %d tokens", counted(end.Steps, "step"), counted(end.ToolCalls, "tool call"), e.used().tokens)
	out := tool.Output{Kind: item.OutputTask, Content: strings.Join(e.said, "\n\n")}
	if end.Outcome == item.OutcomeFinished {
		out.Summary = tool.Bound(fmt.Sprintf("%s: %s finished: %s", SpawnTool, e.pod.Name, work))
		return out
	}
	out.IsError = true
	out.Summary = tool.Bound(fmt.Sprintf("%s: %s did not finish (%s): %s (%s). What it did before stands", SpawnTool, e.pod.Name, end.Outcome, end.Cause, work))
	return out
}

// gone is the result of a turn whose end can't be known.
func (e *errand) gone(why string) tool.Output {
	out := tool.Error("%s: %s: %s. What it did before stands", SpawnTool, e.pod.Name, why)
	out.Kind = item.OutputTask
	return out
}

// maxShownArguments is how much of a call's arguments is shown as progress, in bytes.
const maxShownArguments = 100

func shortened(arguments string) string {
	if len(arguments) <= maxShownArguments {
		return arguments
	}
	return tool.Repair(arguments[:maxShownArguments]) + "…"
}

// counted is "1 step" or "2 steps".
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
