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

// hasPod refuses a pod that does not exist or is in the trash.
func hasPod(ctx context.Context, c *pgxpool.Conn, pod string) error {
	if !isText(pod) {
		return rules.NoPod(pod)
	}
	var found bool
	err := c.QueryRow(ctx, "SELECT EXISTS (SELECT FROM heads WHERE pod = $1 AND NOT trashed)", pod).Scan(&found)
	if err == nil && !found {
		return rules.NoPod(pod)
	}
	return err
}

// Inbox returns the queued submits, oldest first. If one is damaged, those before it are
// returned with the error.
func (s *Store) Inbox(ctx context.Context, pod string) (waiting []store.Waiting, err error) {
	err = s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		if err := hasPod(ctx, c, pod); err != nil {
			return err
		}
		rows, err := c.Query(ctx, "SELECT i.seq, e.record FROM inbox i LEFT JOIN entries e ON e.log = i.pod AND e.seq = i.seq WHERE i.pod = $1 ORDER BY i.seq", pod)
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
			entry, ok := wire.OpenRecord(pod, seq, record)
			if !ok {
				return rules.Entry(pod, seq)
			}
			waiting = append(waiting, store.Waiting{Seq: seq, Entry: entry})
		}
		return rows.Err()
	})
	return waiting, err
}

// Request finds an admitted request id.
func (s *Store) Request(ctx context.Context, pod, requestID string) (r store.Request, ok bool, err error) {
	err = s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		if err := hasPod(ctx, c, pod); err != nil || !isText(requestID) {
			return err
		}
		r, ok, err = scanRequest(requestID, c.QueryRow(ctx, oneRequest, pod, requestID))
		return err
	})
	return r, ok, err
}

const oneRequest = "SELECT seq, digest, queued FROM requests WHERE pod = $1 AND id = $2"

func scanRequest(id string, row pgx.Row) (r store.Request, ok bool, err error) {
	r = store.Request{ID: id}
	var digest []byte
	err = row.Scan(&r.Seq, &digest, &r.Queued)
	if errors.Is(err, pgx.ErrNoRows) {
		return store.Request{}, false, nil
	}
	copy(r.Digest[:], digest)
	return r, err == nil, err
}

// placeBases seals bases; package store has the same.
var placeBases = []byte("bases")

// Base returns a pod's base. A base that cannot be read is treated as missing: the log has
// everything that it was made from.
func (s *Store) Base(ctx context.Context, pod string) (b store.Base, ok bool, err error) {
	err = s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		if !isText(pod) {
			return nil
		}
		var sealed []byte
		err := c.QueryRow(ctx, "SELECT seq, fold FROM bases WHERE pod = $1", pod).Scan(&b.Seq, &sealed)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		b.Fold, ok = wire.Unseal(placeBases, []byte(pod), sealed)
		return err
	})
	if !ok || err != nil {
		return store.Base{}, false, err
	}
	return b, true, nil
}

// Image returns the bytes of an image.
func (s *Store) Image(ctx context.Context, digest string) (data []byte, err error) {
	key, ok := rules.DigestKey(digest)
	if !ok {
		return nil, rules.NoImage(digest)
	}
	err = s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		err := c.QueryRow(ctx, "SELECT data FROM images WHERE digest = $1", key).Scan(&data)
		if errors.Is(err, pgx.ErrNoRows) {
			return rules.NoImage(digest)
		}
		return err
	})
	if err == nil && !rules.IsImage(key, data) {
		return nil, rules.Image(digest)
	}
	return data, err
}
