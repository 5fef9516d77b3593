package store

import (
	"context"
	"time"

	"podd/pkg/item"
)

// Store keeps pods, their logs, their inboxes and the alerts of all pods. All
// methods may be called from any goroutine.
//
// A method that writes returns once what it wrote is on disk. An error of kind
// KindUnavailable and reason STORE_FAILED means that the outcome of a commit is
// unknown: the store accepts nothing more and the process must end; what is true
// is read after the next start. Every other error means that nothing was written.
type Store interface {
	Pods
	Logs
	Alerts
	Lifetime
}

// Pods keeps what pods are.
type Pods interface {
	// CreatePod stores a new pod. p.ID and p.Name must be new: a known name is
	// KindExists, reason POD_EXISTS.
	CreatePod(ctx context.Context, p item.Pod) error
	// UpdateSpec replaces a pod's spec.
	UpdateSpec(ctx context.Context, pod string, spec item.PodSpec) error
	// Fork makes a new pod p, as CreatePod does, whose log begins with the entries 1 to
	// at of the pod with the id parent. They are shared, not copied, and what happens to
	// the parent later, its deletion too, does not touch them. Inbox, request ids,
	// alerts and status are not the parent's: they are empty, or p's. The next entry of
	// the new pod is at+1. An at that the parent does not have is KindOutOfRange, as for
	// Read; one below 1 is KindInvalid, reason BAD_RANGE.
	Fork(ctx context.Context, parent string, at item.Seq, p item.Pod) error
	// DeletePod removes a pod, its log, its inbox and its alerts. An append to it
	// afterwards is KindNotFound. Its name is free at once, its id once no fork needs
	// entries of it any more.
	DeletePod(ctx context.Context, pod string) error
	// Pod finds a pod by its id or, failing that, by its name; KindNotFound, reason
	// POD_NOT_FOUND, when there is none.
	Pod(ctx context.Context, idOrName string) (item.Pod, error)
	// Pods gives all pods in the order of their names, without reading their logs.
	Pods(ctx context.Context) ([]item.Pod, error)
	// PodRecords is Pods without decoding them.
	PodRecords(ctx context.Context) ([]PodRecord, error)
}

// Logs keeps the log of each pod, its inbox and the request ids that it admitted.
type Logs interface {
	// Claim makes the caller the one writer of a pod's log and returns its epoch.
	// An append with another epoch is KindPrecondition, reason STALE_EPOCH, from
	// then on.
	Claim(ctx context.Context, pod string) (Epoch, error)
	// Append writes one batch to a pod's log as one transaction and returns the
	// records as stored. The store assigns the sequences. When ctx ends before the
	// batch is taken nothing is written; afterwards Append waits for the outcome.
	Append(ctx context.Context, b Batch) (Appended, error)
	// Read gives records above after, in order, bounded by limit (0 means no limit)
	// and by ReadBytes; at least one when there is one, none at the end. Below the first sequence that is
	// left it is KindOutOfRange, reason PURGED, meta first_seq; above the last,
	// KindOutOfRange, reason BEYOND_END, meta last_seq. A record whose checksum is
	// wrong is KindDataLoss, reason DAMAGED, meta seq; the records before it are
	// returned with the error.
	Read(ctx context.Context, pod string, after item.Seq, limit int) ([]Record, error)

	// Base gives a pod's base; ok is false when it has none, or one that can't be read.
	// A Rewind to an entry before its Seq ends a base, and so does each Purge; a fork at
	// its Seq, or later, has it too.
	Base(ctx context.Context, pod string) (b Base, ok bool, err error)

	// Purge removes the entries of a log up to p.UpTo; p.Mark takes the place of the
	// last of them and is the log's first entry from then on. What forks share stays
	// theirs. It needs no epoch, because it changes nothing that an owner appends to;
	// instead it is refused when the log has grown since: KindPrecondition, reason
	// LOG_GREW. A submit among the entries that waits is KindPrecondition, reason
	// STILL_WAITING; an UpTo that the log does not have, KindOutOfRange, as for Read.
	//
	// A purged log is not forked before the mark's From, and no Rewind to before it is
	// appended: that is KindOutOfRange, reason PURGED, meta first_seq.
	Purge(ctx context.Context, p Purge) error

	// Inbox gives the submits that wait, oldest first.
	Inbox(ctx context.Context, pod string) ([]Waiting, error)
	// Request finds an admitted request id. ok is false when the id is unknown or
	// so old that it was forgotten.
	Request(ctx context.Context, pod, requestID string) (r Request, ok bool, err error)
}

// Alerts keeps the alerts of all pods.
type Alerts interface {
	// RaiseAlert stores an alert that stands in no pod's log and returns it with its
	// sequence. It may name a pod, which must exist.
	//
	// An alert, of a batch too, that repeats another takes its place: it has a new
	// sequence and its own time, the counts add up, and the old sequence is not given
	// any more. It repeats the newest alert of the same pod, level, source and text,
	// unless that one was acknowledged or raised more than FoldWithin before.
	RaiseAlert(ctx context.Context, a item.Alert) (item.Alert, error)
	// Alerts gives alerts, in order of their sequences. After a sequence that no alert
	// had yet is KindOutOfRange, reason BEYOND_END, meta last_seq.
	Alerts(ctx context.Context, q AlertQuery) ([]item.Alert, error)
	// AckAlerts marks alerts as seen; an unknown sequence is KindNotFound, reason
	// ALERT_NOT_FOUND, and then none is marked. A sequence that an alert had before it
	// was repeated stands for that alert as it is now, so that one that is raised over
	// and over can be acknowledged; when that was acknowledged or deleted meanwhile
	// there is nothing to mark.
	AckAlerts(ctx context.Context, seqs []item.Seq) error

	// PurgeAlerts removes alerts that were acknowledged and are older than before, and
	// says how many.
	PurgeAlerts(ctx context.Context, before time.Time) (removed int, err error)
}

// Lifetime is what whoever opened a store needs of it.
type Lifetime interface {
	// Failed is closed once the outcome of a commit is unknown.
	Failed() <-chan struct{}
	// Close waits for writes under way and closes the files.
	Close() error
}

// ReadBytes bounds the sum of the records that one Read returns, save that one
// record is always returned.
const ReadBytes = 1 << 20

// RequestsKept is how many request ids are remembered for each pod; older ones are
// forgotten, the oldest first.
const RequestsKept = 1024

// Epoch numbers the claims of a pod's log, from 1.
type Epoch int64

// Batch is what one Append writes, all of it or nothing.
type Batch struct {
	Pod   string
	Epoch Epoch
	// Entries get the next sequences, in their order. Their Seq must be 0.
	Entries []item.Entry
	// Alerts are stored across pods as well; each AlertRaised of Entries is stored
	// there by itself and must not be repeated here. The sequence that the store
	// assigns stands in the stored entry.
	//
	// Admit, when set, remembers the request id of Entries[0], which must be a
	// Submitted. A known id with the same digest writes nothing and answers with
	// Appended.Duplicate; with another digest it is KindExists, reason
	// REQUEST_ID_TAKEN.
	Admit *Request
	// Enqueue puts the Submitted of Entries[0] into the inbox.
	Enqueue bool
	// InboxLimit refuses, with KindExhausted and reason INBOX_FULL, an Enqueue
	// into an inbox of that many; 0 means no limit.
	InboxLimit int
	// Dequeue removes these submits (sequences of Submitted entries) from the
	// inbox; one that is not there is KindNotFound, reason NOT_WAITING.
	Dequeue []item.Seq
	// Status, when set, replaces the pod's status; a batch may be a status alone. A
	// last activity that it leaves out is the time of the last entry.
	Status *item.PodStatus
	// Base, when set, replaces the pod's base; a batch may be a base alone.
	Base *Base
}

// Base is what a log folds into up to an entry, kept so that what stands before it need
// not be read again.
type Base struct {
	// Seq is the last entry that is folded: one that the log has.
	Seq item.Seq
	// Fold is the business of who folds.
	Fold []byte
}

// Request is an admitted request id.
type Request struct {
	ID string
	// Digest tells the same content from another, 32 bytes.
	Digest [32]byte
	// Seq is the sequence of the Submitted entry; assigned by Append.
	Seq item.Seq
	// Queued is what the first answer said; it is kept for the answer to a retry.
	Queued bool
}

// Appended is what Append wrote.
type Appended struct {
	Records []Record
	// Alerts are the alerts of the batch with their sequences.
	Alerts []item.Alert
	// Duplicate is the first admission, when Admit named a known id; then nothing
	// was written.
	Duplicate *Request
}

// Purge says what to remove from the beginning of a log.
type Purge struct {
	Pod string
	// UpTo is the last entry to remove.
	UpTo item.Seq
	// Last is the end of the log when this was decided.
	Last item.Seq
	// Mark has the kind item.Purged. Its Seq must be 0.
	Mark item.Entry
}

// Record is a stored entry, encoded as the podd.v1.Entry message that a stream
// sends. Its bytes must not be changed.
type Record struct {
	Seq   item.Seq
	Entry []byte
}

// Waiting is a submit in the inbox.
type Waiting struct {
	Seq   item.Seq
	Entry []byte
}

// AlertQuery chooses alerts.
type AlertQuery struct {
	// Pod is a pod's id; empty means all alerts.
	Pod string
	// After is exclusive.
	After item.Seq
	// Unacked leaves out acknowledged ones.
	Unacked bool
	// Limit is the most that are returned; 0 means 1,000.
	Limit int
}
