package subpods

import (
	"fmt"

	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/tool"
)

// child is a sub-pod, its task and its progress.
type child struct {
	fold.Task
	pod item.Pod
	// models is what is known about models; report shows progress.
	models fold.Models
	report func(text string)
	// cursor is the last entry that was read.
	cursor item.Seq
}

// add folds the next entry.
func (c *child) add(entry item.Entry) {
	c.cursor = entry.Seq
	if k, ok := entry.Kind.(item.ToolStarted); c.Add(entry) && ok {
		c.report(fmt.Sprintf("%s: %s %s\n", c.pod.Name, k.Tool, shortened(k.Arguments)))
	}
}

// used is what was billed until now.
func (c *child) used() share {
	spent := c.Spent(c.models)
	return share{spent: true, tokens: spent.Tokens(), cost: spent.Cost}
}

// output is the result of an ended turn: the pod's last answer, or why it has none.
func (c *child) output() tool.Output {
	end := c.Ended
	work := fmt.Sprintf("%s, %s, %d tokens", counted(end.Steps, "step"), counted(end.ToolCalls, "tool call"), c.used().tokens)
	out := tool.Output{Kind: item.OutputTask, Content: c.Text()}
	if end.Outcome == item.OutcomeFinished {
		out.Summary = tool.Bound(fmt.Sprintf("%s: %s finished: %s", pod.SpawnTool, c.pod.Name, work))
		return out
	}
	out.IsError = true
	out.Summary = tool.Bound(fmt.Sprintf("%s: %s did not finish (%s): %s (%s). Its work so far remains", pod.SpawnTool, c.pod.Name, end.Outcome, end.Cause, work))
	return out
}

// gone is the result of a turn whose end can't be known.
func (c *child) gone(why string) tool.Output {
	out := tool.Error("%s: %s: %s. Its work so far remains", pod.SpawnTool, c.pod.Name, why)
	out.Kind = item.OutputTask
	return out
}

// maxShownArguments bounds how much of a call's arguments progress shows, in bytes.
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
