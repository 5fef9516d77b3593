package store

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"podd/pkg/store/rules"
	"podd/pkg/wire"

	"go.etcd.io/bbolt"
)

// TrashPods moves pods to the trash.
func (s *Bolt) TrashPods(ctx context.Context, ids []string, at time.Time) error {
	if len(ids) == 0 {
		return nil
	}
	return podFault(ids[0], s.do(ctx, &trashPods{ids: ids, at: at}))
}

type trashPods struct {
	ids []string
	at  time.Time
}

func (c *trashPods) size() int { return groupBytes }

// check reads only keys, as that of deletePod.
func (c *trashPods) check(tx *bbolt.Tx) (bool, error) {
	for _, id := range c.ids {
		if tx.Bucket(bucketHeads).Get([]byte(id)) == nil {
			return false, rules.NoPod(id)
		}
	}
	return true, nil
}

func (c *trashPods) write(tx *bbolt.Tx) error {
	for _, id := range c.ids {
		if name := nameOf(tx, id); name != "" {
			if err := tx.Bucket(bucketNames).Delete([]byte(name)); err != nil {
				return err
			}
		}
		if err := dropBase(tx, id); err != nil {
			return err
		}
		if err := moveKey(tx, bucketHeads, bucketTrashHead, id); err != nil {
			return err
		}
		if err := tx.Bucket(bucketTrash).Put([]byte(id), sealTrashed(id, c.at, c.ids[0])); err != nil {
			return err
		}
	}
	return nil
}

// moveKey moves the value of a pod to another bucket.
func moveKey(tx *bbolt.Tx, from, to []byte, id string) error {
	value := bytes.Clone(tx.Bucket(from).Get([]byte(id)))
	if err := tx.Bucket(from).Delete([]byte(id)); err != nil {
		return err
	}
	return tx.Bucket(to).Put([]byte(id), value)
}

func sealTrashed(id string, at time.Time, with string) []byte {
	return wire.Seal(bucketTrash, []byte(id), rules.EncodeTrashed(at, with))
}

func openTrashed(id string, sealed []byte) (at time.Time, with string, ok bool) {
	b, ok := wire.Unseal(bucketTrash, []byte(id), sealed)
	if !ok {
		return at, "", false
	}
	return rules.DecodeTrashed(b)
}

// RestorePod moves a pod, and those that were deleted with it, out of the trash.
func (s *Bolt) RestorePod(ctx context.Context, id, name string) error {
	if err := rules.KeyText("pod name", name); err != nil {
		return err
	}
	return podFault(id, s.do(ctx, &restorePod{id: id, name: name}))
}

type restorePod struct{ id, name string }

func (c *restorePod) size() int { return groupBytes }

func (c *restorePod) check(tx *bbolt.Tx) (bool, error) {
	if tx.Bucket(bucketTrash).Get([]byte(c.id)) == nil {
		return false, rules.NoPod(c.id)
	}
	if tx.Bucket(bucketNames).Get([]byte(c.name)) != nil {
		return false, rules.NameTaken(c.name)
	}
	for _, id := range c.all(tx) {
		if _, err := loadPodRecord(tx, id); err != nil {
			return false, err
		}
	}
	return true, nil
}

// all are the pods to restore, the named one first.
func (c *restorePod) all(tx *bbolt.Tx) []string {
	ids := []string{c.id}
	for _, key := range keysWith(tx.Bucket(bucketTrash), nil) {
		_, with, ok := openTrashed(string(key), tx.Bucket(bucketTrash).Get(key))
		if ok && with == c.id && string(key) != c.id {
			ids = append(ids, string(key))
		}
	}
	return ids
}

func (c *restorePod) write(tx *bbolt.Tx) error {
	for _, id := range c.all(tx) {
		key := []byte(id)
		p, err := loadPodRecord(tx, id)
		if err != nil {
			return err
		}
		name := c.name
		if id != c.id {
			name = freeName(tx, p.Name)
		}
		if name != p.Name {
			p.Name = name
			record, err := wire.EncodePodRecord(p)
			if err != nil {
				return err
			}
			if err := tx.Bucket(bucketPods).Put(key, wire.Seal(bucketPods, key, record)); err != nil {
				return err
			}
		}
		if err := tx.Bucket(bucketNames).Put([]byte(name), key); err != nil {
			return err
		}
		if err := moveKey(tx, bucketTrashHead, bucketHeads, id); err != nil {
			return err
		}
		if err := tx.Bucket(bucketTrash).Delete(key); err != nil {
			return err
		}
	}
	return nil
}

// freeName is a name, or one like it, that no pod has.
func freeName(tx *bbolt.Tx, name string) string {
	free, _ := rules.FreeName(name, func(name string) (bool, error) {
		return tx.Bucket(bucketNames).Get([]byte(name)) != nil, nil
	})
	return free
}

// TrashedPods returns the pods in the trash.
func (s *Bolt) TrashedPods(ctx context.Context) ([]TrashedPod, error) {
	var found []TrashedPod
	err := s.view(ctx, func(tx *bbolt.Tx) error {
		found = nil
		return tx.Bucket(bucketTrash).ForEach(func(key, sealed []byte) error {
			id := string(key)
			p := TrashedPod{With: id}
			if at, with, ok := openTrashed(id, sealed); ok {
				p.At, p.With = at, with
			}
			p.Pod = listed(tx, id, tx.Bucket(bucketPods).Get(key), tx.Bucket(bucketTrashHead).Get(key))
			found = append(found, p)
			return nil
		})
	})
	if err != nil {
		return nil, s.fileFault(err)
	}
	slices.SortFunc(found, func(a, b TrashedPod) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	return found, nil
}

// anyHead is the sealed head of a pod, in the trash too; nil for an unknown pod.
func anyHead(tx *bbolt.Tx, pod string) []byte {
	if sealed := tx.Bucket(bucketHeads).Get([]byte(pod)); sealed != nil {
		return sealed
	}
	return tx.Bucket(bucketTrashHead).Get([]byte(pod))
}

// trash checks the pods in the trash.
func (c *checker) trash(tx *bbolt.Tx) error {
	heads := tx.Bucket(bucketTrashHead)
	for _, key := range keysWith(tx.Bucket(bucketTrash), nil) {
		id := string(key)
		if _, _, ok := openTrashed(id, tx.Bucket(bucketTrash).Get(key)); !ok {
			c.note("when pod %s was deleted is damaged", id)
		}
		if _, err := readPod(id, tx.Bucket(bucketPods).Get(key), heads.Get(key)); err != nil {
			c.sentence(err)
			continue
		}
		h, _ := openHead(id, heads.Get(key))
		v, err := logOf(tx, id, h)
		if err != nil {
			c.sentence(err)
			continue
		}
		c.entries(v, v.head.first)
		c.inbox(v)
		if err := c.goOn(); err != nil {
			return err
		}
	}
	for _, key := range keysWith(heads, nil) {
		if tx.Bucket(bucketTrash).Get(key) == nil {
			c.note("the trash has a part of pod %s, which was not deleted", key)
		}
	}
	return c.goOn()
}
