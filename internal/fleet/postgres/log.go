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

// pageRows is how many records one Read looks at.
const pageRows = 2000

// onePage selects records of a pod's log above $2, at most $3 of them and $4 bytes, or one.
// Those up to the upto of a lineage are in the log of its owner. The mark of a purged log,
// which is its first record, is left out.
const onePage = `WITH parts AS (
	SELECT owner, lag(upto, 1, 0::bigint) OVER (ORDER BY upto) AS low, upto FROM lineages WHERE pod = $1
	UNION ALL
	SELECT $1::text, coalesce((SELECT max(upto) FROM lineages WHERE pod = $1), 0), 9223372036854775807
), found AS (
	SELECT e.log, e.seq, e.record FROM parts, LATERAL (
		SELECT log, seq, record FROM entries
		WHERE log = parts.owner AND seq > greatest(parts.low, $2) AND seq <= parts.upto ORDER BY seq LIMIT $3) e
	ORDER BY e.seq LIMIT $3
), summed AS (
	SELECT log, seq, record, sum(octet_length(record) - 4) OVER (ORDER BY seq) AS size, row_number() OVER (ORDER BY seq) AS n FROM found
) SELECT log, seq, record FROM summed WHERE size <= $4 OR n = 1 ORDER BY seq`

// Read returns records above after, in order.
func (s *Store) Read(ctx context.Context, pod string, after item.Seq, limit int) (page []store.Record, err error) {
	err = s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		page, err = readPage(ctx, c, pod, after, limit)
		return err
	})
	return page, err
}

func readPage(ctx context.Context, c *pgxpool.Conn, pod string, after item.Seq, limit int) (page []store.Record, err error) {
	if !isText(pod) {
		return nil, rules.NoPod(pod)
	}
	if limit <= 0 || limit > pageRows {
		limit = pageRows
	}
	b := &pgx.Batch{}
	b.Queue("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
	b.Queue("SELECT "+headColumns+", m.record FROM heads h JOIN pods p ON p.id = h.pod LEFT JOIN purges m ON m.pod = h.pod WHERE h.pod = $1 AND NOT h.trashed", pod)
	b.Queue(onePage, pod, int64(after), limit, store.ReadBytes)
	b.Queue("COMMIT")
	r := c.SendBatch(ctx, b)
	defer func() {
		if closed := r.Close(); err == nil {
			err = closed
		}
	}()
	if _, err := r.Exec(); err != nil {
		return nil, err
	}
	var h head
	var mark []byte
	err = r.QueryRow().Scan(append(h.fields(), &mark)...)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, rules.NoPod(pod)
	}
	if err != nil {
		return nil, err
	}
	if err := checkRange(pod, &h, after); err != nil {
		return nil, err
	}
	p := pager{pod: pod, head: &h, next: after + 1, limit: limit}
	if mark != nil && p.next == h.first {
		if err := p.add(pod, mark); err != nil {
			return nil, err
		}
	}
	rows, err := r.Query()
	if err != nil {
		return nil, err
	}
	err = p.take(rows)
	return p.page, err
}

func checkRange(pod string, h *head, after item.Seq) error {
	switch {
	case after < 0:
		return rules.ReadRange(after)
	case after < h.first-1:
		return rules.Gone(h.called(pod), after+1, h.first)
	case after > h.last:
		return rules.Beyond(h.called(pod), after, h.last)
	}
	return nil
}

// pager collects the records of one Read.
type pager struct {
	pod   string
	head  *head
	next  item.Seq
	limit int
	size  int
	page  []store.Record
}

// take adds the rows of onePage. A missing or damaged record ends the page.
func (p *pager) take(rows pgx.Rows) error {
	defer rows.Close()
	for rows.Next() {
		var owner string
		var seq item.Seq
		var record []byte
		if err := rows.Scan(&owner, &seq, &record); err != nil {
			return err
		}
		if seq > p.head.last {
			break
		}
		if seq < p.next {
			continue // the mark replaces it
		}
		if seq != p.next {
			return rules.Entry(p.pod, p.next)
		}
		if len(p.page) == p.limit || len(p.page) > 0 && p.size+len(record)-wire.SumLen > store.ReadBytes {
			return nil
		}
		if err := p.add(owner, record); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if len(p.page) == 0 && p.next <= p.head.last {
		return rules.Entry(p.pod, p.next)
	}
	return nil
}

// add adds the next record, from the log of its owner.
func (p *pager) add(owner string, record []byte) error {
	entry, ok := wire.OpenRecord(owner, p.next, record)
	if !ok {
		return rules.Entry(p.pod, p.next)
	}
	p.page = append(p.page, store.Record{Seq: p.next, Entry: entry})
	p.size += len(entry)
	p.next++
	return nil
}
