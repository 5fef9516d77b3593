package spending

import (
	"context"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"
)

// counted is a store whose requests count.
type counted struct {
	store.Store
	spending *Spending
}

// Append counts the requests of a batch once they are stored.
func (c counted) Append(ctx context.Context, b store.Batch) (store.Appended, error) {
	done, err := c.Store.Append(ctx, b)
	if err != nil || done.Duplicate != nil {
		return done, err
	}
	for i, r := range done.Records {
		if u, ok := b.Entries[i].Kind.(item.RequestUsage); ok {
			c.spending.stored(b.Pod, request{r.Seq, b.Entries[i].Time, u})
		}
	}
	return done, nil
}

// DeletePod first keeps what the pod spent.
func (c counted) DeletePod(ctx context.Context, pod string) error {
	if err := c.spending.keep(ctx, pod); err != nil {
		return err
	}
	return c.Store.DeletePod(ctx, pod)
}

// TrashPods first keeps what the pods spent.
func (c counted) TrashPods(ctx context.Context, ids []string, at time.Time) error {
	for _, id := range ids {
		if err := c.spending.keep(ctx, id); err != nil {
			return err
		}
	}
	return c.Store.TrashPods(ctx, ids, at)
}

// Purge first keeps what the pod spent.
func (c counted) Purge(ctx context.Context, p store.Purge) error {
	if err := c.spending.keep(ctx, p.Pod); err != nil {
		return err
	}
	return c.Store.Purge(ctx, p)
}
