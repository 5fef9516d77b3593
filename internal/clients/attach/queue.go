package attach

import (
	"fmt"
	"strings"

	"podd/internal/clients/cells"
	"podd/internal/clients/view"
	"podd/internal/sanitize"
	"podd/pkg/item"
	"podd/pkg/transcript"
	poddv1 "podd/proto/podd/v1"
)

// queued are the prompts that wait, the next one first. One that its turn takes at once is not
// among them.
func (a *app) queued() (waiting []*block) {
	if a.turn == 0 && a.pod.GetPause() == nil {
		return nil
	}
	for _, b := range a.log.blocks {
		if b.Kind == transcript.User && b.State == transcript.Queued {
			waiting = append(waiting, b)
		}
	}
	return waiting
}

// unqueue puts the last prompt that waits into an empty draft, out of the queue; false if there is
// none, or a draft.
func (a *app) unqueue() bool {
	waiting := a.queued()
	if len(waiting) == 0 || !a.prompt.draft.empty() {
		return false
	}
	b := waiting[len(waiting)-1]
	request := &poddv1.CancelInboxItemRequest{Pod: a.pod.GetId(), RequestId: strings.TrimPrefix(b.ID, "s:")}
	sent, known := a.log.sent[b.ID]
	switch {
	case sent.AnswerSchema != "" || sent.Choice != item.Choice{}:
		a.said = "it stays: it has its own model, effort or schema; podctl inbox rm " + request.GetRequestId() + " removes it"
		return true
	case a.unqueuing == b.ID:
		return true
	}
	a.unqueuing = b.ID
	prompt := a.prompt.history.resent(b, sent)
	ask(a.send, a.Client.Pods().CancelInboxItem, request, func(_ *poddv1.CancelInboxItemResponse, err error) {
		a.unqueuing = ""
		a.told(err)
		if err == nil {
			prompt.append(a.prompt.draft)
			a.prompt.draft = prompt
			if known && sent.Mode != item.ModeSteer {
				a.prompt.plan = sent.Plan
			}
			a.said = "taken out of the queue: Enter queues it again, ^C drops it"
		}
	})
	return true
}

// queuedRows are at most so many rows about the prompts that wait: the next ones and the last.
func (a *app) queuedRows(most int) (rows []line) {
	waiting := a.queued()
	left := len(waiting) - most
	if left > 0 && most > 1 {
		waiting = append(waiting[:most-1:most-1], waiting[len(waiting)-1])
	}
	for i, b := range waiting[:min(most, len(waiting))] {
		more := ""
		if left > 0 && i == max(most-2, 0) {
			more = fmt.Sprintf("  (%d more)", left)
		}
		text := "  queued: " + sanitize.Line(strings.Join(strings.Fields(b.Text), " "))
		for _, picture := range b.Images {
			text += " " + view.Picture(picture)
		}
		rows = append(rows, in(dim, cells.Fit(text, a.columns-len(more))+more))
	}
	return rows
}
