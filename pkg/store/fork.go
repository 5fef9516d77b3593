package store

import (
	"context"

	"podd/pkg/item"
	"podd/pkg/store/rules"

	"go.etcd.io/bbolt"
)

// Fork creates a pod whose log begins with the parent's entries up to a sequence.
func (s *Bolt) Fork(ctx context.Context, parent string, at item.Seq, p item.Pod) error {
	create, err := newCreatePod(p)
	if err != nil {
		return err
	}
	if at < 1 {
		return rules.ForkRange(at)
	}
	return podFault(parent, s.do(ctx, &forkPod{createPod: create, parent: parent, at: at}))
}

type forkPod struct {
	createPod
	parent string
	at     item.Seq

	// lineage is the fork's; check finds it.
	lineage rules.Lineage
}

func (c *forkPod) check(tx *bbolt.Tx) (bool, error) {
	h, err := loadHead(tx, c.parent)
	if err != nil {
		return false, err
	}
	if ok, err := c.createPod.check(tx); !ok || err != nil {
		return false, err
	}
	if err := checkRange(tx, c.parent, h, c.at-1); err != nil {
		return false, err
	}
	if c.at > h.last {
		return false, beyondEnd(tx, c.parent, h, c.at)
	}
	if err := checkPast(tx, c.parent, h, c.at); err != nil {
		return false, err
	}
	of, err := loadLineage(tx, c.parent)
	c.lineage = of.Fork(c.parent, h.first, c.at)
	c.head.first, c.head.last = h.first, c.at
	return true, err
}

func (c *forkPod) write(tx *bbolt.Tx) error {
	if err := c.createPod.write(tx); err != nil {
		return err
	}
	if err := copyMark(tx, c.parent, c.head, c.id); err != nil {
		return err
	}
	if err := copyBase(tx, c.parent, c.at, c.id); err != nil {
		return err
	}
	return storeLineage(tx, c.id, c.lineage)
}
