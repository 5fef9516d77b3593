package store

import (
	"bytes"
	"cmp"
	"context"
	"slices"

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
		if tx.Bucket(bucketHeads).Get([]byte(id)) == nil {
			known := tx.Bucket(bucketNames).Get([]byte(idOrName))
			if known == nil {
				return podNotFound(idOrName)
			}
			id = string(known)
		}
		h, err := loadHead(tx, id)
		if err != nil {
			return err
		}
		if pod, err = loadPodRecord(tx, id); err != nil {
			return err
		}
		return h.fill(&pod)
	})
	if err != nil {
		return item.Pod{}, podFault(id, err)
	}
	return pod, nil
}

// Pods gives all pods in the order of their names. One whose record is damaged is
// listed as quarantined. A pod that is made or deleted meanwhile may be missing.
func (s *Bolt) Pods(ctx context.Context) ([]item.Pod, error) {
	var pods []item.Pod
	for after := []byte(nil); ; {
		var page []podRow
		err := s.view(ctx, func(tx *bbolt.Tx) error {
			page = podRows(tx, after)
			return nil
		})
		if err != nil {
			return nil, s.fileFault(err)
		}
		for _, row := range page {
			pods = append(pods, row.pod())
		}
		if len(page) < podPage {
			break
		}
		after = []byte(page[len(page)-1].id)
	}
	slices.SortFunc(pods, func(a, b item.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return pods, nil
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
	var rows []podRow
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
	pod, err := decodePodRecord(r.id, r.record)
	if err != nil {
		pod = item.Pod{ID: r.id, Name: cmp.Or(r.name, r.id)}
	}
	if err == nil {
		err = r.fill(&pod)
	}
	if err != nil {
		pod.Status = item.PodStatus{State: item.StateQuarantined, Reason: err.Error()}
	}
	return pod
}

func (r podRow) fill(pod *item.Pod) error {
	body, ok := unseal(bucketHeads, []byte(r.id), r.head)
	if !ok {
		return damagedPod(r.id)
	}
	h, ok := decodeHead(body)
	if !ok || h.fill(pod) != nil {
		return damagedPod(r.id)
	}
	return nil
}
