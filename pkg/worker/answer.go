package worker

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"podd/pkg/item"
	"podd/pkg/tool"
)

// maxCorrections is how often an answer that does not match its schema goes back.
const maxCorrections = 3

// Bounds of what is said about a wrong answer to a model and to people, in bytes.
const (
	maxMismatch      = 2000
	maxShownMismatch = 300
)

// answerSchema is the entry that tells the model what its last answer must be, unless sent
// has it; none without a schema. The schema is not part of the setup, nor a parameter such as
// response_format: both change the beginning of each request. Some endpoints refuse the
// parameter beside tools, and most apply it to each answer of the turn. podd takes no value out
// of a code fence: each client that reads the log would have to do the same.
func (t *journal) answerSchema(sent []item.Item) []item.Kind {
	if t.turn.AnswerSchema == "" || t.turn.Number == 0 {
		return nil
	}
	m := item.SystemMessage{
		Origin: item.OriginAnswerSchema,
		Text: "Your last reply of this turn, the one without tool calls, must be one JSON value that matches this JSON Schema: " +
			"the value alone, without a code fence and without other text. Later turns are not held to it.\n" + t.w.Output.Redact(strings.TrimSpace(t.turn.AnswerSchema)),
	}
	if slices.Contains(sent, item.Item(m)) {
		return nil
	}
	return []item.Kind{item.ItemAdded{Item: m}}
}

// correct sends a last answer that does not match its schema back to the model, and says
// whether it did. An answer that is wrong too often ends the turn.
func (t *gate) correct(ctx context.Context) (sent bool, err error) {
	if t.j.turn.AnswerSchema == "" {
		return false, nil
	}
	schema, err := tool.ParseAnswerSchema(t.j.turn.AnswerSchema)
	if err != nil {
		return false, failed("ANSWER_SCHEMA", "podd cannot check the answer: %v", err)
	}
	wrong := schema.Check(t.j.now.Turn.LastText())
	if wrong == nil {
		return false, nil
	}
	why, shown := cutText(wrong.Error(), maxMismatch), cutText(wrong.Error(), maxShownMismatch)
	n := t.j.now.Turn.Wanted.Mismatches + 1
	if n > maxCorrections {
		return false, failed("ANSWER_SCHEMA", "the last answer does not match its schema after %d corrections: %s", maxCorrections, shown)
	}
	m := item.SystemMessage{Origin: item.OriginAnswerSchema, Text: t.w.Output.Redact(
		"Your last reply does not match the JSON Schema of this turn: " + why +
			"\nReply again with the whole JSON value alone, without a code fence and without other text.")}
	return true, t.j.commit(ctx, Batch{Kinds: []item.Kind{
		item.ItemAdded{Item: m},
		t.j.alert(item.LevelWarn, fmt.Sprintf("the answer does not match its schema and goes back to the model (%d of %d): %s", n, maxCorrections, shown)),
	}})
}

// cutText is the beginning of a text, in bytes.
func cutText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
