package store

import (
	"bytes"
	"context"

	"podd/pkg/item"
	"podd/pkg/store/rules"

	"go.etcd.io/bbolt"
)

// Inbox returns the queued submits, oldest first. If one is damaged, those before it are
// returned with the error.
func (s *Bolt) Inbox(ctx context.Context, pod string) ([]Waiting, error) {
	var waiting []Waiting
	for more, after := true, item.Seq(0); more; {
		err := s.view(ctx, func(tx *bbolt.Tx) error {
			page, err := inboxPage(tx, pod, after)
			waiting = append(waiting, page...)
			if more = len(page) > 0; more {
				after = page[len(page)-1].Seq
			}
			return err
		})
		if err != nil {
			return waiting, podFault(pod, err)
		}
	}
	return waiting, nil
}

// inboxPage copies the next submits, ReadBytes of them or one.
func inboxPage(tx *bbolt.Tx, pod string, after item.Seq) ([]Waiting, error) {
	if tx.Bucket(bucketHeads).Get([]byte(pod)) == nil {
		return nil, rules.NoPod(pod)
	}
	log := tx.Bucket(bucketLogs).Bucket([]byte(pod))
	if log == nil {
		return nil, rules.Pod(pod)
	}
	var page []Waiting
	c := tx.Bucket(bucketInbox).Cursor()
	prefix := podKey(pod)
	size := 0
	for k, _ := c.Seek(podSeqKey(pod, after+1)); bytes.HasPrefix(k, prefix); k, _ = c.Next() {
		entry, err := readOne(log, pod, seqOf(k))
		if err != nil {
			return page, err
		}
		page = append(page, Waiting{Seq: seqOf(k), Entry: entry})
		if size += len(entry); size >= ReadBytes {
			break
		}
	}
	return page, nil
}

// Request finds an admitted request id.
func (s *Bolt) Request(ctx context.Context, pod, requestID string) (r Request, ok bool, err error) {
	err = s.view(ctx, func(tx *bbolt.Tx) (err error) {
		if tx.Bucket(bucketHeads).Get([]byte(pod)) == nil {
			return rules.NoPod(pod)
		}
		r, ok, err = loadRequest(tx, pod, requestID)
		return err
	})
	if err != nil {
		return Request{}, false, podFault(pod, err)
	}
	return r, ok, nil
}
