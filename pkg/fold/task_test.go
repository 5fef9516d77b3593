package fold_test

import (
	"testing"

	"podd/pkg/fold"
	"podd/pkg/item"
)

// addAll folds kinds, each in a turn; a number changes the turn of the following ones.
func addAll(task *fold.Task, parts ...any) {
	e := item.Entry{}
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			e.Turn = int64(p)
		case item.Kind:
			e.Seq++
			e.Kind = p
			task.Add(e)
		}
	}
}

// A task is only the turn of its submit: it includes neither answers nor bills of other
// turns.
func TestTask(t *testing.T) {
	said := func(text string) item.Kind { return item.ItemAdded{Item: item.AssistantMessage{Text: text}} }
	billed := func(model string, in int64) item.Kind {
		return item.RequestUsage{Model: model, Measured: true, Usage: item.Usage{Input: in, Requests: 1}, DurationMS: 5}
	}
	other := []any{1, item.TurnStarted{RequestIDs: []string{"other"}}, said("not mine"), billed("m", 100), item.TurnEnded{}}
	begun := append(other, 0, item.Submitted{RequestID: "r"}, 2, item.TurnStarted{RequestIDs: []string{"r"}}, said("first"), billed("m", 1), billed("n", 2))
	for name, tt := range map[string]struct {
		log        []any
		given      bool
		text       string
		turn, used int64
		bills      int
		ended      item.Outcome
	}{
		"not given": {log: other},
		"withdrawn": {log: append(other, 0, item.Submitted{RequestID: "r"}, item.Withdrawn{RequestIDs: []string{"r"}}), given: true, ended: item.OutcomeCancelled},
		"running":   {log: begun, given: true, text: "first", turn: 2, used: 3, bills: 2},
		"ended": {
			log:   append(begun, billed("m", 4), item.ItemAdded{Item: item.SystemMessage{}}, said("a"), said("b"), item.TurnEnded{Outcome: item.OutcomeFinished}),
			given: true, text: "a\n\nb", turn: 2, used: 7, bills: 2, ended: item.OutcomeFinished,
		},
		"removed with the beginning of the log": {
			log:   []any{2, item.Purged{Totals: item.Totals{Requests: []item.RequestTotal{{Model: "m", Usage: item.Usage{Input: 9}}}}}, said("x"), item.TurnEnded{Outcome: item.OutcomeFailed}},
			given: true, text: "x", turn: 2, used: 9, bills: 1, ended: item.OutcomeFailed,
		},
	} {
		t.Run(name, func(t *testing.T) {
			task := fold.Task{RequestID: "r"}
			addAll(&task, tt.log...)
			spent := task.Spent(fold.Models{Local: []string{item.DefaultEndpoint}})
			if task.Given != tt.given || task.Text() != tt.text || task.Turn != tt.turn || spent.Tokens() != tt.used || len(task.Bills) != tt.bills {
				t.Errorf("%+v, says %q, used %+v", task, task.Text(), spent)
			}
			if (task.Ended != nil) != (tt.ended != "") || task.Ended != nil && task.Ended.Outcome != tt.ended {
				t.Errorf("ended %+v", task.Ended)
			}
		})
	}
}
