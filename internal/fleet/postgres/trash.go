package postgres

import (
	"cmp"
	"context"
	"slices"
	"time"

	"podd/pkg/store"
	"podd/pkg/store/rules"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// TrashPods moves pods to the trash.
func (s *Store) TrashPods(ctx context.Context, ids []string, at time.Time) error {
	if len(ids) == 0 {
		return nil
	}
	err := s.changePods(ctx, func(ctx context.Context, tx pgx.Tx) error {
		b := &pgx.Batch{}
		for _, id := range ids {
			if _, err := s.lockOwn(ctx, tx, id); err != nil {
				return err
			}
			b.Queue("UPDATE pods SET name = NULL WHERE id = $1", id)
			b.Queue("UPDATE heads SET trashed = true WHERE pod = $1", id)
			b.Queue("DELETE FROM bases WHERE pod = $1", id)
			b.Queue("INSERT INTO trash (pod, at, at_nanos, deleted_with) VALUES ($1, $2, $3, $4)", id, at.Unix(), at.Nanosecond(), ids[0])
		}
		return tx.SendBatch(ctx, b).Close()
	})
	if err == nil {
		for _, id := range ids {
			s.forget(id)
		}
	}
	return err
}

// RestorePod moves a pod, and those that were deleted with it, out of the trash.
func (s *Store) RestorePod(ctx context.Context, id, name string) error {
	if err := rules.KeyText("pod name", name); err != nil {
		return err
	}
	if !isText(id) {
		return rules.NoPod(id)
	}
	return s.changePods(ctx, func(ctx context.Context, tx pgx.Tx) error {
		rows, err := tx.Query(ctx, "SELECT pod FROM trash WHERE pod = $1 OR deleted_with = $1 ORDER BY pod <> $1, pod", id)
		if err != nil {
			return err
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return err
		}
		if len(ids) == 0 || ids[0] != id {
			return rules.NoPod(id)
		}
		if err := s.nameFirst(ctx, tx, id, name); err != nil {
			return err
		}
		for _, with := range ids[1:] {
			if err := s.nameAgain(ctx, tx, with, ""); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, "UPDATE heads SET trashed = false WHERE pod = ANY ($1)", ids); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "DELETE FROM trash WHERE pod = ANY ($1)", ids)
		return err
	})
}

// nameFirst gives the pod that is restored its name.
func (d *database) nameFirst(ctx context.Context, tx pgx.Tx, id, name string) error {
	if err := d.lockAny(ctx, tx, id); err != nil {
		return err
	}
	if err := checkName(ctx, tx, name); err != nil {
		return err
	}
	return d.nameAgain(ctx, tx, id, name)
}

// nameAgain gives a pod of the trash a name; without one, its own or one like it that is free.
func (d *database) nameAgain(ctx context.Context, tx pgx.Tx, id, name string) error {
	p, err := record(ctx, tx, id)
	if err != nil {
		return err
	}
	if name == "" {
		name, err = rules.FreeName(p.Name, func(name string) (bool, error) { return isTaken(ctx, tx, name) })
	}
	if err != nil {
		return err
	}
	p.Name = name
	return storeRecord(ctx, tx, p, d.shares)
}

// TrashedPods returns the pods in the trash.
func (s *Store) TrashedPods(ctx context.Context) (found []store.TrashedPod, err error) {
	err = s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := c.Query(ctx, "SELECT "+podColumns+movable+", t.at, t.at_nanos, t.deleted_with"+podTables+" JOIN trash t ON t.pod = p.id")
		if err != nil {
			return err
		}
		found, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (t store.TrashedPod, err error) {
			var r podRow
			var at, nanos int64
			if err := row.Scan(append(r.fields(), &at, &nanos, &t.With)...); err != nil {
				return t, err
			}
			t.Pod, t.At = r.listed(), time.Unix(at, nanos).UTC()
			return t, nil
		})
		return err
	})
	slices.SortFunc(found, func(a, b store.TrashedPod) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	return found, err
}
