package pod

import (
	"context"
	"iter"
	"math"

	"podd/pkg/fold"
	"podd/pkg/interceptor"
	"podd/pkg/item"
)

// History reads the log without the pod's goroutine: no rewind comes while a turn runs.
func (t *turnLog) History(ctx context.Context, after item.Seq) iter.Seq2[interceptor.Past, error] {
	return t.a.host.Logs.past(ctx, t.a.id, after)
}

// past returns the items of a pod's log above a sequence, without those that a rewind
// undid. It keeps one page of the log in memory at a time.
func (l *Logs) past(ctx context.Context, pod string, after item.Seq) iter.Seq2[interceptor.Past, error] {
	return func(yield func(interceptor.Past, error) bool) {
		for e, err := range fold.Open(l.reader(ctx, pod), after, math.MaxInt64).Entries(after, fold.Items) {
			p := interceptor.Past{Seq: e.Seq, Turn: e.Turn}
			switch k := e.Kind.(type) {
			case item.ItemAdded:
				p.Item = k.Item
			case item.Compaction:
				continue
			}
			if !yield(p, err) || err != nil {
				return
			}
		}
	}
}
