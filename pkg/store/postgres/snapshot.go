package postgres

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"time"

	"podd/internal/wire"
	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/store/internal/rules"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// snapshot is a store.Stored: what the database has at one moment.
type snapshot struct {
	ctx context.Context
	tx  pgx.Tx
}

// Snapshot passes what the database has at this moment; fn must not keep it.
func (c *Copier) Snapshot(ctx context.Context, fn func(from store.Stored) error) error {
	return c.alone(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		return fn(snapshot{ctx, tx})
	})
}

// rowsOf selects the rows of a bucket in the order of its keys and makes one of each.
type rowsOf struct {
	query string
	row   func(row pgx.CollectableRow) (store.Row, error)
}

var stored = map[string]rowsOf{
	"names":      {"SELECT name, id FROM pods WHERE name IS NOT NULL ORDER BY name", asTexts},
	"pods":       {"SELECT id, record FROM pods ORDER BY id", asIs},
	"heads":      {storedHeads + " WHERE NOT h.trashed ORDER BY h.pod", asHead},
	"trashheads": {storedHeads + " WHERE h.trashed ORDER BY h.pod", asHead},
	"trash":      {"SELECT pod, at, at_nanos, deleted_with FROM trash ORDER BY pod", asTrashed},
	"logs":       {"SELECT log, seq, record FROM entries ORDER BY log, seq", asRecord},
	"inbox":      {"SELECT pod, seq, ''::bytea FROM inbox ORDER BY pod, seq", asRecord},
	"requests":   {"SELECT pod, id, digest, seq, queued FROM requests ORDER BY pod, id", asRequest},
	"alertend":   {"SELECT last FROM alert_head", asEnd},
	"alerts":     {"SELECT " + alertColumns + " FROM alerts ORDER BY seq", asAlert},
	"podalerts":  {"SELECT pod, seq, ''::bytea FROM alerts WHERE pod <> '' ORDER BY pod, seq", asRecord},
	"moved":      {"SELECT seq, next FROM moved ORDER BY seq", asMoved},
	"lineages":   {"SELECT pod, array_agg(owner ORDER BY upto), array_agg(upto ORDER BY upto) FROM lineages GROUP BY pod ORDER BY pod", asLineage},
	"purges":     {"SELECT pod, record FROM purges ORDER BY pod", asIs},
	"bases":      {"SELECT pod, seq, fold FROM bases ORDER BY pod", asBase},
	"images":     {"SELECT digest, data FROM images ORDER BY digest", asIs},
	"imageuses":  {"SELECT log, seq, digest FROM image_uses ORDER BY log, seq, digest", asImageUse},
}

const storedHeads = `SELECT h.pod, h.epoch, h.first, h.last, h.queued, (SELECT count(*) FROM requests r WHERE r.pod = h.pod),
	h.status, h.active, h.active_nanos FROM heads h`

// Rows are those of a bucket.
func (s snapshot) Rows(bucket string) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		of, ok := stored[bucket]
		if !ok {
			yield(store.Row{}, fmt.Errorf("no table has what the bucket %s has", bucket))
			return
		}
		rows, err := s.tx.Query(s.ctx, of.query)
		if err != nil {
			yield(store.Row{}, err)
			return
		}
		defer rows.Close()
		for rows.Next() {
			row, err := of.row(rows)
			if !yield(row, err) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(store.Row{}, err)
		}
	}
}

func asIs(row pgx.CollectableRow) (r store.Row, err error) {
	// A text is scanned as its bytes.
	err = row.Scan((*pgtype.DriverBytes)(&r.Key), &r.Value)
	r.Key = bytes.Clone(r.Key)
	return r, err
}

func asTexts(row pgx.CollectableRow) (store.Row, error) {
	var key, value string
	err := row.Scan(&key, &value)
	return store.Row{Key: []byte(key), Value: []byte(value)}, err
}

func podSeqKey(pod string, seq item.Seq) []byte {
	return append(append([]byte(pod), 0), seqKey(seq)...)
}

func asRecord(row pgx.CollectableRow) (r store.Row, err error) {
	var log string
	var seq item.Seq
	err = row.Scan(&log, &seq, &r.Value)
	r.Key = podSeqKey(log, seq)
	return r, err
}

func asImageUse(row pgx.CollectableRow) (store.Row, error) {
	var log string
	var seq item.Seq
	var digest []byte
	err := row.Scan(&log, &seq, &digest)
	return store.Row{Key: append(podSeqKey(log, seq), digest...), Value: []byte{}}, err
}

func asEnd(row pgx.CollectableRow) (store.Row, error) {
	var last item.Seq
	err := row.Scan(&last)
	return store.Row{Value: seqKey(last)}, err
}

func asMoved(row pgx.CollectableRow) (store.Row, error) {
	var seq, next item.Seq
	err := row.Scan(&seq, &next)
	return store.Row{Key: seqKey(seq), Value: seqKey(next)}, err
}

// The places that seal what has no seal of its own in the database.
var placeHeads, placeTrash, placeRequests, placeLineages = []byte("heads"), []byte("trash"), []byte("requests"), []byte("lineages")

func sealed(place, key, body []byte) store.Row {
	return store.Row{Key: key, Value: wire.Seal(place, key, body)}
}

func asHead(row pgx.CollectableRow) (store.Row, error) {
	var pod string
	var h rules.Head
	var queued, active, nanos int64
	err := row.Scan(&pod, &h.Epoch, &h.First, &h.Last, &queued, &h.Requests, &h.Status, &active, &nanos)
	h.Queued = uint32(queued)
	h.Activity = time.Unix(active, nanos).UTC()
	return sealed(placeHeads, []byte(pod), h.Encode()), err
}

func asTrashed(row pgx.CollectableRow) (store.Row, error) {
	var pod, with string
	var at, nanos int64
	err := row.Scan(&pod, &at, &nanos, &with)
	return sealed(placeTrash, []byte(pod), rules.EncodeTrashed(time.Unix(at, nanos), with)), err
}

func asRequest(row pgx.CollectableRow) (store.Row, error) {
	var pod, id string
	var digest []byte
	var seq item.Seq
	var queued bool
	err := row.Scan(&pod, &id, &digest, &seq, &queued)
	return sealed(placeRequests, append(append([]byte(pod), 0), id...), rules.EncodeRequest(digest, seq, queued)), err
}

func asLineage(row pgx.CollectableRow) (store.Row, error) {
	var pod string
	var owners []string
	var ends []int64
	err := row.Scan(&pod, &owners, &ends)
	var l rules.Lineage
	for i, owner := range owners {
		l = append(l, rules.Segment{Owner: owner, UpTo: item.Seq(ends[i])})
	}
	return sealed(placeLineages, []byte(pod), l.Encode()), err
}

func asBase(row pgx.CollectableRow) (store.Row, error) {
	var pod string
	var seq item.Seq
	var fold []byte
	if err := row.Scan(&pod, &seq, &fold); err != nil {
		return store.Row{}, err
	}
	body, ok := wire.Unseal(placeBases, []byte(pod), fold)
	return spoilt(sealed(placeBases, []byte(pod), append(seqKey(seq), body...)), !ok), nil
}

// spoilt damages a row that was made of a damaged one, so that it is not taken for sound.
func spoilt(r store.Row, damaged bool) store.Row {
	if damaged {
		r.Value[0] ^= 0xff
	}
	return r
}

func asAlert(row pgx.CollectableRow) (store.Row, error) {
	r, err := scanAlert(row)
	if err != nil {
		return store.Row{}, err
	}
	a, damaged := r.open()
	body, err := wire.EncodeAlert(a)
	return spoilt(sealed(placeAlerts, seqKey(r.seq), body), damaged != nil), err
}
