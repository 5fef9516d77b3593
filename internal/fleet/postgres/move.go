package postgres

import (
	"context"
	"errors"

	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/store/rules"

	"github.com/jackc/pgx/v5"
)

// lockNode reads a node, and keeps it from renewing its lease meanwhile. by names a column; no
// row is the zero Node.
func (d *database) lockNode(ctx context.Context, tx pgx.Tx, by, value string) (n store.Node, id string, err error) {
	err = tx.QueryRow(ctx, "SELECT id FROM nodes WHERE "+by+" = $1 FOR UPDATE", value).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return n, "", nil
	}
	if err != nil {
		return n, "", err
	}
	n, err = scanNode(tx.QueryRow(ctx, nodeRows+" WHERE n.id = $2", d.node, id))
	return n, id, err
}

// RemoveNode removes a node that does not answer. A podd that still runs as that node ends.
func (m *Membership) RemoveNode(ctx context.Context, name string, force bool) error {
	return m.changePods(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if !isText(name) {
			return rules.NoNode(name)
		}
		n, id, err := m.lockNode(ctx, tx, "name", name)
		if err != nil {
			return err
		}
		// Others take over its movable pods.
		if id != "" && !n.Answers() {
			if _, err := tx.Exec(ctx, "UPDATE heads SET place = '', epoch = epoch + 1 WHERE place = $1 AND share <> ''", id); err != nil {
				return err
			}
		}
		var pods int
		if err := tx.QueryRow(ctx, "SELECT count(*) FROM heads WHERE place = $1", id).Scan(&pods); err != nil {
			return err
		}
		switch {
		case id == "":
			return rules.NoNode(name)
		case n.Answers():
			return item.Errorf(item.KindPrecondition, store.ReasonNodeUp, "node %s is up: stop podd there first", name)
		case pods > 0 && !force:
			return item.Errorf(item.KindPrecondition, "NODE_HAS_PODS",
				"node %s still has pods (%d, with deleted ones): move them with podctl move, or add --force", name, pods)
		}
		_, err = tx.Exec(ctx, "DELETE FROM nodes WHERE id = $1", id)
		return err
	})
}

// Take gives pods of a node that does not run to this one, with new specs. The first pod is
// the one that was asked for.
func (m *Membership) Take(ctx context.Context, pods []item.Pod, force bool) error {
	return m.changePods(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if lives, err := m.lives(ctx, tx); err != nil {
			return err
		} else if !lives {
			return item.Errorf(item.KindUnavailable, store.ReasonNodeAway, "node %s could not renew its lease: try again", m.lease.Name)
		}
		for i, p := range pods {
			if err := m.takeOne(ctx, tx, p, i > 0, force); err != nil {
				return err
			}
		}
		return nil
	})
}

// takeOne takes a pod. A sub-pod may be this node's already.
func (m *Membership) takeOne(ctx context.Context, tx pgx.Tx, p item.Pod, sub, force bool) error {
	h, err := lockHead(ctx, tx, p.ID)
	if err != nil || sub && h.place == m.node {
		return err
	}
	if err := m.checkTake(ctx, tx, h, p, force); err != nil {
		return err
	}
	// The epoch refuses what the earlier owner may still write.
	if _, err := tx.Exec(ctx, "UPDATE heads SET place = $2, epoch = epoch + 1 WHERE pod = $1", p.ID, m.node); err != nil {
		return err
	}
	return storeDirs(ctx, tx, p, m.shares)
}

// storeDirs stores the directories of a pod's spec, and whether they are a checkout. shares are those of its node.
func storeDirs(ctx context.Context, tx pgx.Tx, p item.Pod, shares []string) error {
	was, err := record(ctx, tx, p.ID)
	if err != nil {
		return err
	}
	was.Spec.Dir, was.Spec.Read, was.Spec.Write, was.Spec.Checkout = p.Spec.Dir, p.Spec.Read, p.Spec.Write, p.Spec.Checkout
	return storeRecord(ctx, tx, was, shares)
}

// HandOver gives pods of this node to another one, all or none.
func (m *Membership) HandOver(ctx context.Context, pods []item.Pod, to string) error {
	return m.changePods(ctx, func(ctx context.Context, tx pgx.Tx) error {
		for _, p := range pods {
			if _, err := m.lockOwn(ctx, tx, p.ID); err != nil {
				return err
			}
		}
		n, id, err := m.lockNode(ctx, tx, "name", to)
		switch {
		case err != nil:
			return err
		case id == "":
			return rules.NoNode(to)
		}
		if err := n.CanTake(); err != nil {
			return err
		}
		var shares []string
		if err := tx.QueryRow(ctx, "SELECT shares FROM nodes WHERE id = $1", id).Scan(&shares); err != nil {
			return err
		}
		for _, p := range pods {
			if _, err := tx.Exec(ctx, "UPDATE heads SET place = $2, epoch = epoch + 1 WHERE pod = $1", p.ID, id); err != nil {
				return err
			}
			if err := storeDirs(ctx, tx, p, shares); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkTake refuses to take a pod that a node runs or, without force, may run. A podd that may
// still run as the node loses its lease, and so ends when it wakes.
func (m *Membership) checkTake(ctx context.Context, tx pgx.Tx, h *head, p item.Pod, force bool) error {
	n, id, err := m.lockNode(ctx, tx, "id", h.place)
	switch {
	case err != nil:
		return err
	case h.place == m.node:
		return item.Errorf(item.KindPrecondition, "MOVED", "pod %s is already on node %s", h.called(p.ID), m.lease.Name)
	case n.Answers():
		return item.Errorf(item.KindPrecondition, store.ReasonNodeUp, "node %s, which has pod %s, is up: stop podd there first", n.Name, h.called(p.ID))
	case n.State == store.NodeStopped, h.place == "" && h.movable:
		return nil
	case force:
		_, err = tx.Exec(ctx, "UPDATE nodes SET start = '' WHERE id = $1", id)
		return err
	case n.Name == "":
		return item.Errorf(item.KindPrecondition, "NODE_UNSURE", "no known node has pod %s: be sure that its podd no longer runs, then add --force", h.called(p.ID))
	}
	return item.Errorf(item.KindPrecondition, "NODE_UNSURE", "node %s does not answer, but may still run commands: be sure that its machine is off, then add --force", n.Name)
}
