package store

import (
	"bytes"

	"podd/pkg/store/rules"
	"podd/pkg/wire"

	"go.etcd.io/bbolt"
)

func requestKey(pod, id string) []byte { return append(podKey(pod), id...) }

func (r Request) encode() []byte { return rules.EncodeRequest(r.Digest[:], r.Seq, r.Queued) }

func decodeRequest(id string, b []byte) (Request, bool) {
	digest, seq, queued, ok := rules.DecodeRequest(b)
	if !ok {
		return Request{}, false
	}
	return Request{ID: id, Digest: [32]byte(digest), Seq: seq, Queued: queued}, true
}

func loadRequest(tx *bbolt.Tx, pod, id string) (r Request, ok bool, err error) {
	key := requestKey(pod, id)
	sealed := tx.Bucket(bucketRequests).Get(key)
	if sealed == nil {
		return Request{}, false, nil
	}
	body, ok := wire.Unseal(bucketRequests, key, sealed)
	if ok {
		r, ok = decodeRequest(id, body)
	}
	if !ok {
		return Request{}, false, rules.Pod(pod)
	}
	return r, true, nil
}

// rememberRequest stores a request and forgets the oldest if there are too many.
func rememberRequest(tx *bbolt.Tx, pod string, h *head, r Request) error {
	for h.requests >= RequestsKept {
		if err := forgetRequest(tx, pod); err != nil {
			return err
		}
		h.requests--
	}
	h.requests++
	key := requestKey(pod, r.ID)
	if err := tx.Bucket(bucketRequests).Put(key, wire.Seal(bucketRequests, key, r.encode())); err != nil {
		return err
	}
	return tx.Bucket(bucketAdmitted).Put(podSeqKey(pod, r.Seq), []byte(r.ID))
}

// forgetRequest drops the oldest request of a pod.
func forgetRequest(tx *bbolt.Tx, pod string) error {
	admitted := tx.Bucket(bucketAdmitted)
	key, id := admitted.Cursor().Seek(podKey(pod))
	if !bytes.HasPrefix(key, podKey(pod)) {
		return rules.Pod(pod)
	}
	if err := tx.Bucket(bucketRequests).Delete(requestKey(pod, string(id))); err != nil {
		return err
	}
	return admitted.Delete(bytes.Clone(key))
}
