package postgres

import (
	"context"
	"encoding/binary"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/store/rules"
	"podd/pkg/wire"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Whoever changes alerts first locks the row of alert_head, so that the sequences have no gap
// and an alert is repeated at most once. It comes before the locks of pods' heads.

// movedKept is about how many old sequences of repeated alerts are remembered.
const movedKept = 10_000

// alertLimit is how many alerts a query without a limit returns.
const alertLimit = 1000

// placeAlerts seals alerts; package store has the same.
var placeAlerts = []byte("alerts")

func lockAlerts(ctx context.Context, tx pgx.Tx) error {
	_, err := tx.Exec(ctx, "SELECT last FROM alert_head FOR UPDATE")
	return err
}

// alertRow is a stored alert.
type alertRow struct {
	seq   item.Seq
	acked bool
	body  []byte
}

func scanAlert(row pgx.CollectableRow) (r alertRow, err error) {
	err = row.Scan(&r.seq, &r.acked, &r.body)
	return r, err
}

const alertColumns = "seq, acked, body"

func (r alertRow) open() (item.Alert, error) {
	a, err := r.decode()
	a.Acked = r.acked
	return a, err
}

// decode opens the body alone.
func (r alertRow) decode() (item.Alert, error) {
	body, ok := wire.Unseal(placeAlerts, seqKey(r.seq), r.body)
	if ok {
		if a, err := wire.DecodeAlert(body); err == nil {
			return a, nil
		}
	}
	return item.Alert{}, rules.Alert(r.seq)
}

// shown is the alert or, if it is damaged, one that says so.
func (r alertRow) shown(pod string) item.Alert {
	a, err := r.open()
	if err != nil {
		return item.Alert{Seq: r.seq, Pod: pod, Level: item.LevelError, Source: "store", Text: err.Error(), Count: 1, Acked: r.acked}
	}
	return a
}

func seqKey(seq item.Seq) []byte { return binary.BigEndian.AppendUint64(nil, uint64(seq)) }

// RaiseAlert stores an alert that is not part of a pod's log.
func (s *Store) RaiseAlert(ctx context.Context, a item.Alert) (stored item.Alert, err error) {
	err = s.change(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if err := lockAlerts(ctx, tx); err != nil {
			return err
		}
		if a.Pod != "" {
			if _, err := lockHead(ctx, tx, a.Pod); err != nil {
				return err
			}
		}
		stored, err = storeAlert(ctx, tx, a)
		return err
	})
	if err == nil {
		s.news.changed(stored.Seq)
	}
	return stored, err
}

// storeAlert gives an alert the next sequence and stores it. If it repeats an alert, it
// replaces that one.
func storeAlert(ctx context.Context, tx pgx.Tx, a item.Alert) (item.Alert, error) {
	a.Count, a.Acked = max(a.Count, 1), false
	if err := tx.QueryRow(ctx, "UPDATE alert_head SET last = last + 1 RETURNING last").Scan(&a.Seq); err != nil {
		return item.Alert{}, err
	}
	chain := rules.ChainName(a)
	b := &pgx.Batch{}
	rows, err := tx.Query(ctx, "SELECT "+alertColumns+" FROM alerts WHERE chain = $1 ORDER BY seq DESC LIMIT 1", chain)
	if err != nil {
		return item.Alert{}, err
	}
	newest, err := pgx.CollectRows(rows, scanAlert)
	if err != nil {
		return item.Alert{}, err
	}
	for _, row := range newest {
		old, err := row.open()
		if err != nil {
			continue
		}
		folded, repeats := store.FoldAlert(a, old)
		if a = folded; repeats {
			b.Queue("DELETE FROM alerts WHERE seq = $1", int64(old.Seq))
			b.Queue("INSERT INTO moved (seq, next) VALUES ($1, $2)", int64(old.Seq), int64(a.Seq))
			b.Queue("DELETE FROM moved WHERE seq < $1", int64(a.Seq)-movedKept)
		}
	}
	body, err := wire.EncodeAlert(a)
	if err != nil {
		return item.Alert{}, err
	}
	b.Queue("INSERT INTO alerts (seq, pod, chain, body) VALUES ($1, $2, $3, $4)", int64(a.Seq), a.Pod, chain, wire.Seal(placeAlerts, seqKey(a.Seq), body))
	return a, tx.SendBatch(ctx, b).Close()
}

// Alerts returns alerts in order of their sequences. A damaged one is returned as an alert
// that says so.
func (s *Store) Alerts(ctx context.Context, q store.AlertQuery) (found []item.Alert, err error) {
	if q.Limit <= 0 {
		q.Limit = alertLimit
	}
	q.After = max(q.After, 0)
	err = s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		if !isText(q.Pod) {
			return nil
		}
		var last item.Seq
		if err := c.QueryRow(ctx, "SELECT last FROM alert_head").Scan(&last); err != nil {
			return err
		}
		if q.After > last {
			return rules.BeyondAlerts(q.After, last)
		}
		rows, err := c.Query(ctx, "SELECT "+alertColumns+" FROM alerts WHERE seq > $1 AND ($2 = '' OR pod = $2) AND NOT ($3 AND acked) ORDER BY seq LIMIT $4",
			int64(q.After), q.Pod, q.Unacked, q.Limit)
		if err != nil {
			return err
		}
		found, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (item.Alert, error) {
			r, err := scanAlert(row)
			return r.shown(q.Pod), err
		})
		return err
	})
	if len(found) == 0 {
		return nil, err
	}
	return found, err
}

// AckAlerts acknowledges alerts.
func (s *Store) AckAlerts(ctx context.Context, seqs []item.Seq) error {
	if len(seqs) == 0 {
		return s.usable()
	}
	return s.change(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if err := lockAlerts(ctx, tx); err != nil {
			return err
		}
		var current []int64
		for _, seq := range seqs {
			now, err := alertNow(ctx, tx, seq)
			if err != nil {
				return err
			}
			if now != 0 {
				current = append(current, now)
			}
		}
		_, err := tx.Exec(ctx, "UPDATE alerts SET acked = true WHERE seq = ANY ($1) AND NOT acked", current)
		return err
	})
}

// alertNow is the sequence of the alert that has one, or had it before it was repeated; 0 if
// that alert was then deleted.
func alertNow(ctx context.Context, tx pgx.Tx, seq item.Seq) (int64, error) {
	var end int64
	var moved, exists bool
	err := tx.QueryRow(ctx, `WITH RECURSIVE way AS (
		SELECT $1::bigint AS seq
		UNION ALL
		SELECT m.next FROM way JOIN moved m ON m.seq = way.seq
	) SELECT max(seq), max(seq) > $1, EXISTS (SELECT FROM alerts WHERE seq = (SELECT max(seq) FROM way)) FROM way`, int64(seq)).Scan(&end, &moved, &exists)
	switch {
	case err != nil:
		return 0, err
	case exists:
		return end, nil
	case moved:
		return 0, nil
	}
	return 0, rules.NoAlert(seq)
}

// PurgeAlerts removes acknowledged alerts.
func (s *Store) PurgeAlerts(ctx context.Context, before time.Time) (removed int, err error) {
	err = s.changePods(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if err := lockAlerts(ctx, tx); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, "SELECT "+alertColumns+" FROM alerts WHERE acked")
		if err != nil {
			return err
		}
		var old []int64
		acked, err := pgx.CollectRows(rows, scanAlert)
		for _, row := range acked {
			if a, err := row.open(); err == nil && a.Time.Before(before) {
				old = append(old, int64(row.seq))
			}
		}
		if err != nil || len(old) == 0 {
			return err
		}
		removed = len(old)
		_, err = tx.Exec(ctx, "DELETE FROM alerts WHERE seq = ANY ($1)", old)
		return err
	})
	return removed, err
}
