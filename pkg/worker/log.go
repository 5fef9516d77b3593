package worker

import (
	"context"
	"iter"
	"time"

	"podd/pkg/fold"
	"podd/pkg/interceptor"
	"podd/pkg/item"
)

// Log is what a turn needs of its pod.
type Log interface {
	// Append commits a batch as one transaction and returns where the pod stands after it,
	// once it is on disk, also when ctx has ended. While there is
	// no space it waits for that, until ctx ends: then nothing of the batch is stored,
	// and the error is the cause of that. The claim of a turn does not wait. After any
	// other error the turn ends at once: nothing more can be stored. The other methods
	// that commit wait likewise.
	Append(ctx context.Context, b Batch) (Now, error)
	// Look shows what the pod's log folds into. look runs in the pod's goroutine: it is
	// quick, changes nothing and keeps nothing of it.
	Look(look func(*fold.Context)) error
	// Live shows a fragment of what is unfinished to whoever watches. It does not
	// block.
	Live(d item.Delta)
	// Joining says what joins the turn now. With wait it first waits while the pod is
	// held. Submits that it gives are the turn's: nobody else takes them out of the
	// inbox.
	Joining(ctx context.Context, wait bool) (Joining, error)
	// Hold holds the pod from now on.
	Hold(ctx context.Context, p item.Pause) error
	// Approval waits until the question about a call is resolved. One that expires is
	// denied.
	Approval(ctx context.Context, callID string) (item.ApprovalResolved, error)
	// History gives the items that are stored above a sequence, in order, those that a
	// rewind took back left out. An error is the last element.
	History(ctx context.Context, after item.Seq) iter.Seq2[interceptor.Past, error]
}

// Now is where a pod stands after an entry of its log.
type Now struct {
	fold.State
	// Next is what the next request carries.
	Next fold.Next
}

// Passes says whether a log that did not take a batch may take the same later.
func Passes(err error) bool {
	kind := item.KindOf(err)
	return kind == item.KindUnavailable || kind == item.KindExhausted
}

// Batch is what a turn commits at once.
type Batch struct {
	// Kinds become entries of the turn, in this order.
	Kinds []item.Kind
	// Ending, when set, ends the turn with this batch: its kinds stand behind Kinds. It is
	// left out when something joins the turn or holds the pod by then, or ctx has ended.
	Ending []item.Kind
	// Claims are submits that leave the inbox with this batch.
	Claims []item.Seq
	// Done are the live blocks that the entries replace.
	Done []string
	// Waiting, when set, says in one sentence what the turn waits for from now on,
	// Until until when; the next batch without it ends the waiting.
	Waiting string
	Until   time.Time
}

// Joining is what joins a turn at a step boundary.
type Joining struct {
	// Steered are submits that were given to the running turn.
	Steered []Submit
	// Notes are texts of clients.
	Notes []string
	// Lifted is what held the pod until now; nil when nothing did.
	Lifted *item.Pause
}
