package store

import (
	"context"
	"time"

	"podd/pkg/item"
)

// FirstSince is the first entry of a pod from low on that is not before a time: times of a
// log never go back.
func FirstSince(ctx context.Context, s Store, p item.Pod, low item.Seq, from time.Time) (item.Seq, error) {
	high := p.Last + 1
	for low = max(low, 1); low < high; {
		middle := low + (high-low)/2
		page, err := s.Read(ctx, p.ID, middle-1, 1)
		var e item.Entry
		if err == nil && len(page) > 0 {
			e, err = page[0].Decode()
		}
		switch {
		case item.KindOf(err) == item.KindDataLoss:
			high = middle
		case err != nil:
			return low, err
		case e.Time.Before(from):
			low = middle + 1
		default:
			high = middle
		}
	}
	return low, nil
}
