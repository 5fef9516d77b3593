package builtin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"podd/pkg/item"
	"podd/pkg/tool"
)

// maxTodo bounds the list, which stays in the context for ever.
const maxTodo = 50

type todoArgs struct {
	Items []todoItem `json:"items"`
}

type todoItem struct {
	Text   string `json:"text"`
	Status string `json:"status" enum:"pending,in_progress,done"`
}

func (a *todoArgs) check() error {
	if len(a.Items) > maxTodo {
		return fmt.Errorf("items has %d entries, but the limit is %d: merge some", len(a.Items), maxTodo)
	}
	for i, it := range a.Items {
		if strings.TrimSpace(it.Text) == "" {
			return fmt.Errorf("items[%d].text is empty", i)
		}
		if strings.Contains(it.Text, "\n") {
			return errors.New("each text must be one line")
		}
	}
	return nil
}

func newTodo() tool.Tool {
	return tool.New("todo", "Write the complete task list; each call replaces the previous list.", runTodo,
		tool.Validate((*todoArgs).check), tool.Repeats[todoArgs](), tool.Confined[todoArgs]())
}

// runTodo stores nothing: the list is in the history, where it is never pruned.
func runTodo(_ context.Context, _ *tool.Invocation, args todoArgs) (tool.Output, error) {
	var b strings.Builder
	marks := map[string]string{"pending": "[ ]", "in_progress": "[>]", "done": "[x]"}
	done, now := 0, ""
	for _, it := range args.Items {
		fmt.Fprintf(&b, "%s %s\n", marks[it.Status], it.Text)
		switch it.Status {
		case "done":
			done++
		case "in_progress":
			now = ", now: " + tool.Shorten(it.Text, 60)
		}
	}
	summary := fmt.Sprintf("todo: %d of %d done%s", done, len(args.Items), now)
	return tool.Output{Summary: tool.Bound(summary), Content: b.String(), Kind: item.OutputTask, Sticky: true}, nil
}
