package store

import (
	"context"
	"fmt"
	"time"

	"podd/internal/wire"
	"podd/pkg/item"

	"go.etcd.io/bbolt"
)

// Append writes one batch to a pod's log.
func (s *Bolt) Append(ctx context.Context, b Batch) (Appended, error) {
	if err := checkBatch(b); err != nil {
		return Appended{}, err
	}
	c := appendBatch{batch: b}
	if err := c.encode(); err != nil {
		return Appended{}, err
	}
	if err := s.do(ctx, &c); err != nil {
		return Appended{}, podFault(b.Pod, err)
	}
	return c.out, nil
}

// checkBatch refuses a batch that contradicts itself.
func checkBatch(b Batch) error {
	for _, e := range b.Entries {
		if e.Seq != 0 {
			return badBatch("an entry has the sequence %d, which the store assigns", e.Seq)
		}
	}
	if b.Admit == nil && !b.Enqueue {
		return nil
	}
	if len(b.Entries) == 0 {
		return badBatch("it admits a request without an entry")
	}
	submitted, ok := b.Entries[0].Kind.(item.Submitted)
	if !ok {
		return badBatch("the first entry is not a submit")
	}
	if b.Admit == nil {
		return nil
	}
	if b.Admit.ID != submitted.RequestID {
		return badBatch("the submit has the request id %q, not %q", submitted.RequestID, b.Admit.ID)
	}
	return checkKey("request id", b.Admit.ID)
}

func badBatch(format string, args ...any) error {
	return item.Errorf(item.KindInvalid, ReasonBadBatch, "cannot write a batch: %s", fmt.Sprintf(format, args...))
}

// appendBatch is an Append in progress.
type appendBatch struct {
	batch  Batch
	drafts []draft // one an entry
	images []picture
	bytes  int
	status []byte // nil to keep the pod's

	// head is read by check and changed by write.
	head head
	out  Appended
}

func (c *appendBatch) size() int { return c.bytes }

// encode does the caller's part of the work.
func (c *appendBatch) encode() error {
	c.drafts = make([]draft, len(c.batch.Entries))
	for i, e := range c.batch.Entries {
		body, err := wire.EncodeEntry(e)
		if err != nil {
			return badBatch("%v", err)
		}
		if len(body) > MaxEntryBytes-seqRoom {
			return item.Errorf(item.KindInvalid, ReasonTooLarge,
				"cannot store an entry of %d bytes; the limit is %d bytes", len(body), MaxEntryBytes-seqRoom)
		}
		c.drafts[i] = newDraft(c.batch.Pod, body)
		c.bytes += len(body)
	}
	if err := c.pictures(); err != nil {
		return err
	}
	if c.batch.Base != nil {
		c.bytes += len(c.batch.Base.Fold)
	}
	if c.batch.Status == nil {
		return nil
	}
	var err error
	c.status, err = encodeStatus(*c.batch.Status)
	return err
}

func (c *appendBatch) check(tx *bbolt.Tx) (bool, error) {
	c.out = Appended{}
	h, err := loadHead(tx, c.batch.Pod)
	if err != nil {
		return false, err
	}
	c.head = h
	// Epoch 0 is a pod without a claim.
	if c.batch.Epoch != h.epoch || h.epoch == 0 {
		return false, item.Errorf(item.KindPrecondition, ReasonStaleEpoch,
			"another writer has claimed pod %s (epoch %d, not %d)", c.batch.Pod, h.epoch, c.batch.Epoch)
	}
	if known, err := c.checkRequest(tx); known || err != nil {
		return false, err
	}
	if err := c.checkRewinds(tx); err != nil {
		return false, err
	}
	if err := c.checkBase(); err != nil {
		return false, err
	}
	if err := c.checkImages(tx); err != nil {
		return false, err
	}
	return true, c.checkInbox(tx)
}

// checkRewinds refuses a rewind to what was purged.
func (c *appendBatch) checkRewinds(tx *bbolt.Tx) error {
	for _, e := range c.batch.Entries {
		if k, ok := e.Kind.(item.Rewind); ok {
			if err := checkPast(tx, c.batch.Pod, c.head, k.To); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkRequest says whether the request was admitted before.
func (c *appendBatch) checkRequest(tx *bbolt.Tx) (known bool, err error) {
	admit := c.batch.Admit
	if admit == nil {
		return false, nil
	}
	first, known, err := loadRequest(tx, c.batch.Pod, admit.ID)
	if err != nil || !known {
		return false, err
	}
	if first.Digest != admit.Digest {
		return true, item.Errorf(item.KindExists, ReasonRequestIDTaken,
			"request id %q was used for another prompt (#%d): use a new one", admit.ID, first.Seq)
	}
	c.out.Duplicate = &first
	return true, nil
}

func (c *appendBatch) checkInbox(tx *bbolt.Tx) error {
	inbox := tx.Bucket(bucketInbox)
	removed := make(map[item.Seq]bool, len(c.batch.Dequeue))
	for _, seq := range c.batch.Dequeue {
		if removed[seq] || inbox.Get(podSeqKey(c.batch.Pod, seq)) == nil {
			return item.Errorf(item.KindNotFound, ReasonNotWaiting,
				"prompt #%d is not in the queue of pod %s: a turn took it, or it was removed", seq, c.batch.Pod)
		}
		removed[seq] = true
	}
	waiting := int(c.head.queued) - len(removed)
	if c.batch.Enqueue && c.batch.InboxLimit > 0 && waiting >= c.batch.InboxLimit {
		return item.Errorf(item.KindExhausted, ReasonInboxFull,
			"the queue of pod %[2]s is full (%[1]d prompts): try again after the next turn starts", waiting, c.batch.Pod)
	}
	return nil
}

func (c *appendBatch) write(tx *bbolt.Tx) error {
	first := c.head.last + 1
	if err := c.writeEntries(tx); err != nil {
		return err
	}
	if err := c.writeImages(tx, first); err != nil {
		return err
	}
	if err := c.writeInbox(tx, first); err != nil {
		return err
	}
	if admit := c.batch.Admit; admit != nil {
		r := Request{ID: admit.ID, Digest: admit.Digest, Seq: first, Queued: admit.Queued}
		if err := rememberRequest(tx, c.batch.Pod, &c.head, r); err != nil {
			return err
		}
	}
	if err := c.writeBase(tx); err != nil {
		return err
	}
	if c.status != nil {
		c.head.status = c.status
	}
	c.head.activity = c.activity()
	return storeHead(tx, c.batch.Pod, c.head)
}

func (c *appendBatch) writeEntries(tx *bbolt.Tx) error {
	if len(c.drafts) == 0 {
		return nil
	}
	log := tx.Bucket(bucketLogs).Bucket([]byte(c.batch.Pod))
	if log == nil {
		return damagedPod(c.batch.Pod)
	}
	log.FillPercent = fullPages
	c.out.Records = make([]Record, 0, len(c.drafts))
	for i, d := range c.drafts {
		c.head.last++
		if raised, ok := c.batch.Entries[i].Kind.(item.AlertRaised); ok {
			var err error
			if d, err = c.writeAlert(tx, c.batch.Entries[i], raised.Alert); err != nil {
				return err
			}
		}
		value := d.record(c.head.last)
		if err := log.Put(seqKey(c.head.last), value); err != nil {
			return err
		}
		c.out.Records = append(c.out.Records, Record{Seq: c.head.last, Entry: value[sumLen:]})
	}
	return nil
}

// writeAlert stores the alert of an entry across pods and drafts the entry again with the
// alert's sequence, which only the transaction knows.
func (c *appendBatch) writeAlert(tx *bbolt.Tx, e item.Entry, a item.Alert) (draft, error) {
	a.Pod = c.batch.Pod
	if a.Time.IsZero() {
		a.Time = e.Time
	}
	a, err := storeNewAlert(tx, a)
	if err != nil {
		return draft{}, err
	}
	c.out.Alerts = append(c.out.Alerts, a)
	e.Kind = item.AlertRaised{Alert: a}
	body, err := wire.EncodeEntry(e)
	if err != nil {
		return draft{}, err
	}
	return newDraft(c.batch.Pod, body), nil
}

func (c *appendBatch) writeInbox(tx *bbolt.Tx, first item.Seq) error {
	inbox := tx.Bucket(bucketInbox)
	for _, seq := range c.batch.Dequeue {
		if err := inbox.Delete(podSeqKey(c.batch.Pod, seq)); err != nil {
			return err
		}
		c.head.queued--
	}
	if !c.batch.Enqueue {
		return nil
	}
	c.head.queued++
	return inbox.Put(podSeqKey(c.batch.Pod, first), []byte{})
}

// activity is the pod's last activity after this batch.
func (c *appendBatch) activity() time.Time {
	if status := c.batch.Status; status != nil && !status.LastActivity.IsZero() {
		return status.LastActivity
	}
	if n := len(c.batch.Entries); n > 0 {
		return c.batch.Entries[n-1].Time
	}
	return c.head.activity
}
