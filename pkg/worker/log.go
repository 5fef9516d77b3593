package worker

import (
	"context"

	"podd/pkg/item"
)

// Log is what a turn needs of its pod.
type Log interface {
	// Append commits a batch as one transaction and returns its entries, with
	// their sequences, once they are on disk. After an error the turn ends at
	// once: nothing more can be stored.
	Append(ctx context.Context, b Batch) ([]item.Entry, error)
	// Live shows a fragment of what is unfinished to whoever watches. It does not
	// block.
	Live(d item.Delta)
}

// Batch is what a turn commits at once.
type Batch struct {
	// Kinds become entries of the turn, in this order.
	Kinds []item.Kind
	// Claims are submits that leave the inbox with this batch.
	Claims []item.Seq
	// Done are the live blocks that the entries replace.
	Done []string
	// Waiting, when set, says in one sentence what the turn waits for from now on;
	// the next batch without it ends the waiting.
	Waiting string
}
