package store

import (
	"context"
	"time"

	"podd/pkg/item"
	"podd/pkg/store/rules"
	"podd/pkg/wire"

	"go.etcd.io/bbolt"
)

// Append writes one batch to a pod's log.
func (s *Bolt) Append(ctx context.Context, b Batch) (Appended, error) {
	if err := b.Check(); err != nil {
		return Appended{}, err
	}
	c := appendBatch{batch: b}
	if b.Create != nil {
		create, err := newCreatePod(*b.Create)
		if err != nil {
			return Appended{}, err
		}
		c.create = &create
	}
	if err := c.encode(); err != nil {
		return Appended{}, err
	}
	if err := s.do(ctx, &c); err != nil {
		return Appended{}, podFault(b.Pod, err)
	}
	return c.out, nil
}

// appendBatch is an Append in progress.
type appendBatch struct {
	batch  Batch
	drafts []wire.Draft // one an entry
	images []rules.Picture
	bytes  int
	status []byte // nil to keep the pod's
	create *createPod

	// head is read by check and changed by write.
	head head
	out  Appended
}

func (c *appendBatch) size() int { return c.bytes }

// encode does the caller's part of the work.
func (c *appendBatch) encode() error {
	var err error
	if c.drafts, err = wire.NewDrafts(c.batch.Pod, c.batch.Entries); err != nil {
		return rules.Batch("%v", err)
	}
	if c.images, err = rules.Pictures(c.batch.Entries, c.batch.Images); err != nil {
		return err
	}
	for _, d := range c.drafts {
		if d.Len() > MaxEntryBytes {
			return rules.Large(d.Len(), MaxEntryBytes)
		}
		c.bytes += d.Len()
	}
	for _, p := range c.images {
		c.bytes += len(p.Data)
	}
	if c.batch.Base != nil {
		c.bytes += len(c.batch.Base.Fold)
	}
	if c.batch.Status == nil {
		return nil
	}
	c.status, err = wire.EncodeStatus(*c.batch.Status)
	return err
}

func (c *appendBatch) check(tx *bbolt.Tx) (bool, error) {
	c.out = Appended{}
	if ok, err := c.loadHead(tx); !ok || err != nil {
		return ok, err
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

// loadHead reads the head of the log, or makes that of a new pod.
func (c *appendBatch) loadHead(tx *bbolt.Tx) (ok bool, err error) {
	if c.create != nil {
		c.head = c.create.head
		return c.create.check(tx)
	}
	if c.head, err = loadHead(tx, c.batch.Pod); err != nil {
		return false, err
	}
	// Epoch 0 is a pod without a claim.
	if c.batch.Epoch != c.head.epoch || c.head.epoch == 0 {
		return false, rules.Stale(c.batch.Pod, c.head.epoch, c.batch.Epoch)
	}
	return true, nil
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
		return true, rules.Request(admit.ID, first.Seq)
	}
	c.out.Duplicate = &first
	return true, nil
}

func (c *appendBatch) checkInbox(tx *bbolt.Tx) error {
	inbox := tx.Bucket(bucketInbox)
	removed := make(map[item.Seq]bool, len(c.batch.Dequeue))
	for _, seq := range c.batch.Dequeue {
		if removed[seq] || inbox.Get(podSeqKey(c.batch.Pod, seq)) == nil {
			return rules.Unqueued(c.batch.Pod, seq)
		}
		removed[seq] = true
	}
	waiting := int(c.head.queued) - len(removed)
	if c.batch.Enqueue && c.batch.InboxLimit > 0 && waiting >= c.batch.InboxLimit {
		return rules.Full(c.batch.Pod, waiting)
	}
	return nil
}

func (c *appendBatch) write(tx *bbolt.Tx) error {
	first := c.head.last + 1
	if c.create != nil {
		if err := c.create.write(tx); err != nil {
			return err
		}
	}
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
		return rules.Pod(c.batch.Pod)
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
		value := d.Record(c.head.last)
		if err := log.Put(seqKey(c.head.last), value); err != nil {
			return err
		}
		c.out.Records = append(c.out.Records, Record{Seq: c.head.last, Entry: value[wire.SumLen:]})
	}
	return nil
}

// writeAlert stores the alert of an entry across pods and drafts the entry again with the
// alert's sequence, which only the transaction knows.
func (c *appendBatch) writeAlert(tx *bbolt.Tx, e item.Entry, a item.Alert) (wire.Draft, error) {
	a.Pod = c.batch.Pod
	if a.Time.IsZero() {
		a.Time = e.Time
	}
	a, err := storeNewAlert(tx, a)
	if err != nil {
		return wire.Draft{}, err
	}
	c.out.Alerts = append(c.out.Alerts, a)
	e.Kind = item.AlertRaised{Alert: a}
	body, err := wire.EncodeEntry(e)
	if err != nil {
		return wire.Draft{}, err
	}
	return wire.NewDraft(c.batch.Pod, body), nil
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
