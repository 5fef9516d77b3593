package store

import (
	"bytes"
	"context"

	"podd/pkg/item"
	"podd/pkg/store/rules"
	"podd/pkg/wire"

	"go.etcd.io/bbolt"
)

// Part is a range of a pod's log, both ends included, that one pod wrote: Pod itself or, in
// a fork, an earlier one.
type Part struct {
	Pod, Owner string
	From, To   item.Seq
}

// Parts returns the parts of a pod's log, oldest first.
func (s *Bolt) Parts(ctx context.Context, pod string) ([]Part, error) {
	var parts []Part
	err := s.view(ctx, func(tx *bbolt.Tx) error {
		v, err := openLog(tx, pod)
		if err != nil {
			return err
		}
		next := v.head.first
		if v.mark != nil {
			next++
		}
		for next <= v.head.last {
			owner, upTo := v.lineage.Place(pod, next, v.head.last)
			parts = append(parts, Part{Pod: pod, Owner: owner, From: next, To: upTo})
			next = upTo + 1
		}
		return nil
	})
	return parts, podFault(pod, err)
}

// Scan passes the records of a part to want.
func (s *Bolt) Scan(ctx context.Context, p Part, want func(entry []byte) bool) (found []Record, next item.Seq, err error) {
	c := scan{Part: p, want: want}
	if err = s.view(ctx, c.run); isFault(err) {
		c.next = p.To + 1
	}
	return c.found, c.next, podFault(p.Owner, err)
}

// scan is one Scan. It goes forward, as memory is read ahead.
type scan struct {
	Part
	want  func(entry []byte) bool
	found []Record
	next  item.Seq
}

func (s *scan) run(tx *bbolt.Tx) error {
	s.next = s.To + 1
	log := tx.Bucket(bucketLogs).Bucket([]byte(s.Owner))
	if log == nil {
		return nil // Deleted meanwhile.
	}
	c := log.Cursor()
	size := 0
	for k, value := c.Seek(seqKey(s.From)); k != nil; k, value = c.Next() {
		seq := seqOf(k)
		if seq > s.To {
			return nil
		}
		if size >= ScanBytes {
			s.next = seq
			return nil
		}
		size += len(value)
		if err := s.pass(seq, value); err != nil {
			s.next = seq + 1
			return err
		}
	}
	return nil
}

// pass passes one record on, and copies it if it is wanted.
func (s *scan) pass(seq item.Seq, value []byte) error {
	if len(value) < wire.SumLen || !s.want(value[wire.SumLen:]) {
		return nil
	}
	entry, ok := wire.OpenRecord(s.Owner, seq, value)
	if !ok {
		return rules.Entry(s.Owner, seq)
	}
	s.found = append(s.found, Record{Seq: seq, Entry: bytes.Clone(entry)})
	return nil
}
