package store

import (
	"context"
	"time"

	"podd/pkg/item"
)

// Store stores pods, their logs, their inboxes and the alerts of all pods. All
// methods may be called from any goroutine.
//
// A method that writes returns once what it wrote is on disk. An error of kind
// KindUnavailable and reason STORE_FAILED means that the outcome of a commit is
// unknown: the store accepts nothing more and the process must end; the next start
// reads the file again. Every other error means that nothing was written, except that a
// method other than Append with reason STORE_AWAY may have done what it was asked for.
type Store interface {
	Pods
	Logs
	Alerts
	Trash
	Scans
	Lifetime
}

// Pods stores the records of pods.
type Pods interface {
	// CreatePod stores a new pod. p.ID and p.Name must be new: a known name is
	// KindExists, reason POD_EXISTS.
	CreatePod(ctx context.Context, p item.Pod) error
	// UpdateSpec replaces a pod's spec.
	UpdateSpec(ctx context.Context, pod string, spec item.PodSpec) error
	// RenamePod gives a pod another name; its old one is free at once. The name of another
	// pod is KindExists, reason POD_EXISTS.
	RenamePod(ctx context.Context, pod, name string) error
	// Fork creates a new pod p, as CreatePod does, whose log begins with the entries 1 to at
	// of the pod with the id parent. They are shared, not copied, and later changes of the
	// parent, including its deletion, do not affect them. Inbox, request ids, alerts and
	// status are not copied: they are empty, or those of p. The next entry of the new pod is
	// at+1. If the parent has no entry at, the error is KindOutOfRange, as for Read; if at is
	// below 1, KindInvalid, reason BAD_RANGE.
	Fork(ctx context.Context, parent string, at item.Seq, p item.Pod) error
	// DeletePod removes a pod, in the trash too, its log, its inbox and its alerts. A later append to it is
	// KindNotFound. Its name is free at once, its id once no fork needs its entries.
	DeletePod(ctx context.Context, pod string) error
	// Pod finds a pod by its id or, failing that, by its name; otherwise the error is
	// KindNotFound, reason POD_NOT_FOUND.
	Pod(ctx context.Context, idOrName string) (item.Pod, error)
	// Pods returns all pods in the order of their names, without reading their logs.
	Pods(ctx context.Context) ([]item.Pod, error)
}

// Trash keeps deleted pods with their logs. No other method but DeletePod finds them.
type Trash interface {
	// TrashPods moves pods to the trash together, all or none. Their names are free at once. An
	// unknown pod is KindNotFound, reason POD_NOT_FOUND.
	TrashPods(ctx context.Context, ids []string, at time.Time) error
	// RestorePod moves a pod back, and the pods that were moved after it by the same
	// TrashPods. It gets the name; if that is taken, the error is KindExists, reason
	// POD_EXISTS. The others get a free name like their old one. It has no base.
	RestorePod(ctx context.Context, id, name string) error
	// TrashedPods are the pods in the trash, the last deleted first.
	TrashedPods(ctx context.Context) ([]TrashedPod, error)
}

// TrashedPod is a pod in the trash.
type TrashedPod struct {
	item.Pod
	// At is when it was deleted, With the id of the first pod that was deleted with it, or
	// its own.
	At   time.Time
	With string
}

// Logs stores the log of each pod, its inbox and the request ids that it admitted.
type Logs interface {
	// Claim makes the caller the only writer of a pod's log and returns its epoch. From then
	// on, an append with another epoch is KindPrecondition, reason STALE_EPOCH.
	Claim(ctx context.Context, pod string) (Epoch, error)
	// Append writes one batch to a pod's log as one transaction and returns the stored
	// records. The store assigns the sequences. If ctx ends before the writer takes the
	// batch, nothing is written; after that, Append waits for the outcome.
	Append(ctx context.Context, b Batch) (Appended, error)
	// Read returns records above after, in order, bounded by limit (0 means no limit) and by
	// ReadBytes: at least one if one exists, none at the end. Below the log's first sequence
	// the error is KindOutOfRange, reason PURGED, meta first_seq; above the last,
	// KindOutOfRange, reason BEYOND_END, meta last_seq. A record with a wrong checksum is
	// KindDataLoss, reason DAMAGED, meta seq; the records before it are returned with the
	// error.
	Read(ctx context.Context, pod string, after item.Seq, limit int) ([]Record, error)

	// Base returns a pod's base; ok is false if it is missing or can't be read. A Rewind to
	// an entry before its Seq removes a base, and so does each Purge; a fork at its Seq or
	// later gets it too.
	Base(ctx context.Context, pod string) (b Base, ok bool, err error)

	// Purge removes the entries of a log up to p.UpTo; p.Mark replaces the last of them and
	// becomes the log's first entry. Forks keep the entries that they share. Purge needs no
	// epoch, because it does not change the end of the log; instead it is refused if the log
	// has grown since: KindPrecondition, reason LOG_GREW. If a queued submit is among the
	// entries, the error is KindPrecondition, reason STILL_WAITING; if the log does not have
	// UpTo, KindOutOfRange, as for Read.
	//
	// A purged log cannot be forked at, or rewound to, an entry before the mark's From:
	// KindOutOfRange, reason PURGED, meta first_seq.
	Purge(ctx context.Context, p Purge) error

	// Image returns the bytes of an image that an entry of a log refers to, by its digest; for
	// any other the error is KindNotFound, reason IMAGE_NOT_FOUND. The bytes go with the last
	// entry that refers to them, in any log.
	Image(ctx context.Context, digest string) ([]byte, error)

	// Inbox returns the queued submits, oldest first.
	Inbox(ctx context.Context, pod string) ([]Waiting, error)
	// Request finds an admitted request id. ok is false if the id is unknown or forgotten.
	Request(ctx context.Context, pod, requestID string) (r Request, ok bool, err error)
}

// Scans reads logs for a search.
type Scans interface {
	// Parts returns what a pod's log consists of, oldest first, without the mark of a purge.
	// A pod that is deleted meanwhile is KindNotFound, reason POD_NOT_FOUND.
	Parts(ctx context.Context, pod string) ([]Part, error)
	// Scan passes the records of a part to want, the oldest first, until they have ScanBytes
	// together, and returns those that it wants. next is the first sequence that it did not
	// come to, at the end one above the part. want gets the entry as it is stored and must not
	// keep it, nor wait; it gets no record that was removed. A wanted record with a wrong
	// checksum is KindDataLoss, reason DAMAGED: those before it in the scan are returned with
	// the error.
	Scan(ctx context.Context, p Part, want func(entry []byte) bool) (found []Record, next item.Seq, err error)
}

// ScanBytes is about how much one Scan reads.
const ScanBytes = 1 << 20

// Alerts stores the alerts of all pods.
type Alerts interface {
	// RaiseAlert stores an alert that is not part of a pod's log and returns it with its
	// sequence. It may name a pod, which must exist.
	//
	// An alert that repeats another, in a batch too, replaces it: it gets a new sequence and
	// its own time, the counts add up, and the old sequence is no longer listed. It repeats
	// the newest alert of the same pod, level, source and text, unless that one was
	// acknowledged or was raised more than FoldWithin before.
	RaiseAlert(ctx context.Context, a item.Alert) (item.Alert, error)
	// Alerts returns alerts in order of their sequences. If After is above the last alert, the
	// error is KindOutOfRange, reason BEYOND_END, meta last_seq.
	Alerts(ctx context.Context, q AlertQuery) ([]item.Alert, error)
	// AckAlerts acknowledges alerts; an unknown sequence is KindNotFound, reason
	// ALERT_NOT_FOUND, and then none is acknowledged. A sequence that an alert had before it
	// was repeated means the current alert, so that an alert that keeps repeating can be
	// acknowledged; if that was acknowledged or deleted meanwhile, nothing happens.
	AckAlerts(ctx context.Context, seqs []item.Seq) error

	// PurgeAlerts removes acknowledged alerts that are older than before, and returns how
	// many.
	PurgeAlerts(ctx context.Context, before time.Time) (removed int, err error)
}

// Lifetime is what the owner of a store needs.
type Lifetime interface {
	// Failed is closed once the outcome of a commit is unknown.
	Failed() <-chan struct{}
	// Close waits for writes under way and closes the files.
	Close() error
}

// ReadBytes bounds the total size of the records that one Read returns, except that a
// single record is always returned.
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
	// Alerts are stored across pods as well. Each AlertRaised in Entries is stored there
	// automatically and must not be repeated here. The stored entry has the sequence that the
	// store assigns.
	//
	// Admit, if set, remembers the request id of Entries[0], which must be a Submitted. For a
	// known id with the same digest, Append writes nothing and returns Appended.Duplicate;
	// with another digest the error is KindExists, reason REQUEST_ID_TAKEN.
	Admit *Request
	// Enqueue puts the Submitted of Entries[0] into the inbox.
	Enqueue bool
	// InboxLimit refuses an Enqueue into an inbox with that many submits, with KindExhausted
	// and reason INBOX_FULL; 0 means no limit.
	InboxLimit int
	// Dequeue removes these submits (sequences of Submitted entries) from the inbox; if one
	// is not in it, the error is KindNotFound, reason NOT_WAITING.
	Dequeue []item.Seq
	// Create, if set, is the pod, which the batch creates as CreatePod does, with Entries as its log. Epoch is 0.
	Create *item.Pod
	// Status, if set, replaces the pod's status; a batch may consist of a status only. A zero
	// last activity becomes the time of the last entry.
	Status *item.PodStatus
	// Base, if set, replaces the pod's base; a batch may consist of a base only.
	Base *Base
	// Images are the bytes of images that Entries refer to, by their digests: at least of those
	// that no entry of any log refers to yet.
	Images map[string][]byte
	// ImageLimit refuses new images of a pod that would have more bytes of them together, with
	// KindExhausted and reason IMAGES_FULL; 0 means no limit. Images of entries that a fork
	// shares count for the pod that wrote them.
	ImageLimit int64
}

// Base is the fold of a log up to an entry, stored so that earlier entries need not be read
// again.
type Base struct {
	// Seq is the last folded entry, which the log has.
	Seq item.Seq
	// Fold is opaque to the store.
	Fold []byte
}

// Request is an admitted request id.
type Request struct {
	ID string
	// Digest identifies the content, 32 bytes.
	Digest [32]byte
	// Seq is the sequence of the Submitted entry; assigned by Append.
	Seq item.Seq
	// Queued is the value in the first answer, kept for the answer to a retry.
	Queued bool
}

// Appended is what Append wrote.
type Appended struct {
	Records []Record
	// Alerts are the alerts of the batch with their sequences.
	Alerts []item.Alert
	// Duplicate is the first admission if Admit named a known id; then nothing was written.
	Duplicate *Request
}

// Purge says what to remove from the start of a log.
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
	// Limit is the maximal number of alerts; 0 means 1,000.
	Limit int
}
