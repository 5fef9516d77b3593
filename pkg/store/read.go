package store

import (
	"bytes"
	"context"

	"podd/pkg/item"
	"podd/pkg/store/rules"
	"podd/pkg/wire"

	"go.etcd.io/bbolt"
)

// Read returns records above after, in order.
func (s *Bolt) Read(ctx context.Context, pod string, after item.Seq, limit int) ([]Record, error) {
	var page []Record
	err := s.view(ctx, func(tx *bbolt.Tx) error {
		v, err := openLog(tx, pod)
		if err != nil {
			return err
		}
		if err := checkRange(tx, pod, v.head, after); err != nil {
			return err
		}
		page, err = v.page(after+1, limit)
		return err
	})
	return page, podFault(pod, err)
}

func checkRange(tx *bbolt.Tx, pod string, h head, after item.Seq) error {
	switch {
	case after < 0:
		return rules.ReadRange(after)
	case after < h.first-1:
		return purged(tx, pod, after+1, h.first)
	case after > h.last:
		return beyondEnd(tx, pod, h, after)
	}
	return nil
}

func purged(tx *bbolt.Tx, pod string, seq, first item.Seq) error {
	return rules.Gone(nameOf(tx, pod), seq, first)
}

func beyondEnd(tx *bbolt.Tx, pod string, h head, seq item.Seq) error {
	return rules.Beyond(nameOf(tx, pod), seq, h.last)
}

// logView is a pod's log inside a read transaction.
type logView struct {
	tx      *bbolt.Tx
	pod     string
	head    head
	log     *bbolt.Bucket
	lineage rules.Lineage
	// mark is the record of the first entry of a purged log; nil if the log was not purged.
	mark []byte
}

func openLog(tx *bbolt.Tx, pod string) (v logView, err error) {
	h, err := loadHead(tx, pod)
	if err != nil {
		return v, err
	}
	return logOf(tx, pod, h)
}

// logOf is the log of a pod with a head.
func logOf(tx *bbolt.Tx, pod string, h head) (v logView, err error) {
	v = logView{tx: tx, pod: pod, head: h, mark: markOf(tx, pod)}
	if v.log = tx.Bucket(bucketLogs).Bucket([]byte(pod)); v.log == nil {
		return v, rules.Pod(pod)
	}
	v.lineage, err = loadLineage(tx, pod)
	return v, err
}

// page copies the records from next on, within the bounds of one Read.
func (v logView) page(next item.Seq, limit int) ([]Record, error) {
	p := pager{limit: limit}
	if v.mark != nil && next == v.head.first {
		if !p.add(v.pod, next, v.mark) {
			return nil, rules.Entry(v.pod, next)
		}
		next++
	}
	for !p.full && next <= v.head.last {
		owner, upTo := v.lineage.Place(v.pod, next, v.head.last)
		log := v.log
		if owner != v.pod {
			log = v.tx.Bucket(bucketLogs).Bucket([]byte(owner))
		}
		if log == nil {
			return p.page, rules.Entry(v.pod, next)
		}
		reached, ok := p.copy(log, owner, next, upTo)
		if !ok {
			return p.page, rules.Entry(v.pod, reached)
		}
		next = reached
	}
	return p.page, nil
}

// pager collects the records of one Read.
type pager struct {
	limit int
	page  []Record
	size  int
	// full says that no more records fit.
	full bool
}

// copy adds the records of a bucket from next to last and returns the sequence that it
// reached; ok is false if that record is damaged. If a record is missing, the cursor is
// at a later one or at the end, which is not the record of this sequence either: a
// missing record is damage, too.
func (p *pager) copy(log *bbolt.Bucket, owner string, next, last item.Seq) (reached item.Seq, ok bool) {
	c := log.Cursor()
	for _, value := c.Seek(seqKey(next)); next <= last; _, value = c.Next() {
		if !p.add(owner, next, value) {
			return next, false
		}
		if p.full {
			break
		}
		next++
	}
	return next, true
}

// add copies a record if it fits; ok is false if the record is damaged.
func (p *pager) add(owner string, seq item.Seq, value []byte) (ok bool) {
	if p.full = p.limit > 0 && len(p.page) == p.limit; p.full {
		return true
	}
	entry, ok := wire.OpenRecord(owner, seq, value)
	if !ok {
		return false
	}
	if p.size += len(entry); p.size > ReadBytes && len(p.page) > 0 {
		p.full = true
		return true
	}
	p.page = append(p.page, Record{Seq: seq, Entry: bytes.Clone(entry)})
	return true
}

// readOne copies one record that is known to be in the log.
func readOne(log *bbolt.Bucket, pod string, seq item.Seq) ([]byte, error) {
	entry, ok := wire.OpenRecord(pod, seq, log.Get(seqKey(seq)))
	if !ok {
		return nil, rules.Entry(pod, seq)
	}
	return bytes.Clone(entry), nil
}
