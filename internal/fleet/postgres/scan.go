package postgres

import (
	"context"
	"errors"

	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/store/rules"
	"podd/pkg/wire"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Parts returns the parts of a pod's log, oldest first.
func (s *Store) Parts(ctx context.Context, pod string) (parts []store.Part, err error) {
	err = s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		if !isText(pod) {
			return rules.NoPod(pod)
		}
		parts = nil
		var from, last item.Seq
		var owners []string
		var ends []int64
		err := c.QueryRow(ctx, `SELECT h.first + (m.pod IS NOT NULL)::int, h.last,
			ARRAY(SELECT owner FROM lineages WHERE pod = $1 ORDER BY upto), ARRAY(SELECT upto FROM lineages WHERE pod = $1 ORDER BY upto)
			FROM heads h LEFT JOIN purges m ON m.pod = h.pod WHERE h.pod = $1 AND NOT h.trashed`, pod).Scan(&from, &last, &owners, &ends)
		if errors.Is(err, pgx.ErrNoRows) {
			return rules.NoPod(pod)
		}
		if err != nil {
			return err
		}
		var l rules.Lineage
		for i, owner := range owners {
			l = append(l, rules.Segment{Owner: owner, UpTo: item.Seq(ends[i])})
		}
		for from <= last {
			owner, upTo := l.Place(pod, from, last)
			parts = append(parts, store.Part{Pod: pod, Owner: owner, From: from, To: upTo})
			from = upTo + 1
		}
		return nil
	})
	return parts, err
}

// Scan passes the records of a part to want.
func (s *Store) Scan(ctx context.Context, p store.Part, want func(entry []byte) bool) (found []store.Record, next item.Seq, err error) {
	err = s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		found, next = nil, p.To+1
		rows, err := c.Query(ctx, `WITH page AS (
				SELECT seq, record FROM entries WHERE log = $1 AND seq BETWEEN $2 AND $3 ORDER BY seq LIMIT $4
			), summed AS (
				SELECT seq, record, sum(octet_length(record)) OVER (ORDER BY seq) - octet_length(record) AS before FROM page
			) SELECT seq, record FROM summed WHERE before < $5 ORDER BY seq`, p.Owner, int64(p.From), int64(p.To), pageRows, store.ScanBytes)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var seq item.Seq
			var record []byte
			if err := rows.Scan(&seq, &record); err != nil {
				return err
			}
			next = seq + 1
			if len(record) < wire.SumLen || !want(record[wire.SumLen:]) {
				continue
			}
			entry, ok := wire.OpenRecord(p.Owner, seq, record)
			if !ok {
				return rules.Entry(p.Owner, seq)
			}
			found = append(found, store.Record{Seq: seq, Entry: entry})
		}
		return rows.Err()
	})
	return found, next, err
}
