package rules

import (
	"fmt"
	"strconv"
	"strings"

	"podd/pkg/item"
)

// MaxKeyText bounds names, pod ids and request ids, in bytes. It is far above the server's
// limits and far below those of the stores.
const MaxKeyText = 1024

// KeyText refuses text that cannot be part of a key.
func KeyText(what, text string) error {
	if text == "" || len(text) > MaxKeyText || strings.IndexByte(text, 0) >= 0 {
		return item.Errorf(item.KindInvalid, BadName, "a %s must have 1 to %d bytes and no NUL byte", what, MaxKeyText)
	}
	return nil
}

// NoPod says that no pod has an id or a name.
func NoPod(pod string) error {
	return item.Errorf(item.KindNotFound, PodNotFound, "no pod named %q", pod)
}

// NoNode says that no node has a name.
func NoNode(name string) error {
	return item.Errorf(item.KindNotFound, "NODE_NOT_FOUND", "no node named %q: podctl nodes lists them", name)
}

// NameTaken says that a name belongs to a pod.
func NameTaken(name string) error {
	return item.Errorf(item.KindExists, PodExists, "the pod %q already exists: choose another name", name)
}

// IDTaken says that an id belongs to a pod.
func IDTaken(id string) error {
	return item.Errorf(item.KindExists, PodExists, "a pod with the id %s already exists", id)
}

// IDNeeded says that the forks of a deleted pod need its id.
func IDNeeded(id string) error {
	return item.Errorf(item.KindExists, PodExists,
		"the id %s belongs to a deleted pod whose entries its forks still need: choose another id", id)
}

// Stale says that a pod's log was claimed again: it has one epoch, the writer another.
func Stale[E ~int64](pod string, has, writer E) error {
	return item.Errorf(item.KindPrecondition, StaleEpoch,
		"another writer has claimed pod %s (epoch %d, not %d)", pod, has, writer)
}

// Batch says that a batch contradicts itself.
func Batch(format string, args ...any) error {
	return item.Errorf(item.KindInvalid, BadBatch, "cannot write a batch: %s", fmt.Sprintf(format, args...))
}

// Base says that a log does not have the entries of a base.
func Base(pod string, end, first, last item.Seq) error {
	return Batch("the base of pod %s ends at %d, its log has %d to %d", pod, end, first, last)
}

// Large says that an entry is too large.
func Large(size, limit int) error {
	return item.Errorf(item.KindInvalid, TooLarge, "cannot store an entry of %d bytes; the limit is %d bytes", size, limit)
}

// Request says that a request id was admitted with another content, at a sequence.
func Request(id string, seq item.Seq) error {
	return item.Errorf(item.KindExists, RequestIDTaken,
		"request id %q was used for another prompt (#%d): use a new one", id, seq)
}

// Unqueued says that a submit is not in the inbox.
func Unqueued(pod string, seq item.Seq) error {
	return item.Errorf(item.KindNotFound, NotWaiting,
		"prompt #%d is not in the queue of pod %s: a turn took it, or it was removed", seq, pod)
}

// Full says that an inbox has as many submits as it may.
func Full(pod string, waiting int) error {
	return item.Errorf(item.KindExhausted, InboxFull,
		"the queue of pod %[2]s is full (%[1]d prompts): try again after the next turn starts", waiting, pod)
}

// ReadRange says that a log is read, or ForkRange that it is forked, at no entry.
func ReadRange(after item.Seq) error {
	return item.Errorf(item.KindInvalid, BadRange, "cannot read a log from entry %d: entries are numbered from 1", after)
}

// ForkRange is described at ReadRange.
func ForkRange(at item.Seq) error {
	return item.Errorf(item.KindInvalid, BadRange, "cannot fork a pod at entry %d: entries are numbered from 1", at)
}

// Gone says that the log of the pod with a name no longer has an entry, and where it begins.
func Gone(name string, seq, first item.Seq) error {
	e := item.Errorf(item.KindOutOfRange, Purged, "pod %s no longer has entry %d; its log begins at %d", name, seq, first)
	e.Meta = map[string]string{"first_seq": strconv.FormatInt(int64(first), 10)}
	return e
}

// Beyond says that the log of the pod with a name does not have an entry yet, and where it
// ends.
func Beyond(name string, seq, last item.Seq) error {
	e := item.Errorf(item.KindOutOfRange, BeyondEnd, "pod %s has no entry %d yet; its log ends at %d", name, seq, last)
	e.Meta = map[string]string{"last_seq": strconv.FormatInt(int64(last), 10)}
	return e
}

// BeyondAlerts says that an alert does not exist yet.
func BeyondAlerts(after, last item.Seq) error {
	e := item.Errorf(item.KindOutOfRange, BeyondEnd, "alert %d does not exist yet; the last one is %d", after, last)
	e.Meta = map[string]string{"last_seq": strconv.FormatInt(int64(last), 10)}
	return e
}

// NoAlert says that no alert has, or had, a sequence.
func NoAlert(seq item.Seq) error {
	return item.Errorf(item.KindNotFound, AlertNotFound, "alert %d does not exist; no alert was acknowledged", seq)
}

// Alert says that a stored alert is damaged.
func Alert(seq item.Seq) error {
	return item.Errorf(item.KindDataLoss, Damaged, "alert %d is damaged and cannot be read", seq)
}

// Grew says that a log has another end than the purge expects.
func Grew(pod string, last, expected item.Seq) error {
	return item.Errorf(item.KindPrecondition, LogGrew, "the log of pod %s now ends at %d, not at %d: read it again", pod, last, expected)
}

// Waiting says that a purge would remove a queued submit.
func Waiting(pod string, seq item.Seq) error {
	return item.Errorf(item.KindPrecondition, StillWaiting,
		"prompt #%d is still queued in pod %s: purge only entries before it", seq, pod)
}

// NoImage says that no entry refers to an image.
func NoImage(digest string) error {
	return item.Errorf(item.KindNotFound, ImageNotFound, "no entry refers to an image with the digest %q", digest)
}

// Image says that a stored image is damaged.
func Image(digest string) error {
	return item.Errorf(item.KindDataLoss, Damaged, "the stored image %s is damaged: compact the pod to go on without it, or restore a backup", digest)
}

// Images says that a pod would have too many bytes of images.
func Images(pod string, limit int64) error {
	return item.Errorf(item.KindExhausted, ImagesFull,
		"the images of pod %[2]s would have more than %[1]d bytes together: fork the pod to go on with more images", limit, pod)
}

// Pod says that the record of a pod, or what the store keeps around it, is damaged.
func Pod(pod string) *item.Error {
	e := item.Errorf(item.KindDataLoss, Damaged, "the record of pod %s is damaged: restore a backup, or delete the pod", pod)
	e.Meta = map[string]string{"pod": pod}
	return e
}

// Entry says that an entry is damaged.
func Entry(pod string, seq item.Seq) *item.Error {
	e := item.Errorf(item.KindDataLoss, Damaged, "entry %[2]d of pod %[1]s is damaged; earlier entries can still be read", pod, seq)
	e.Meta = map[string]string{"pod": pod, "seq": strconv.FormatInt(int64(seq), 10)}
	return e
}

// Stopping says that the store is closed.
func Stopping() error {
	return item.Errorf(item.KindUnavailable, Closed, "podd is stopping: try again once it has restarted")
}

// Unwritten says that a call ended before its change was written.
func Unwritten(err error) error { return fmt.Errorf("not written: %w", err) }
