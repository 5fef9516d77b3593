package worker

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"podd/pkg/item"
	"podd/pkg/llm"
)

// isSilent says whether an answer has neither text nor a call, and so does not end a turn.
// Reasoning is no answer.
func (a answer) isSilent() bool {
	isCall := func(b *block) bool { return b.Kind == llm.BlockToolCall }
	return !slices.ContainsFunc(a.blocks, isCall) && strings.TrimSpace(a.text) == ""
}

// sent says what a silent answer had.
func (a answer) sent() string {
	what := "neither text nor a call"
	if slices.ContainsFunc(a.blocks, func(b *block) bool { return b.Kind == llm.BlockReasoning }) {
		what = "reasoning alone"
	}
	switch {
	case a.end.Stop == llm.StopLength:
		return what + " up to the output limit"
	case a.end.Reason != "":
		return a.end.Reason + " with " + what
	}
	return what
}

// askAgain stores a silent answer and tells the model, so that the next step asks again. The
// second one in a row ends the turn, unless another model can answer. The note also parts its
// reasoning from the next answer.
func (t *run) askAgain(ctx context.Context, a answer, b Batch) error {
	first := t.j.now.Turn.Silent == 0
	text := "Your last reply had no text and no tool call, so nobody got an answer. Call a tool or reply with text. If nothing is left to do, say what you did."
	if a.end.Stop == llm.StopLength {
		text += " The limit on output cut that reply before its first word: think less."
	}
	if first {
		b.Kinds = append(b.Kinds, t.j.alert(item.LevelWarn, fmt.Sprintf("the model sent %s in step %d; podd asks again", a.sent(), t.j.step)))
	}
	b.Kinds = append(b.Kinds, item.ItemAdded{Item: item.SystemMessage{Origin: item.OriginNoAnswer, Text: text}})
	err := t.j.commit(ctx, b)
	if err != nil {
		t.j.owe(a.usage(t.j.step))
		return err
	}
	t.asker.partial = nil
	if first {
		return nil
	}
	remedy := "submit again, or use another model"
	if a.end.Stop == llm.StopLength {
		remedy = "raise max_output or lower effort"
	}
	err = &llm.Error{Class: llm.ClassNoAnswer, Message: fmt.Sprintf("%s sent %s, also when asked again; %s", a.asked, a.sent(), remedy)}
	if t.asker.fallback(err) < 0 {
		return err
	}
	return t.asker.fallBack(ctx, err)
}
