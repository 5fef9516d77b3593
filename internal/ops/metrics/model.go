package metrics

import (
	"context"
	"errors"
	"iter"
	"time"

	"podd/pkg/llm"
)

// Model counts the requests to a model, including each attempt.
func (r *Recorder) Model(m llm.Model) llm.Model { return counted{m, r} }

type counted struct {
	llm.Model
	recorder *Recorder
}

// Encoder is the model's own; see llm.Incremental.
func (c counted) Encoder() llm.Encoder { return llm.NewEncoder(c.Model) }

// unsent is the outcome of a request that did not leave, which is not counted.
const unsent = ""

// Stream counts a request once it has ended, by outcome.
func (c counted) Stream(ctx context.Context, body ...[]byte) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		began, outcome := time.Now(), "cancelled"
		defer func() {
			if outcome == unsent {
				return
			}
			c.recorder.add(requests, Label("outcome", outcome), 1)
			c.recorder.add(requestSeconds, Label("outcome", outcome), time.Since(began).Seconds())
		}()
		for event, err := range c.Model.Stream(ctx, body...) {
			if _, ended := event.(llm.End); ended {
				outcome = "ok"
			}
			if err != nil && ctx.Err() == nil {
				outcome = string(llm.ClassOf(err))
			}
			if e, ok := errors.AsType[*llm.Error](err); ok && e.Unsent {
				outcome = unsent
			}
			if !yield(event, err) {
				return
			}
		}
	}
}
