package pod

import (
	"context"
	"errors"
	"iter"

	"podd/internal/wire"
	"podd/pkg/interceptor"
	"podd/pkg/item"
)

// History reads the log past the pod's goroutine: no rewind comes while a turn runs.
func (l *turnLog) History(ctx context.Context, after item.Seq) iter.Seq2[interceptor.Past, error] {
	return l.a.host.past(ctx, l.a.id, after)
}

// past gives the items of a pod's log above a sequence, those that a rewind took back left
// out. It holds a page of the log at a time.
func (h *Host) past(ctx context.Context, pod string, after item.Seq) iter.Seq2[interceptor.Past, error] {
	return func(yield func(interceptor.Past, error) bool) {
		gone, err := h.takenBackAbove(ctx, pod, after)
		if err == nil {
			err = h.readRecords(ctx, pod, after, func(seq item.Seq, body []byte) error {
				if wire.KindOf(body) != wire.KindItem || inAny(gone, seq) {
					return context.Cause(ctx)
				}
				p, err := pastOf(pod, seq, body)
				if err == nil && !yield(p, nil) {
					err = errEnough
				}
				return err
			})
		}
		if err != nil && !errors.Is(err, errEnough) {
			yield(interceptor.Past{}, err)
		}
	}
}

// pastOf is an item as it is stored.
func pastOf(pod string, seq item.Seq, body []byte) (interceptor.Past, error) {
	e, err := wire.DecodeEntry(body)
	if err != nil {
		return interceptor.Past{}, damaged(pod, seq, err)
	}
	added, ok := e.Kind.(item.ItemAdded)
	if !ok {
		return interceptor.Past{}, damaged(pod, seq, errors.New("it is no item"))
	}
	return interceptor.Past{Seq: seq, Turn: e.Turn, Item: added.Item}, nil
}

// takenBackAbove are the ranges of a log above a sequence that rewinds took back.
func (h *Host) takenBackAbove(ctx context.Context, pod string, after item.Seq) ([]rewound, error) {
	var rewinds []rewound
	err := h.readRecords(ctx, pod, after, func(seq item.Seq, body []byte) error {
		if wire.KindOf(body) != wire.KindRewind {
			return nil
		}
		e, err := wire.DecodeEntry(body)
		if err != nil {
			return damaged(pod, seq, err)
		}
		if k, ok := e.Kind.(item.Rewind); ok {
			rewinds = append(rewinds, rewound{k.To, seq})
		}
		return nil
	})
	return takenBack(rewinds), err
}
