package store

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"podd/internal/wire"
	"podd/pkg/item"

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
				return podNotFound(idOrName)
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

// readPod puts a pod together from its sealed record and head.
func readPod(id string, record, head []byte) (item.Pod, error) {
	body, ok := unseal(bucketPods, []byte(id), record)
	if !ok {
		return item.Pod{}, damagedPod(id)
	}
	h, ok := openHead(id, head)
	if !ok {
		return item.Pod{}, damagedPod(id)
	}
	// The record is a message without the status, the head's status one of nothing
	// else: one after the other they decode as one message that has both.
	pod, err := wire.DecodePod(slices.Concat(body, h.status))
	if err != nil {
		return item.Pod{}, damagedPod(id)
	}
	h.fill(&pod)
	return pod, nil
}

// Pods gives all pods in the order of their names. One whose record is damaged is
// listed as quarantined. A pod that is made or deleted meanwhile may be missing.
func (s *Bolt) Pods(ctx context.Context) ([]item.Pod, error) {
	// A pod is large: growing one slice of them and sorting it would copy them over and
	// over.
	var found []*item.Pod
	for after := []byte(nil); ; {
		var page []podRow
		err := s.view(ctx, func(tx *bbolt.Tx) error {
			page = podRows(tx, after)
			return nil
		})
		if err != nil {
			return nil, s.fileFault(err)
		}
		pods := make([]item.Pod, len(page))
		for i, row := range page {
			pods[i] = row.pod()
			found = append(found, &pods[i])
		}
		if len(page) < podPage {
			break
		}
		after = []byte(page[len(page)-1].id)
	}
	slices.SortFunc(found, func(a, b *item.Pod) int { return cmp.Compare(a.Name, b.Name) })
	sorted := make([]item.Pod, len(found))
	for i, pod := range found {
		sorted[i] = *pod
	}
	return sorted, nil
}

// podRow is a copy of what is stored about one pod.
type podRow struct {
	id string
	// record and head are sealed.
	record, head []byte
	// name is set when the record is damaged and cannot tell it.
	name string
}

// podRows copies the next pods. Both buckets have the same keys, so that two
// cursors walk side by side.
func podRows(tx *bbolt.Tx, after []byte) []podRow {
	rows := make([]podRow, 0, podPage)
	heads, records := tx.Bucket(bucketHeads).Cursor(), tx.Bucket(bucketPods).Cursor()
	id, head := seekAfter(heads, after)
	key, record := seekAfter(records, after)
	for ; id != nil && len(rows) < podPage; id, head = heads.Next() {
		row := podRow{id: string(id), head: bytes.Clone(head)}
		for key != nil && bytes.Compare(key, id) < 0 {
			key, record = records.Next()
		}
		if bytes.Equal(key, id) {
			row.record = bytes.Clone(record)
		}
		if _, ok := unseal(bucketPods, id, row.record); !ok {
			row.name = nameOf(tx, row.id)
		}
		rows = append(rows, row)
	}
	return rows
}

// seekAfter stands on the first key above after.
func seekAfter(c *bbolt.Cursor, after []byte) (key, value []byte) {
	key, value = c.Seek(after)
	if after != nil && bytes.Equal(key, after) {
		return c.Next()
	}
	return key, value
}

// pod is the row's pod, whatever state the row is in.
func (r podRow) pod() item.Pod {
	pod, err := readPod(r.id, r.record, r.head)
	if err == nil {
		return pod
	}
	if pod, recordErr := decodePodRecord(r.id, r.record); recordErr == nil {
		pod.Status = quarantined(err)
		return pod
	}
	return item.Pod{ID: r.id, Name: cmp.Or(r.name, r.id), Status: quarantined(err)}
}

func quarantined(err error) item.PodStatus {
	return item.PodStatus{State: item.StateQuarantined, Reason: err.Error()}
}
