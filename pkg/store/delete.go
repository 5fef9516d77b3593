package store

import (
	"bytes"
	"context"
	"math"

	"podd/pkg/store/rules"

	"go.etcd.io/bbolt"
)

// DeletePod removes a pod and everything that belongs to it.
func (s *Bolt) DeletePod(ctx context.Context, pod string) error {
	return podFault(pod, s.do(ctx, &deletePod{pod: pod}))
}

type deletePod struct{ pod string }

func (c *deletePod) size() int { return groupBytes }

// check reads only keys, so that a damaged pod can be deleted.
func (c *deletePod) check(tx *bbolt.Tx) (bool, error) {
	if anyHead(tx, c.pod) == nil {
		return false, rules.NoPod(c.pod)
	}
	return true, nil
}

func (c *deletePod) write(tx *bbolt.Tx) error {
	key := []byte(c.pod)
	if err := c.deleteNames(tx); err != nil {
		return err
	}
	if err := tx.Bucket(bucketPods).Delete(key); err != nil {
		return err
	}
	for _, name := range [][]byte{bucketHeads, bucketTrash, bucketTrashHead, bucketPurges, bucketBases} {
		if err := tx.Bucket(name).Delete(key); err != nil {
			return err
		}
	}
	if err := c.deleteLog(tx); err != nil {
		return err
	}
	if err := c.deleteAlerts(tx); err != nil {
		return err
	}
	for _, name := range [][]byte{bucketInbox, bucketRequests, bucketAdmitted, bucketPodAlerts} {
		b := tx.Bucket(name)
		for _, k := range keysWith(b, podKey(c.pod)) {
			if err := b.Delete(k); err != nil {
				return err
			}
		}
	}
	return nil
}

// deleteLog removes the pod's own records, except those that its forks need, and records of
// deleted pods that only this pod needed.
func (c *deletePod) deleteLog(tx *bbolt.Tx) error {
	owners, err := endShares(tx, c.pod)
	if err != nil {
		return err
	}
	for _, owner := range append(owners, c.pod) {
		if _, err := trim(tx, owner, math.MaxInt); err != nil {
			return err
		}
	}
	return nil
}

func (c *deletePod) deleteAlerts(tx *bbolt.Tx) error {
	alerts := tx.Bucket(bucketAlerts)
	for _, k := range keysWith(tx.Bucket(bucketPodAlerts), podKey(c.pod)) {
		seq := seqOf(k)
		if a, err := decodeAlert(seq, alerts.Get(seqKey(seq))); err == nil {
			if err := endChain(tx, a); err != nil {
				return err
			}
		}
		if err := alerts.Delete(seqKey(seq)); err != nil {
			return err
		}
	}
	return nil
}

func (c *deletePod) deleteNames(tx *bbolt.Tx) error {
	// The name of a pod in the trash may be another's.
	if name := nameOf(tx, c.pod); name != "" && string(tx.Bucket(bucketNames).Get([]byte(name))) == c.pod {
		return tx.Bucket(bucketNames).Delete([]byte(name))
	}
	return nil
}

// nameOf is a pod's name. If its record can't be read, nameOf searches all names.
func nameOf(tx *bbolt.Tx, pod string) string {
	if p, err := loadPodRecord(tx, pod); err == nil {
		return p.Name
	}
	c := tx.Bucket(bucketNames).Cursor()
	for name, id := c.First(); name != nil; name, id = c.Next() {
		if bytes.Equal(id, []byte(pod)) {
			return string(name)
		}
	}
	return ""
}
