package store

import (
	"podd/pkg/item"
	"podd/pkg/store/rules"
)

// Check refuses a batch that contradicts itself.
func (b Batch) Check() error {
	for _, e := range b.Entries {
		if e.Seq != 0 {
			return rules.Batch("an entry has the sequence %d, which the store assigns", e.Seq)
		}
	}
	if b.Create != nil && (b.Create.ID != b.Pod || b.Epoch != 0) {
		return rules.Batch("it creates the pod %s in the epoch %d of the log of %s", b.Create.ID, b.Epoch, b.Pod)
	}
	if b.Admit == nil && !b.Enqueue {
		return nil
	}
	if len(b.Entries) == 0 {
		return rules.Batch("it admits a request without an entry")
	}
	submitted, ok := b.Entries[0].Kind.(item.Submitted)
	if !ok {
		return rules.Batch("the first entry is not a submit")
	}
	if b.Admit == nil {
		return nil
	}
	if b.Admit.ID != submitted.RequestID {
		return rules.Batch("the submit has the request id %q, not %q", submitted.RequestID, b.Admit.ID)
	}
	return rules.KeyText("request id", b.Admit.ID)
}
