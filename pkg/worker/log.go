package worker

import (
	"context"
	"iter"
	"time"

	"podd/pkg/fold"
	"podd/pkg/interceptor"
	"podd/pkg/item"
)

// Log is what a turn needs from its pod.
type Log interface {
	// Append commits a batch as one transaction and returns the pod's state after it, once
	// it is on disk. It waits for a running commit even after ctx has ended. Without disk
	// space it waits until there is some or ctx ends: then nothing of the batch is stored,
	// and the error is the cause of that. The claim of a turn does not wait. After any other
	// error the turn ends at once: nothing more can be stored. The other methods that commit
	// wait in the same way.
	Append(ctx context.Context, b Batch) (Now, error)
	// Look shows the fold of the pod's log. look runs in the pod's goroutine: it is quick,
	// changes nothing and keeps no reference.
	Look(look func(*fold.Context)) error
	// Live shows a fragment of an unfinished block to followers. It does not block.
	Live(d item.Delta)
	// Joining returns what joins the turn now. With wait it first waits while the pod is
	// paused. The returned submits are the turn's: only the turn removes them from the
	// inbox.
	Joining(ctx context.Context, wait bool) (Joining, error)
	// Hold pauses the pod from now on.
	Hold(ctx context.Context, p item.Pause) error
	// Release ends the pause until a time of this interceptor, if the pod is still paused by
	// it.
	Release(ctx context.Context, by string) error
	// Ask waits until a question is resolved. The log has the one whether a call may run, which is denied when it
	// expires. The form of a running call it stores, with an alert, unless the log has it. That is withdrawn when it expires, and when ctx
	// ends, unless podd stops.
	Ask(ctx context.Context, asked item.ApprovalRequested, alert item.Alert) (item.ApprovalResolved, error)
	// History returns the stored items above a sequence, in order, without those that a
	// rewind undid. An error is the last element.
	History(ctx context.Context, after item.Seq) iter.Seq2[interceptor.Past, error]
}

// Now is a pod's state after an entry of its log.
type Now struct {
	fold.State
	// Next is what the next request carries.
	Next fold.Next
}

// Passes says whether a log that refused a batch may accept it later.
func Passes(err error) bool {
	kind := item.KindOf(err)
	return kind == item.KindUnavailable || kind == item.KindExhausted
}

// Batch is what a turn commits at once.
type Batch struct {
	// Kinds become entries of the turn, in this order.
	Kinds []item.Kind
	// Ending, if set, ends the turn with this batch: its kinds come after Kinds. It is left
	// out if something joins the turn or pauses the pod by then, or ctx has ended.
	Ending []item.Kind
	// Open, if set, gives the results of the calls that are open when the batch is stored, before Kinds: until then a person may
	// answer a question. Without space for the whole results it gives short ones.
	Open func(t *fold.Turn, whole bool) []item.Kind
	// Claims are submits that leave the inbox with this batch.
	Claims []item.Seq
	// Done are the live blocks that the entries replace.
	Done []string
	// Waiting, if set, says in one sentence what the turn waits for from now on, Until until
	// when; the next batch without it ends the waiting.
	Waiting string
	Until   time.Time
}

// Joining is what joins a turn at a step boundary.
type Joining struct {
	// Steered are submits for the running turn.
	Steered []Submit
	// Notes are those of clients and wings.
	Notes []item.Note
	// Lifted is the pause that a person has just ended; nil without one.
	Lifted *item.Pause
}
