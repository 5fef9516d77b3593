package worker

import (
	"context"
	"fmt"

	"podd/pkg/item"
)

// inLoop says that the turn repeats itself despite the note; nil if it does not.
func (t *journal) inLoop() error {
	l := t.w.Limits
	if l.LoopTimes < 0 {
		return nil
	}
	tool, times := t.now.Turn.Repeated(2 * l.LoopSteps)
	if times < 2*l.LoopTimes {
		return nil
	}
	return limit("LOOP", "the same call of %s gave the same result in %d of %d steps, although podd told the model; submit again with what it should do instead",
		tool, times, 2*l.LoopSteps)
}

// noteLoop adds a note for the model that the turn repeats itself, unless one of the last
// steps has such a note.
func (t *gate) noteLoop(ctx context.Context) error {
	turn, l := &t.j.now.Turn, t.w.Limits
	if l.LoopTimes < 0 || turn.Repeats.Noted > max(0, turn.Step-l.LoopSteps) {
		return nil
	}
	tool, times := turn.Repeated(l.LoopSteps)
	if times < l.LoopTimes {
		return nil
	}
	text := fmt.Sprintf("The same call of %s with the same arguments gave the same result in %d of the last %d steps. "+
		"Do something else: change the arguments, try another way, or end your answer and say what is missing. "+
		"If you go on like this, podd ends the turn.", tool, times, l.LoopSteps)
	return t.j.commit(ctx, Batch{Kinds: []item.Kind{item.ItemAdded{Item: item.SystemMessage{Origin: item.OriginLoop, Text: text}}}})
}
