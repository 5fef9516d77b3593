package attach

import (
	"context"
	"errors"
	"fmt"

	"podd/internal/clients/view"
	poddv1 "podd/proto/podd/v1"
)

// escape closes what is offered, leaves a question, ends the person's command, or interrupts the turn. Pressed again
// when nothing runs and nothing is typed, it offers to rewind.
func (a *app) escape(offered, again bool) {
	switch {
	case offered:
	case a.calls.answering:
		a.calls.answering, a.calls.left = false, true
		a.said = "the call still waits; ^Y to answer"
	case a.shell != nil:
		a.shell.stop()
	case a.turn != 0 || a.last != nil: // A turn may begin with what is on its way.
		a.stopTurn()
	case !a.prompt.draft.empty():
	case again:
		a.prompt.draft.insert("/rewind")
	default:
		a.armed = keyEscape
		a.said = "press Esc again to rewind"
	}
}

// stopTurn cancels the running turn. The person's own prompts that no turn has yet go back
// into the draft first: otherwise they would run next. Those of others do.
func (a *app) stopTurn() {
	a.begins("interrupting what you sent")
	if a.turn != 0 {
		a.begins(fmt.Sprintf("interrupting turn %d", a.turn))
	}
	pod := a.pod.GetId()
	sent := a.prompt.history.prompts
	var back []string
	a.send(func(ctx context.Context) error {
		waiting, err := a.Client.Pods().ListInbox(ctx, &poddv1.ListInboxRequest{Pod: pod})
		if err != nil {
			return err
		}
		own := history{prompts: sent}
		var failed error
		for _, w := range waiting.GetItems() {
			if _, ok := own.byRequest(w.GetRequestId()); !ok {
				continue
			}
			_, err := a.Client.Pods().CancelInboxItem(ctx, &poddv1.CancelInboxItemRequest{Pod: pod, RequestId: w.GetRequestId()})
			if view.Taken(err) {
				continue // The turn that has it is cancelled.
			}
			if err != nil {
				failed = errors.Join(failed, err)
				continue
			}
			back = append(back, w.GetRequestId())
		}
		_, err = a.Client.Pods().Cancel(ctx, &poddv1.CancelRequest{Pod: pod, Reason: "interrupted by " + a.Name})
		return errors.Join(failed, err)
	}, func(err error) {
		a.told(err)
		a.prompt.takeBack(back)
	})
}

// append adds another text, after an empty line.
func (e *editor) append(other editor) {
	if other.empty() {
		return
	}
	if !e.empty() {
		e.cells = append(e.cells, newline, newline)
	}
	e.at = len(e.cells)
	e.place(other.cells)
}
