package dial

import (
	"context"
	"iter"

	"podd/pkg/llm"
)

// limited bounds the requests that run at once.
type limited struct {
	Client
	slots chan struct{}
}

func limit(c Client, most int) Client { return &limited{c, make(chan struct{}, most)} }

// Encoder is the client's own; see llm.Incremental.
func (l *limited) Encoder() llm.Encoder { return llm.NewEncoder(l.Client) }

// Stream waits for its turn, then sends the body.
func (l *limited) Stream(ctx context.Context, body ...[]byte) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		select {
		case l.slots <- struct{}{}:
			defer func() { <-l.slots }()
		case <-ctx.Done():
			yield(nil, context.Cause(ctx))
			return
		}
		for event, err := range l.Client.Stream(ctx, body...) {
			if !yield(event, err) {
				return
			}
		}
	}
}

var _ llm.Incremental = (*limited)(nil)
