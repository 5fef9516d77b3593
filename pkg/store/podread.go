package store

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"podd/pkg/item"
	"podd/pkg/store/rules"
	"podd/pkg/wire"

	"go.etcd.io/bbolt"
)

// podPage is how many pods one read transaction copies.
const podPage = 1000

// Pod finds a pod by its id or, failing that, by its name.
func (s *Bolt) Pod(ctx context.Context, idOrName string) (item.Pod, error) {
	var pod item.Pod
	id := idOrName
	err := s.view(ctx, func(tx *bbolt.Tx) (err error) {
		heads := tx.Bucket(bucketHeads)
		if heads.Get([]byte(id)) == nil {
			known := tx.Bucket(bucketNames).Get([]byte(idOrName))
			if known == nil {
				return rules.NoPod(idOrName)
			}
			id = string(known)
		}
		pod, err = readPod(id, tx.Bucket(bucketPods).Get([]byte(id)), heads.Get([]byte(id)))
		return err
	})
	if err != nil {
		return item.Pod{}, podFault(id, err)
	}
	return pod, nil
}

// readPod assembles a pod from its sealed record and head.
func readPod(id string, record, head []byte) (item.Pod, error) {
	body, ok := wire.Unseal(bucketPods, []byte(id), record)
	if !ok {
		return item.Pod{}, rules.Pod(id)
	}
	h, ok := openHead(id, head)
	if !ok {
		return item.Pod{}, rules.Pod(id)
	}
	p, err := h.join(body)
	if err != nil {
		return item.Pod{}, rules.Pod(id)
	}
	return p, nil
}

// Pods returns all pods in the order of their names. A pod with a damaged record is listed
// as quarantined. A pod that is created or deleted meanwhile may be missing.
func (s *Bolt) Pods(ctx context.Context) ([]item.Pod, error) {
	found := []item.Pod{}
	for after, full := []byte(nil), true; full; {
		before := len(found)
		err := s.view(ctx, func(tx *bbolt.Tx) (err error) {
			found, err = appendPods(found, tx, after)
			return err
		})
		if err != nil {
			return nil, s.fileFault(err)
		}
		if full = len(found) == before+podPage; full {
			after = []byte(found[len(found)-1].ID)
		}
	}
	slices.SortFunc(found, func(a, b item.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return found, nil
}

// appendPods reads the next page of pods. Both buckets have the same keys, so that two
// cursors walk side by side.
func appendPods(found []item.Pod, tx *bbolt.Tx, after []byte) ([]item.Pod, error) {
	heads, records := tx.Bucket(bucketHeads).Cursor(), tx.Bucket(bucketPods).Cursor()
	id, head := seekAfter(heads, after)
	key, record := seekAfter(records, after)
	for most := len(found) + podPage; id != nil && len(found) < most; id, head = heads.Next() {
		for key != nil && bytes.Compare(key, id) < 0 {
			key, record = records.Next()
		}
		var own []byte
		if bytes.Equal(key, id) {
			own = record
		}
		found = append(found, listed(tx, string(id), own, head))
	}
	return found, nil
}

// listed is a pod for the list, whatever the state of its sealed record and head.
func listed(tx *bbolt.Tx, id string, record, head []byte) item.Pod {
	pod, err := readPod(id, record, head)
	if err == nil {
		return pod
	}
	pod, recordErr := decodePodRecord(id, record)
	if recordErr != nil {
		pod = item.Pod{ID: id, Name: cmp.Or(nameOf(tx, id), id)}
	}
	pod.Status = quarantined(err)
	return pod
}

// seekAfter moves the cursor to the first key above after.
func seekAfter(c *bbolt.Cursor, after []byte) (key, value []byte) {
	key, value = c.Seek(after)
	if after != nil && bytes.Equal(key, after) {
		return c.Next()
	}
	return key, value
}

func quarantined(err error) item.PodStatus {
	return item.PodStatus{State: item.StateQuarantined, Reason: err.Error()}
}
