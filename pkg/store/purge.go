package store

import (
	"context"
	"time"

	"podd/pkg/item"
	"podd/pkg/store/rules"
	"podd/pkg/wire"

	"go.etcd.io/bbolt"
)

// purgeStep is how many records one transaction removes, so that a long log does not delay
// other writes.
const purgeStep = 4096

// Purge removes the start of a log. If it ends early, the next purge of the same log removes
// the rest.
func (s *Bolt) Purge(ctx context.Context, p Purge) error {
	if _, ok := p.Mark.Kind.(item.Purged); !ok || p.Mark.Seq != 0 {
		return rules.Batch("the mark of a purge is an entry of that kind without a sequence")
	}
	body, err := wire.EncodeEntry(p.Mark)
	if err != nil {
		return rules.Batch("%v", err)
	}
	c := purge{Purge: p, draft: wire.NewDraft(p.Pod, body)}
	if err := s.do(ctx, &c); err != nil {
		return podFault(p.Pod, err)
	}
	for more := true; more; {
		t := trimLogs{pod: p.Pod}
		if err := s.do(ctx, &t); err != nil {
			return podFault(p.Pod, err)
		}
		more = t.more
	}
	return nil
}

type purge struct {
	Purge
	draft wire.Draft
	head  head
}

func (c *purge) size() int { return c.draft.Len() }

func (c *purge) check(tx *bbolt.Tx) (needed bool, err error) {
	if c.head, err = loadHead(tx, c.Pod); err != nil {
		return false, err
	}
	switch mark := markOf(tx, c.Pod); {
	case c.head.last != c.Last:
		return false, rules.Grew(c.Pod, c.head.last, c.Last)
	case c.UpTo > c.head.last:
		return false, beyondEnd(tx, c.Pod, c.head, c.UpTo)
	case c.UpTo < c.head.first, mark != nil && c.UpTo == c.head.first:
		return false, purged(tx, c.Pod, c.UpTo, c.head.first)
	}
	k, _ := tx.Bucket(bucketInbox).Cursor().Seek(podKey(c.Pod))
	if hasPod(k, c.Pod) && seqOf(k) <= c.UpTo {
		return false, rules.Waiting(c.Pod, seqOf(k))
	}
	return true, nil
}

func (c *purge) write(tx *bbolt.Tx) error {
	c.head.first = c.UpTo
	if err := storeHead(tx, c.Pod, c.head); err != nil {
		return err
	}
	if err := dropBase(tx, c.Pod); err != nil {
		return err
	}
	return tx.Bucket(bucketPurges).Put([]byte(c.Pod), c.draft.Record(c.UpTo))
}

// trimLogs removes records that a purge made unnecessary: the pod's own, and those that it
// shared.
type trimLogs struct {
	pod  string
	more bool
}

func (c *trimLogs) size() int { return groupBytes }

func (c *trimLogs) check(tx *bbolt.Tx) (bool, error) {
	_, err := loadHead(tx, c.pod)
	return err == nil, err
}

func (c *trimLogs) write(tx *bbolt.Tx) error {
	c.more = false
	l, err := loadLineage(tx, c.pod)
	if err != nil {
		return err
	}
	from := neededFrom(tx, c.pod)
	for _, s := range append(l, rules.Segment{Owner: c.pod}) {
		if s.Owner != c.pod && s.UpTo < from {
			if err := tx.Bucket(bucketSharers).Delete(sharerKey(s.Owner, c.pod)); err != nil {
				return err
			}
		}
		more, err := trim(tx, s.Owner, purgeStep)
		if err != nil {
			return err
		}
		c.more = c.more || more
	}
	return nil
}

// markOf is the record of the mark that is the first entry of a log; nil if the log was not
// purged.
func markOf(tx *bbolt.Tx, pod string) []byte {
	return tx.Bucket(bucketPurges).Get([]byte(pod))
}

// copyMark gives a fork the mark of its parent.
func copyMark(tx *bbolt.Tx, parent string, h head, fork string) error {
	mark := markOf(tx, parent)
	if mark == nil {
		return nil
	}
	entry, ok := wire.OpenRecord(parent, h.first, mark)
	if !ok {
		return rules.Entry(parent, h.first)
	}
	body := entry[len(wire.WithSeq(h.first, nil)):]
	return tx.Bucket(bucketPurges).Put([]byte(fork), wire.NewDraft(fork, body).Record(h.first))
}

// checkPast refuses an entry from which history cannot continue because the log was purged:
// the log can reproduce requests only from the entry from on.
func checkPast(tx *bbolt.Tx, pod string, h head, seq item.Seq) error {
	mark := markOf(tx, pod)
	if mark == nil {
		return nil
	}
	entry, ok := wire.OpenRecord(pod, h.first, mark)
	if !ok {
		return rules.Entry(pod, h.first)
	}
	e, err := wire.DecodeEntry(entry)
	if err != nil {
		return rules.Entry(pod, h.first)
	}
	if k, _ := e.Kind.(item.Purged); seq < k.From {
		return purged(tx, pod, seq, k.From)
	}
	return nil
}

// PurgeAlerts removes acknowledged alerts.
func (s *Bolt) PurgeAlerts(ctx context.Context, before time.Time) (removed int, err error) {
	for after := item.Seq(0); ; {
		page, err := s.Alerts(ctx, AlertQuery{After: after})
		if err != nil || len(page) == 0 {
			return removed, err
		}
		after = page[len(page)-1].Seq
		var old []item.Seq
		for _, a := range page {
			if a.Acked && a.Time.Before(before) {
				old = append(old, a.Seq)
			}
		}
		if len(old) == 0 {
			continue
		}
		if err := s.do(ctx, &dropAlerts{seqs: old}); err != nil {
			return removed, s.fileFault(err)
		}
		removed += len(old)
	}
}

// dropAlerts removes alerts. They are acknowledged, so they no longer change.
type dropAlerts struct{ seqs []item.Seq }

func (c *dropAlerts) size() int { return 200 * len(c.seqs) }

func (c *dropAlerts) check(*bbolt.Tx) (bool, error) { return true, nil }

func (c *dropAlerts) write(tx *bbolt.Tx) error {
	alerts := tx.Bucket(bucketAlerts)
	for _, seq := range c.seqs {
		sealed := alerts.Get(seqKey(seq))
		if sealed == nil {
			continue
		}
		a, err := decodeAlert(seq, sealed)
		if err != nil {
			continue
		}
		if a.Pod != "" {
			if err := tx.Bucket(bucketPodAlerts).Delete(podSeqKey(a.Pod, seq)); err != nil {
				return err
			}
		}
		if err := alerts.Delete(seqKey(seq)); err != nil {
			return err
		}
	}
	return nil
}
