package postgres

import (
	"context"
	"errors"

	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/store/rules"
	"podd/pkg/wire"

	"github.com/jackc/pgx/v5"
)

// Fork creates a pod whose log begins with the parent's entries up to a sequence.
func (s *Store) Fork(ctx context.Context, parent string, at item.Seq, p item.Pod) error {
	if err := checkKeys(p.ID, p.Name); err != nil {
		return err
	}
	if at < 1 {
		return rules.ForkRange(at)
	}
	return s.changePods(ctx, func(ctx context.Context, tx pgx.Tx) error {
		h, mark, err := s.checkFork(ctx, tx, parent, at, p)
		if err != nil {
			return err
		}
		of, err := lineage(ctx, tx, parent)
		if err != nil {
			return err
		}
		if err := s.createPod(ctx, tx, p, h.first, at); err != nil {
			return err
		}
		b := &pgx.Batch{}
		for _, part := range of.Fork(parent, h.first, at) {
			b.Queue("INSERT INTO lineages (pod, upto, owner) VALUES ($1, $2, $3)", p.ID, int64(part.UpTo), part.Owner)
		}
		if mark != nil {
			b.Queue("INSERT INTO purges (pod, record) VALUES ($1, $2)", p.ID, wire.NewDraft(p.ID, mark).Record(h.first))
		}
		if err := queueBase(ctx, tx, b, parent, at, p.ID); err != nil {
			return err
		}
		return tx.SendBatch(ctx, b).Close()
	})
}

// checkFork refuses a fork that is not possible; mark is as of checkPast.
func (d *database) checkFork(ctx context.Context, tx pgx.Tx, parent string, at item.Seq, p item.Pod) (h *head, mark []byte, err error) {
	if h, err = d.lockOwn(ctx, tx, parent); err != nil {
		return nil, nil, err
	}
	if err := checkFree(ctx, tx, p.ID, p.Name); err != nil {
		return nil, nil, err
	}
	if err := checkRange(parent, h, at-1); err != nil {
		return nil, nil, err
	}
	if at > h.last {
		return nil, nil, rules.Beyond(h.called(parent), at, h.last)
	}
	mark, err = checkPast(ctx, tx, parent, h, at)
	return h, mark, err
}

// lineage reads the lineage of a pod; most have none.
func lineage(ctx context.Context, tx pgx.Tx, pod string) (rules.Lineage, error) {
	rows, err := tx.Query(ctx, "SELECT owner, upto FROM lineages WHERE pod = $1 ORDER BY upto", pod)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[rules.Segment])
}

// queueBase gives a fork its parent's base, if that covers only entries that they share. Its
// seal has the pod in it.
func queueBase(ctx context.Context, tx pgx.Tx, b *pgx.Batch, parent string, at item.Seq, fork string) error {
	var seq item.Seq
	var sealed []byte
	err := tx.QueryRow(ctx, "SELECT seq, fold FROM bases WHERE pod = $1 AND seq <= $2", parent, int64(at)).Scan(&seq, &sealed)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	if fold, ok := wire.Unseal(placeBases, []byte(parent), sealed); ok {
		b.Queue("INSERT INTO bases (pod, seq, fold) VALUES ($1, $2, $3)", fork, int64(seq), wire.Seal(placeBases, []byte(fork), fold))
	}
	return nil
}

// checkPast refuses an entry from which history cannot continue because the log was purged.
// It returns the mark of a purged log, encoded without its sequence.
func checkPast(ctx context.Context, tx pgx.Tx, pod string, h *head, seq item.Seq) (mark []byte, err error) {
	var sealed []byte
	err = tx.QueryRow(ctx, "SELECT record FROM purges WHERE pod = $1", pod).Scan(&sealed)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	entry, ok := wire.OpenRecord(pod, h.first, sealed)
	if !ok {
		return nil, rules.Entry(pod, h.first)
	}
	e, err := wire.DecodeEntry(entry)
	if err != nil {
		return nil, rules.Entry(pod, h.first)
	}
	if k, _ := e.Kind.(item.Purged); seq < k.From {
		return nil, rules.Gone(h.called(pod), seq, k.From)
	}
	return entry[len(wire.WithSeq(h.first, nil)):], nil
}

// Purge removes the start of a log.
func (s *Store) Purge(ctx context.Context, p store.Purge) error {
	if _, ok := p.Mark.Kind.(item.Purged); !ok || p.Mark.Seq != 0 {
		return rules.Batch("the mark of a purge is an entry of that kind without a sequence")
	}
	body, err := wire.EncodeEntry(p.Mark)
	if err != nil {
		return rules.Batch("%v", err)
	}
	var owners []string
	err = s.changePods(ctx, func(ctx context.Context, tx pgx.Tx) error {
		h, err := s.lockOwn(ctx, tx, p.Pod)
		if err != nil {
			return err
		}
		if err := checkPurge(ctx, tx, p, h); err != nil {
			return err
		}
		if owners, err = ownersOf(ctx, tx, p.Pod); err != nil {
			return err
		}
		b := &pgx.Batch{}
		b.Queue("UPDATE heads SET first = $2 WHERE pod = $1", p.Pod, int64(p.UpTo))
		b.Queue("DELETE FROM bases WHERE pod = $1", p.Pod)
		b.Queue("INSERT INTO purges (pod, record) VALUES ($1, $2) ON CONFLICT (pod) DO UPDATE SET record = excluded.record",
			p.Pod, wire.NewDraft(p.Pod, body).Record(p.UpTo))
		// The mark replaces the entry UpTo.
		b.Queue("DELETE FROM lineages WHERE pod = $1 AND upto <= $2", p.Pod, int64(p.UpTo))
		return tx.SendBatch(ctx, b).Close()
	})
	if err != nil {
		return err
	}
	// If this ends early, the next purge removes the rest.
	for _, owner := range append(owners, p.Pod) {
		for more := true; more; {
			err := s.changePods(ctx, func(ctx context.Context, tx pgx.Tx) (err error) {
				more, err = trim(ctx, tx, owner, trimStep)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func checkPurge(ctx context.Context, tx pgx.Tx, p store.Purge, h *head) error {
	var marked bool
	var waiting *item.Seq
	err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM purges WHERE pod = $1), (SELECT min(seq) FROM inbox WHERE pod = $1)", p.Pod).Scan(&marked, &waiting)
	switch {
	case err != nil:
		return err
	case h.last != p.Last:
		return rules.Grew(p.Pod, h.last, p.Last)
	case p.UpTo > h.last:
		return rules.Beyond(h.called(p.Pod), p.UpTo, h.last)
	case p.UpTo < h.first, marked && p.UpTo == h.first:
		return rules.Gone(h.called(p.Pod), p.UpTo, h.first)
	case waiting != nil && *waiting <= p.UpTo:
		return rules.Waiting(p.Pod, *waiting)
	}
	return nil
}

// trimStep is how many records one transaction of a purge removes, so that a long log does not
// delay other changes.
const trimStep = 4096

// unneeded selects the records of a log that neither its pod, in the trash too, nor a fork
// needs: those outside of the range from the lowest needed to the highest.
const unneeded = `WITH n AS (SELECT min(low) AS low, max(high) AS high FROM (
	SELECT h.first + (m.pod IS NOT NULL)::int AS low, 9223372036854775807 AS high
	FROM heads h LEFT JOIN purges m ON m.pod = h.pod WHERE h.pod = $1
	UNION ALL
	SELECT h.first + (m.pod IS NOT NULL)::int, l.upto
	FROM lineages l JOIN heads h ON h.pod = l.pod LEFT JOIN purges m ON m.pod = h.pod WHERE l.owner = $1
) x WHERE low <= high)
SELECT e.seq FROM entries e, n WHERE e.log = $1 AND (n.low IS NULL OR e.seq < n.low OR e.seq > n.high) LIMIT $2`

// trim removes at most limit unneeded records of a log, and images to which nothing refers
// after that. more says that some may be left.
func trim(ctx context.Context, tx pgx.Tx, owner string, limit int) (more bool, err error) {
	rows, err := tx.Query(ctx, unneeded, owner, limit)
	if err != nil {
		return false, err
	}
	old, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil || len(old) == 0 {
		return false, err
	}
	b := &pgx.Batch{}
	b.Queue("DELETE FROM entries WHERE log = $1 AND seq = ANY ($2)", owner, old)
	b.Queue(`WITH given AS (
		DELETE FROM image_uses WHERE log = $1 AND seq = ANY ($2) RETURNING digest
	) DELETE FROM images i USING given WHERE i.digest = given.digest AND NOT EXISTS (
		SELECT FROM image_uses u WHERE u.digest = i.digest AND NOT (u.log = $1 AND u.seq = ANY ($2)))`, owner, old)
	return len(old) == limit, tx.SendBatch(ctx, b).Close()
}
