package store

import (
	"context"

	"podd/pkg/store/rules"
	"podd/pkg/wire"

	"go.etcd.io/bbolt"
)

// RenamePod gives a pod another name.
func (s *Bolt) RenamePod(ctx context.Context, pod, name string) error {
	if err := rules.KeyText("pod name", name); err != nil {
		return err
	}
	return podFault(pod, s.do(ctx, &renamePod{pod: pod, name: name}))
}

type renamePod struct {
	pod, name string
	// old is the name before.
	old    string
	record []byte
}

func (c *renamePod) size() int { return rules.MaxKeyText }

func (c *renamePod) check(tx *bbolt.Tx) (needed bool, err error) {
	p, err := loadPodRecord(tx, c.pod)
	if err != nil || p.Name == c.name {
		return false, err
	}
	if tx.Bucket(bucketNames).Get([]byte(c.name)) != nil {
		return false, rules.NameTaken(c.name)
	}
	c.old, p.Name = p.Name, c.name
	c.record, err = wire.EncodePodRecord(p)
	return true, err
}

func (c *renamePod) write(tx *bbolt.Tx) error {
	names := tx.Bucket(bucketNames)
	if err := names.Delete([]byte(c.old)); err != nil {
		return err
	}
	if err := names.Put([]byte(c.name), []byte(c.pod)); err != nil {
		return err
	}
	return tx.Bucket(bucketPods).Put([]byte(c.pod), wire.Seal(bucketPods, []byte(c.pod), c.record))
}
