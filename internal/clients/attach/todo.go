package attach

import (
	"encoding/json"
	"fmt"
	"slices"

	"podd/internal/clients/cells"
	"podd/internal/sanitize"
	"podd/pkg/transcript"
)

// task is an item of the model's list of tasks.
type task struct {
	Text   string `json:"text"`
	Status string `json:"status"`
}

const (
	taskDone = "done"
	taskNow  = "in_progress"
)

// tasks is the last list of tasks that the model wrote.
func (t *blockList) tasks() []task {
	for _, b := range slices.Backward(t.blocks) {
		if b.Kind != transcript.Tool || b.Call.Tool != "todo" || b.State != transcript.Done {
			continue
		}
		var list struct {
			Items []task `json:"items"`
		}
		if json.Unmarshal([]byte(b.Call.Arguments), &list) == nil {
			return list.Items
		}
	}
	return nil
}

// showsTasks says whether the tasks have rows: as the person chose, else while any is open.
func (a *app) showsTasks() bool {
	if a.todo != nil {
		return *a.todo
	}
	return slices.ContainsFunc(a.log.tasks(), func(t task) bool { return t.Status != taskDone })
}

// toggleTasks shows or hides the tasks.
func (a *app) toggleTasks() {
	shows := !a.showsTasks()
	a.todo = &shows
	if shows && len(a.log.tasks()) == 0 {
		a.said = "the model has written no list of tasks"
	}
}

// taskRows are at most so many rows about tasks: those around the current one.
func taskRows(tasks []task, most, columns int) (rows []line) {
	from := 0
	if over := len(tasks) - most; over > 0 {
		open := slices.IndexFunc(tasks, func(t task) bool { return t.Status != taskDone })
		if open < 0 {
			open = len(tasks)
		}
		from = min(max(open-1, 0), over)
	}
	upTo := min(from+most, len(tasks))
	for i, t := range tasks[from:upTo] {
		mark, s := "[ ] ", plain
		switch t.Status {
		case taskDone:
			mark, s = "[x] ", dim
		case taskNow:
			mark, s = "[>] ", bold
		}
		more := ""
		if left := len(tasks) - upTo; left > 0 && i == most-1 {
			more = fmt.Sprintf("  (%d more)", left)
		}
		rows = append(rows, in(s, "  "+mark+cells.Fit(sanitize.Line(t.Text), columns-6-len(more))+more))
	}
	return rows
}
