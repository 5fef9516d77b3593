package pod

import (
	"fmt"

	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/tool"
)

// errand is what a spawned pod was spawned for, and how far it got.
type errand struct {
	fold.Task
	pod item.Pod
	// prices are those of the configuration; report shows progress.
	prices []fold.ModelPrice
	report func(text string)
	// cursor is the last entry that was read.
	cursor item.Seq
}

// add folds the next entry in.
func (e *errand) add(entry item.Entry) {
	e.cursor = entry.Seq
	if k, ok := entry.Kind.(item.ToolStarted); e.Add(entry) && ok {
		e.report(fmt.Sprintf("%s: %s %s\n", e.pod.Name, k.Tool, shortened(k.Arguments)))
	}
}

// used is what was billed so far.
func (e *errand) used() share {
	spent := e.Spent(e.prices)
	return share{spent: true, tokens: spent.Tokens(), cost: spent.Cost}
}

// output is the result of a turn that has ended: what the pod said last, or why it did
// not get that far.
func (e *errand) output() tool.Output {
	end := e.Ended
	work := fmt.Sprintf("%s, %s, %d tokens", counted(end.Steps, "step"), counted(end.ToolCalls, "tool call"), e.used().tokens)
	out := tool.Output{Kind: item.OutputTask, Content: e.Text()}
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
