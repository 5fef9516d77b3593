package postgres

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/store/rules"
	"podd/pkg/wire"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// placePods seals the records of pods; package store has the same.
var placePods = []byte("pods")

// CreatePod stores a new pod.
func (s *Store) CreatePod(ctx context.Context, p item.Pod) error {
	if err := checkKeys(p.ID, p.Name); err != nil {
		return err
	}
	return s.changePods(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if p.Spec.Parent != "" {
			// A podd whose pod was moved creates no sub-pods of it.
			if _, err := s.lockOwn(ctx, tx, p.Spec.Parent); err != nil && item.ReasonOf(err) != store.ReasonPodNotFound {
				return err
			}
		}
		return s.createPod(ctx, tx, p, 1, 0)
	})
}

// createPod stores a pod whose log begins and ends with these entries.
func (d *database) createPod(ctx context.Context, tx pgx.Tx, p item.Pod, first, last item.Seq) error {
	record, err := wire.EncodePodRecord(p)
	if err != nil {
		return err
	}
	status, err := wire.EncodeStatus(p.Status)
	if err != nil {
		return err
	}
	if err := checkFree(ctx, tx, p.ID, p.Name); err != nil {
		return err
	}
	active := p.Status.LastActivity
	if active.IsZero() {
		active = p.CreatedAt
	}
	b := &pgx.Batch{}
	b.Queue("INSERT INTO pods (id, name, record) VALUES ($1, $2, $3)", p.ID, p.Name, sealPod(p.ID, record))
	b.Queue(`INSERT INTO heads (pod, place, first, last, status, active, active_nanos, share, root)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, coalesce((SELECT nullif(root, '') FROM heads WHERE pod = $9), $1))`,
		p.ID, d.node, int64(first), int64(last), status, active.Unix(), active.Nanosecond(), store.ShareOf(d.shares, p.Spec), p.Spec.Parent)
	return tx.SendBatch(ctx, b).Close()
}

func sealPod(id string, record []byte) []byte { return wire.Seal(placePods, []byte(id), record) }

// checkFree refuses an id or a name in use.
func checkFree(ctx context.Context, tx pgx.Tx, id, name string) error {
	var named, trashed bool
	var known *bool
	err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pods WHERE name = $2),
		(SELECT trashed FROM heads WHERE pod = $1),
		EXISTS (SELECT FROM entries WHERE log = $1)`, id, name).Scan(&named, &known, &trashed)
	switch {
	case err != nil:
		return err
	case named:
		return rules.NameTaken(name)
	case known != nil && !*known:
		return rules.IDTaken(id)
	case known != nil || trashed:
		return rules.IDNeeded(id)
	}
	return nil
}

// record reads the record of a pod, in the trash too.
func record(ctx context.Context, tx pgx.Tx, id string) (item.Pod, error) {
	var sealed []byte
	err := tx.QueryRow(ctx, "SELECT record FROM pods WHERE id = $1", id).Scan(&sealed)
	if errors.Is(err, pgx.ErrNoRows) {
		return item.Pod{}, rules.NoPod(id)
	}
	if err != nil {
		return item.Pod{}, err
	}
	return openPod(id, sealed)
}

func openPod(id string, sealed []byte) (item.Pod, error) {
	if body, ok := wire.Unseal(placePods, []byte(id), sealed); ok {
		if p, err := wire.DecodePod(body); err == nil {
			return p, nil
		}
	}
	return item.Pod{}, rules.Pod(id)
}

// UpdateSpec replaces a pod's spec.
func (s *Store) UpdateSpec(ctx context.Context, pod string, spec item.PodSpec) error {
	return s.edit(ctx, pod, func(_ context.Context, _ pgx.Tx, p *item.Pod) error {
		p.Spec = spec
		return nil
	})
}

// RenamePod gives a pod another name.
func (s *Store) RenamePod(ctx context.Context, pod, name string) error {
	if err := rules.KeyText("pod name", name); err != nil {
		return err
	}
	return s.edit(ctx, pod, func(ctx context.Context, tx pgx.Tx, p *item.Pod) error {
		if p.Name == name {
			return nil
		}
		p.Name = name
		return checkName(ctx, tx, name)
	})
}

func checkName(ctx context.Context, tx pgx.Tx, name string) error {
	taken, err := isTaken(ctx, tx, name)
	if taken {
		return rules.NameTaken(name)
	}
	return err
}

func isTaken(ctx context.Context, tx pgx.Tx, name string) (taken bool, err error) {
	err = tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pods WHERE name = $1)", name).Scan(&taken)
	return taken, err
}

// edit changes the record of a pod.
func (s *Store) edit(ctx context.Context, pod string, fn func(ctx context.Context, tx pgx.Tx, p *item.Pod) error) error {
	return s.changePods(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := s.lockOwn(ctx, tx, pod); err != nil {
			return err
		}
		p, err := record(ctx, tx, pod)
		if err != nil {
			return err
		}
		if err := fn(ctx, tx, &p); err != nil {
			return err
		}
		return storeRecord(ctx, tx, p, s.shares)
	})
}

// storeRecord replaces the record of a pod, and its name with it. shares are those of its node.
func storeRecord(ctx context.Context, tx pgx.Tx, p item.Pod, shares []string) error {
	body, err := wire.EncodePodRecord(p)
	if err != nil {
		return err
	}
	b := &pgx.Batch{}
	b.Queue("UPDATE pods SET name = $2, record = $3 WHERE id = $1", p.ID, p.Name, sealPod(p.ID, body))
	b.Queue("UPDATE heads SET share = $2 WHERE pod = $1 AND share <> $2", p.ID, store.ShareOf(shares, p.Spec))
	return tx.SendBatch(ctx, b).Close()
}

// head is the part of a pod that appends change.
type head struct {
	epoch               store.Epoch
	fence               int64
	first, last         item.Seq
	queued              int
	batch               []byte
	status              []byte
	active, activeNanos int64
	name                *string
	place               string
	movable             bool
}

// headColumns are those of head, from heads h and pods p.
const headColumns = "h.epoch, h.fence, h.first, h.last, h.queued, h.batch, h.status, h.active, h.active_nanos, p.name, h.place, " + movable

func (h *head) fields() []any {
	return []any{&h.epoch, &h.fence, &h.first, &h.last, &h.queued, &h.batch, &h.status, &h.active, &h.activeNanos, &h.name, &h.place, &h.movable}
}

func (h *head) activity() time.Time { return time.Unix(h.active, h.activeNanos).UTC() }

// called is the name of a pod for messages.
func (h *head) called(pod string) string {
	if h.name != nil {
		return *h.name
	}
	return pod
}

// lockHead reads the head of a pod that is not in the trash, and keeps others from changing it.
func lockHead(ctx context.Context, tx pgx.Tx, pod string) (*head, error) {
	if !isText(pod) {
		return nil, rules.NoPod(pod)
	}
	var h head
	err := tx.QueryRow(ctx, "SELECT "+headColumns+" FROM heads h JOIN pods p ON p.id = h.pod WHERE h.pod = $1 AND NOT h.trashed FOR UPDATE OF h", pod).
		Scan(h.fields()...)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, rules.NoPod(pod)
	}
	return &h, err
}

// lockOwn is lockHead for a pod that this podd may change.
func (d *database) lockOwn(ctx context.Context, tx pgx.Tx, pod string) (*head, error) {
	h, err := lockHead(ctx, tx, pod)
	if err != nil {
		return nil, err
	}
	return h, d.checkPlace(ctx, tx, h.called(pod), h.place)
}

// Claim makes the caller the only writer of a pod's log.
func (s *Store) Claim(ctx context.Context, pod string) (epoch store.Epoch, err error) {
	if !isText(pod) {
		return 0, rules.NoPod(pod)
	}
	w := newWriter()
	err = s.change(ctx, func(ctx context.Context, tx pgx.Tx) error {
		claim := func() error {
			return tx.QueryRow(ctx, "UPDATE heads SET epoch = epoch + 1 WHERE pod = $1 AND place = $2 AND NOT trashed RETURNING epoch, fence, last", pod, s.node).Scan(&epoch, &w.fence, &w.last)
		}
		err := claim()
		if errors.Is(err, pgx.ErrNoRows) {
			if _, err := s.lockOwn(ctx, tx, pod); err != nil {
				return err
			}
			err = claim() // It has become this podd's meanwhile.
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	s.claimed(pod, w)
	return epoch, nil
}

// Pod finds a pod by its id or, failing that, by its name.
func (s *Store) Pod(ctx context.Context, idOrName string) (item.Pod, error) {
	var found podRow
	err := s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		if !isText(idOrName) {
			return rules.NoPod(idOrName)
		}
		rows, err := c.Query(ctx, podRows(movable)+" AND (p.id = $1 OR p.name = $1) ORDER BY p.id = $1 DESC LIMIT 1", idOrName)
		if err != nil {
			return err
		}
		found, err = pgx.CollectExactlyOneRow(rows, scanPod)
		if errors.Is(err, pgx.ErrNoRows) {
			return rules.NoPod(idOrName)
		}
		return err
	})
	if err != nil {
		return item.Pod{}, err
	}
	return found.pod()
}

// podRows selects the pods that are not in the trash. movable is the expression for that column.
func podRows(movable string) string {
	return "SELECT " + podColumns + movable + podTables + " WHERE NOT h.trashed"
}

// podColumns are those of podRow but for movable, which follows them.
const (
	podColumns = "p.id, p.record, coalesce(n.name, ''), h.first, h.last, h.queued, h.status, h.active, h.active_nanos, p.name, "
	podTables  = " FROM pods p JOIN heads h ON h.pod = p.id LEFT JOIN nodes n ON n.id = h.place"
)

// podRow is a row of a pod.
type podRow struct {
	id     string
	record []byte
	node   string
	head
}

func (r *podRow) fields() []any {
	return []any{&r.id, &r.record, &r.node, &r.first, &r.last, &r.queued, &r.status, &r.active, &r.activeNanos, &r.name, &r.movable}
}

func scanPod(row pgx.CollectableRow) (r podRow, err error) {
	err = row.Scan(r.fields()...)
	return r, err
}

// pod is the pod of the row.
func (r *podRow) pod() (item.Pod, error) {
	record, ok := wire.Unseal(placePods, []byte(r.id), r.record)
	if !ok {
		return item.Pod{}, rules.Pod(r.id)
	}
	p, err := wire.JoinPod(record, r.status)
	if err != nil {
		return item.Pod{}, rules.Pod(r.id)
	}
	p.Queued, p.Status.LastActivity, p.Node, p.Movable = r.queued, r.activity(), r.node, r.movable
	if r.first <= r.last {
		p.First, p.Last = r.first, r.last
	}
	return p, nil
}

// listed is the pod for a list, quarantined if its record is damaged.
func (r *podRow) listed() item.Pod {
	p, err := r.pod()
	if err == nil {
		p.Name = r.called(p.Name) // One in the trash has no other name than that of its record.
		return p
	}
	return item.Pod{ID: r.id, Name: r.called(r.id), Node: r.node, Status: item.PodStatus{State: item.StateQuarantined, Reason: err.Error()}}
}

// Pods returns all pods in the order of their names.
func (s *Store) Pods(ctx context.Context) ([]item.Pod, error) {
	found := []item.Pod{}
	err := s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := c.Query(ctx, podRows(movableOfMany))
		if err != nil {
			return err
		}
		var r podRow
		_, err = pgx.ForEachRow(rows, r.fields(), func() error {
			found = append(found, r.listed())
			return nil
		})
		return err
	})
	// PostgreSQL would sort all rows before it sends the first one.
	slices.SortFunc(found, func(a, b item.Pod) int { return strings.Compare(a.Name, b.Name) })
	return found, err
}

// DeletePod removes a pod, its log, its inbox and its alerts.
func (s *Store) DeletePod(ctx context.Context, pod string) error {
	if !isText(pod) {
		return rules.NoPod(pod)
	}
	err := s.changePods(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if err := lockAlerts(ctx, tx); err != nil {
			return err
		}
		// A pod in the trash too.
		if err := s.lockAny(ctx, tx, pod); err != nil {
			return err
		}
		owners, err := ownersOf(ctx, tx, pod)
		if err != nil {
			return err
		}
		b := &pgx.Batch{}
		for _, table := range []string{"lineages", "inbox", "requests", "purges", "bases", "trash", "alerts", "heads"} {
			b.Queue("DELETE FROM "+table+" WHERE pod = $1", pod)
		}
		b.Queue("DELETE FROM pods WHERE id = $1", pod)
		if err := tx.SendBatch(ctx, b).Close(); err != nil {
			return err
		}
		for _, owner := range append(owners, pod) {
			for more := true; more && err == nil; {
				more, err = trim(ctx, tx, owner, trimStep)
			}
		}
		return err
	})
	if err == nil {
		s.forget(pod)
	}
	return err
}

// lockAny is lockOwn for a pod that may be in the trash.
func (d *database) lockAny(ctx context.Context, tx pgx.Tx, pod string) error {
	var place string
	err := tx.QueryRow(ctx, "SELECT place FROM heads WHERE pod = $1 FOR UPDATE", pod).Scan(&place)
	if errors.Is(err, pgx.ErrNoRows) {
		return rules.NoPod(pod)
	}
	if err != nil {
		return err
	}
	return d.checkPlace(ctx, tx, pod, place)
}

// ownersOf are the pods whose logs have entries of a fork.
func ownersOf(ctx context.Context, tx pgx.Tx, pod string) ([]string, error) {
	rows, err := tx.Query(ctx, "SELECT owner FROM lineages WHERE pod = $1", pod)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}
