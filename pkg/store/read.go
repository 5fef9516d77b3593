package store

import (
	"bytes"
	"context"
	"strconv"

	"podd/pkg/item"

	"go.etcd.io/bbolt"
)

// Read gives records above after, in order.
func (s *Bolt) Read(ctx context.Context, pod string, after item.Seq, limit int) ([]Record, error) {
	var page []Record
	err := s.view(ctx, func(tx *bbolt.Tx) error {
		h, err := loadHead(tx, pod)
		if err != nil {
			return err
		}
		if err := checkRange(pod, h, after); err != nil {
			return err
		}
		log := tx.Bucket(bucketLogs).Bucket([]byte(pod))
		if log == nil {
			return damagedPod(pod)
		}
		page, err = readLog(log, pod, after+1, h.last, limit)
		return err
	})
	return page, podFault(pod, err)
}

func checkRange(pod string, h head, after item.Seq) error {
	switch {
	case after < 0:
		return item.Errorf(item.KindInvalid, ReasonBadRange, "a log is read from sequence 0 on, not from %d", after)
	case after < h.first-1:
		e := item.Errorf(item.KindOutOfRange, ReasonPurged,
			"pod %s has no entry %d any more; its log begins at %d", pod, after+1, h.first)
		e.Meta = map[string]string{"first_seq": strconv.FormatInt(int64(h.first), 10)}
		return e
	case after > h.last:
		e := item.Errorf(item.KindOutOfRange, ReasonBeyondEnd,
			"pod %s has no entry %d yet; its log ends at %d", pod, after, h.last)
		e.Meta = map[string]string{"last_seq": strconv.FormatInt(int64(h.last), 10)}
		return e
	}
	return nil
}

// readLog copies the records from next to last, within the bounds of one Read.
// Where one is missing the cursor stands on a later one or on none, which is not the
// record of this sequence either: it is as damaged as one that is wrong.
func readLog(log *bbolt.Bucket, pod string, next, last item.Seq, limit int) ([]Record, error) {
	var page []Record
	size := 0
	c := log.Cursor()
	for _, value := c.Seek(seqKey(next)); next <= last; _, value = c.Next() {
		if limit > 0 && len(page) == limit {
			break
		}
		entry, ok := openRecord(pod, next, value)
		if !ok {
			return page, damagedAt(pod, next)
		}
		if size += len(entry); size > ReadBytes && len(page) > 0 {
			break
		}
		page = append(page, Record{Seq: next, Entry: bytes.Clone(entry)})
		next++
	}
	return page, nil
}

// readOne copies one record that is known to be in the log.
func readOne(log *bbolt.Bucket, pod string, seq item.Seq) ([]byte, error) {
	entry, ok := openRecord(pod, seq, log.Get(seqKey(seq)))
	if !ok {
		return nil, damagedAt(pod, seq)
	}
	return bytes.Clone(entry), nil
}
