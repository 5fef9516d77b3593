package view

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"podd/internal/sanitize"
	"podd/pkg/item"
)

// described is an entry as its block: a safe title, and a body that is made safe
// when it is written.
type described struct {
	title string
	style style
	body  string
	// markdown says that the body is Markdown.
	markdown bool
	// above says that the body has been printed above already.
	above bool
}

// describe is an entry as a title and a body.
func describe(e item.Entry) described {
	switch k := e.Kind.(type) {
	case item.Submitted:
		return described{title: submitted(k), style: bold, body: k.Text}
	case item.Promoted:
		return described{title: "joined the running turn: " + list(k.RequestIDs)}
	case item.Withdrawn:
		return described{title: "removed from the queue: " + list(k.RequestIDs)}
	case item.TurnStarted:
		return described{title: fmt.Sprintf("turn %d started%s", e.Turn, bound(k.Plan, k.NoQuestions, k.AnswerSchema))}
	case item.TurnEnded:
		return turnEnded(e.Turn, k)
	case item.Setup:
		return described{title: fmt.Sprintf("setup: model %s%s, %s", sanitize.Line(modelAt(k.Endpoint, k.Model)), effortOf(k), counted(len(k.Tools), "tool"))}
	case item.ItemAdded:
		return describeItem(k.Item)
	case item.ToolStarted:
		return described{title: "started " + sanitize.Line(orTool(k.Tool))}
	case item.RequestUsage:
		return described{title: requestUsage(k), style: dim}
	case item.AlertRaised:
		return described{title: "alert " + AlertText(k.Alert), style: alertStyle(k.Alert.Level)}
	case item.Recovered:
		return described{title: "recovered", style: yellow, body: k.Reason}
	case item.Note:
		return described{title: noteTitle(k), body: k.Text}
	}
	return describeRare(e.Kind)
}

// describeRare is the rest of describe.
func describeRare(kind item.Kind) described {
	switch k := kind.(type) {
	case item.Prune:
		return described{title: fmt.Sprintf("pruned %s", counted(len(k.Seqs), "result")), style: dim, body: k.Reason}
	case item.Compaction:
		return described{title: fmt.Sprintf("compacted up to #%d", k.UpTo), body: describeItem(k.Summary).body, markdown: true}
	case item.ApprovalRequested:
		what := " waits for approval"
		if k.Form != nil {
			what = " waits for an answer"
		}
		return described{title: sanitize.Line(orTool(k.Tool)) + what, style: yellow, body: strings.Join(texts(requestLines(k, 0, asPreviews)), "\n")}
	case item.ApprovalResolved:
		d := described{title: resolved(k)}
		if k.Key == "" {
			d.body = k.Reason
		}
		return d
	case item.Job:
		return described{title: jobTitle(k), style: dim}
	case item.Rewind:
		return described{title: fmt.Sprintf("rewound to #%d", k.To)}
	case item.Checkpoint:
		return described{title: checkpointTitle(k), style: dim}
	case item.Restore:
		return described{title: restoreTitle(k), body: strings.Join(k.Kept, "\n")}
	case item.WingEntry:
		return described{title: sanitize.Line(LocalTimes(k.Line))}
	case item.Purged:
		return described{title: "the log begins here; " + counted(int(k.Entries), "older entry", "older entries") + " removed", style: dim, body: k.Reason}
	}
	return described{title: "an entry of a kind that this version does not know"}
}

func checkpointTitle(k item.Checkpoint) string {
	if k.Parent == "" {
		return "first checkpoint of " + sanitize.Line(k.Dir)
	}
	who := map[item.CheckpointBy]string{item.ByAgent: "the agent", item.ByRestore: "a restore"}[k.By]
	return fmt.Sprintf("checkpoint: %s changed %s", cmp.Or(who, "somebody else"), counted(int(k.Changed), "path"))
}

func restoreTitle(k item.Restore) string {
	if !k.Ended {
		return fmt.Sprintf("taking back the changes of files after #%d", k.After)
	}
	title := "took back changes of " + counted(int(k.Changed), "path")
	if len(k.Kept) > 0 {
		title += ", and kept what was changed since:"
	}
	return title
}

// describeItem is an item of the conversation as a title and a body.
func describeItem(it item.Item) described {
	switch it := it.(type) {
	case item.UserMessage:
		return described{title: "user", style: bold, body: withPictures(it.Text, it)}
	case item.SystemMessage:
		return systemMessage(it)
	case item.AssistantMessage:
		return described{title: "assistant", style: bold, body: it.Text, markdown: true}
	case item.Reasoning:
		return described{title: "reasoning", style: dim, body: it.Text}
	case item.ToolCall:
		return described{title: "call " + sanitize.Line(orTool(it.Name)), style: cyan, body: cut(it.Arguments)}
	case item.ToolResult:
		st, word := plain, "result of "
		if it.IsError {
			st, word = red, "error of "
		}
		took := Duration(time.Duration(it.DurationMS) * time.Millisecond)
		return described{title: fmt.Sprintf("%s%s (%s)", word, sanitize.Line(orTool(it.Tool)), took), style: st, body: withPictures(it.Summary+it.Recovery.Remark(), it)}
	}
	return described{title: "an item of a kind that this version does not know"}
}

// systemMessage shows a file by its name and size only: the reader has the file.
func systemMessage(m item.SystemMessage) described {
	d := described{title: "system (" + sanitize.Line(m.Origin) + ")", body: m.Text}
	if first, rest, ok := strings.Cut(m.Text, "\n"); ok && m.FromFiles() {
		d.body = fmt.Sprintf("%s %s bytes", first, Count(int64(len(rest))))
		if m.Images != nil {
			d.body = first + " " + rest
		}
	}
	d.body = withPictures(d.body, m)
	return d
}

// bound marks a turn that only plans, and one whose answer is held to a schema.
func bound(plan, alone bool, schema string) (marks string) {
	if plan {
		marks = " (plan)"
	}
	if alone {
		marks += " (no questions)"
	}
	if schema != "" {
		marks += " (answers by a schema)"
	}
	return marks
}

func submitted(k item.Submitted) string {
	title := "submitted as " + sanitize.Line(k.RequestID) + bound(k.Plan, k.NoQuestions, k.AnswerSchema)
	if k.Mode == item.ModeSteer {
		title += " (steer)"
	}
	return title
}

func jobTitle(k item.Job) string {
	if k.State == item.JobEnded {
		return "job " + sanitize.Line(k.ID) + " ended: " + sanitize.Line(k.Status)
	}
	return "job " + sanitize.Line(k.ID) + " runs"
}

func noteTitle(k item.Note) string {
	if k.Wake {
		return "note (wakes the pod)"
	}
	return "note"
}

func turnEnded(turn int64, k item.TurnEnded) described {
	d := described{title: ending(turn, k), style: bold, body: k.Cause}
	if k.Outcome != item.OutcomeFinished {
		d.style = red
	}
	return d
}

func requestUsage(k item.RequestUsage) string {
	tokens := "tokens not reported"
	if k.Measured {
		tokens = Tokens(k.Usage)
	}
	step := fmt.Sprintf("step %d", k.Step)
	switch k.Purpose {
	case item.PurposeSubPod:
		step += ", by a sub-pod"
	case item.PurposeDiscarded:
		step += ", answer discarded"
	}
	return fmt.Sprintf("%s: %s, %s, %s", step, tokens, sanitize.Line(modelAt(k.Endpoint, cmp.Or(k.Model, k.Asked))), Duration(time.Duration(k.DurationMS)*time.Millisecond))
}

// effortOf says how much the model reasons, if that is set.
func effortOf(s item.Setup) string {
	if s.Options.Effort == "" {
		return ""
	}
	text := ", effort " + sanitize.Line(s.Options.Effort)
	if s.UnsignedCalls {
		text += " (goes on with calls of another model)"
	}
	return text
}

// modelAt names a model, with its endpoint unless that is the default.
func modelAt(endpoint, model string) string {
	if endpoint == item.DefaultEndpoint {
		endpoint = ""
	}
	return item.ModelRef{Endpoint: endpoint, Model: model}.String()
}

func list(words []string) string {
	return sanitize.Line(strings.Join(words, ", "))
}

// maxArguments is how much of a call's arguments shows, in bytes.
const maxArguments = 400

// cut shortens long text on a rune edge.
func cut(text string) string {
	if len(text) <= maxArguments {
		return text
	}
	return strings.ToValidUTF8(text[:maxArguments], "") + "…"
}
