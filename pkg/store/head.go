package store

import (
	"time"

	"podd/pkg/item"
	"podd/pkg/store/rules"
	"podd/pkg/wire"

	"go.etcd.io/bbolt"
)

// head is the part of a pod that appends change.
type head struct {
	epoch Epoch
	// first is the first sequence that the log still has; in an empty log the next one.
	first, last item.Seq
	queued      uint32
	// requests counts the remembered request ids.
	requests uint32
	activity time.Time
	// status is an encoded podd.v1.Pod with only the status.
	status []byte
}

func (h head) encode() []byte {
	return rules.Head{
		Epoch: int64(h.epoch), First: h.first, Last: h.last, Queued: h.queued, Requests: h.requests, Activity: h.activity, Status: h.status,
	}.Encode()
}

// decodeHead reads what encode wrote; status is part of b's memory.
func decodeHead(b []byte) (head, bool) {
	h, ok := rules.DecodeHead(b)
	return head{
		epoch: Epoch(h.Epoch), first: h.First, last: h.Last, queued: h.Queued, requests: h.Requests, activity: h.Activity, status: h.Status,
	}, ok
}

// join is the pod of an encoded record and this head.
func (h head) join(record []byte) (item.Pod, error) {
	p, err := wire.JoinPod(record, h.status)
	p.Queued, p.Status.LastActivity = int(h.queued), h.activity
	if h.first <= h.last {
		p.First, p.Last = h.first, h.last
	}
	return p, err
}

// openHead reads a sealed head.
func openHead(pod string, sealed []byte) (h head, ok bool) {
	body, ok := wire.Unseal(bucketHeads, []byte(pod), sealed)
	if !ok {
		return head{}, false
	}
	return decodeHead(body)
}

// loadHead reads the head of a pod. Its status is memory of the transaction.
func loadHead(tx *bbolt.Tx, pod string) (head, error) {
	sealed := tx.Bucket(bucketHeads).Get([]byte(pod))
	if sealed == nil {
		return head{}, rules.NoPod(pod)
	}
	h, ok := openHead(pod, sealed)
	if !ok {
		return head{}, rules.Pod(pod)
	}
	return h, nil
}

func storeHead(tx *bbolt.Tx, pod string, h head) error {
	key := []byte(pod)
	return tx.Bucket(bucketHeads).Put(key, wire.Seal(bucketHeads, key, h.encode()))
}
