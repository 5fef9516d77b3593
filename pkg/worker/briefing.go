package worker

import (
	"slices"
	"time"

	"podd/pkg/item"
)

// Briefing is podd's own text for the model, besides the conversation.
type Briefing struct {
	// Base, Environment and Instructions precede each request: base instructions, where the
	// pod works, and the operator's instructions.
	Base, Environment, Instructions string
	// State returns what changes between turns, such as the day, at a time. It is stored
	// after the message that begins a turn, if it differs from what requests have. nil means
	// that there is no such text.
	State func(now time.Time) string
}

// state returns an entry with the state if it has changed since the model last got it.
// sent are the items that requests still have.
func (t *journal) state(sent []item.Item) []item.Kind {
	if t.turn.Number == 0 {
		return nil
	}
	before, said := lastState(sent)
	if t.w.State == nil && !said && !t.turn.Plan {
		return nil
	}
	now := item.SystemMessage{Origin: item.OriginState, Text: actMode}
	if t.turn.Plan {
		now.Text = planMode
	}
	if t.w.State != nil {
		now.Text = t.w.Output.Redact(t.w.State(t.w.Now())) + now.Text
	}
	if said && before == now {
		return nil
	}
	return []item.Kind{item.ItemAdded{Item: now}}
}

// lastState is the last state among items.
func lastState(items []item.Item) (m item.SystemMessage, ok bool) {
	for _, it := range slices.Backward(items) {
		if m, ok = it.(item.SystemMessage); ok && m.Origin == item.OriginState {
			return m, true
		}
	}
	return item.SystemMessage{}, false
}
