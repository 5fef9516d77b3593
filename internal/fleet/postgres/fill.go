package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"iter"

	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/store/rules"
	"podd/pkg/wire"

	"github.com/jackc/pgx/v5"
)

// target is a table that gets the rows of a bucket.
type target struct {
	bucket, table string
	columns       []string
	// values are those of the columns; nil leaves the row out.
	values func(r store.Row) ([]any, error)
}

// The tables, each after those that it refers to. Where a name stands for a pod is in named.
var targets = []target{
	{"pods", "pods", []string{"id", "record"}, func(r store.Row) ([]any, error) { return []any{string(r.Key), r.Value}, nil }},
	{"names", "named", []string{"name", "id"}, func(r store.Row) ([]any, error) { return []any{string(r.Key), string(r.Value)}, nil }},
	{"heads", "heads", headTable, func(r store.Row) ([]any, error) { return headValues(r, false) }},
	{"trashheads", "heads", headTable, func(r store.Row) ([]any, error) { return headValues(r, true) }},
	{"trash", "trash", []string{"pod", "at", "at_nanos", "deleted_with"}, trashValues},
	{"logs", "entries", []string{"log", "seq", "record"}, recordValues},
	{"inbox", "inbox", []string{"pod", "seq"}, func(r store.Row) ([]any, error) {
		all, err := recordValues(r)
		return all[:2], err
	}},
	{"requests", "requests", []string{"pod", "id", "digest", "seq", "queued"}, requestValues},
	{"purges", "purges", []string{"pod", "record"}, func(r store.Row) ([]any, error) { return []any{string(r.Key), r.Value}, nil }},
	{"bases", "bases", []string{"pod", "seq", "fold"}, baseValues},
	{"images", "images", []string{"digest", "data"}, func(r store.Row) ([]any, error) { return []any{r.Key, r.Value}, nil }},
	{"imageuses", "image_uses", []string{"log", "seq", "digest"}, imageUseValues},
	{"alerts", "alerts", []string{"seq", "pod", "chain", "acked", "body"}, alertValues},
	{"moved", "moved", []string{"seq", "next"}, func(r store.Row) ([]any, error) { return []any{number(r.Key), number(r.Value)}, nil }},
}

var headTable = []string{"pod", "place", "trashed", "epoch", "first", "last", "queued", "status", "active", "active_nanos"}

// Filled counts what Fill stored.
type Filled struct{ Pods, Entries, Images, Alerts int64 }

// Fill stores all that a file has, in the place of what is there, in one transaction.
func (c *Copier) Fill(ctx context.Context, from store.FileRows) (Filled, error) {
	rows := make(map[string]int64)
	err := c.alone(ctx, func(tx pgx.Tx) error {
		const empty = `TRUNCATE pods, heads, entries, lineages, inbox, requests, purges, bases, trash, images, image_uses, alerts, moved;
			CREATE TEMPORARY TABLE named (name text COLLATE "C", id text COLLATE "C") ON COMMIT DROP`
		if _, err := tx.Exec(ctx, empty); err != nil {
			return err
		}
		for _, t := range targets {
			n, err := t.fill(ctx, tx, from)
			if err != nil {
				return err
			}
			rows[t.bucket] = n
		}
		err := each(from.Rows("lineages"), func(row store.Row) error { return fillLineage(ctx, tx, row) })
		if err != nil {
			return err
		}
		last, err := from.AlertEnd()
		if err != nil {
			return err
		}
		b := &pgx.Batch{}
		b.Queue("UPDATE alert_head SET last = $1", int64(last))
		b.Queue("UPDATE pods SET name = n.name FROM named n WHERE n.id = pods.id")
		return tx.SendBatch(ctx, b).Close()
	})
	return Filled{rows["pods"], rows["logs"], rows["images"], rows["alerts"]}, err
}

func each(rows iter.Seq2[store.Row, error], fn func(row store.Row) error) error {
	for row, err := range rows {
		if err == nil {
			err = fn(row)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fill copies the rows of one bucket.
func (t target) fill(ctx context.Context, tx pgx.Tx, from store.FileRows) (rows int64, err error) {
	next, stop := iter.Pull2(from.Rows(t.bucket))
	defer stop()
	rows, err = tx.CopyFrom(ctx, pgx.Identifier{t.table}, t.columns, pgx.CopyFromFunc(func() ([]any, error) {
		for {
			row, err, ok := next()
			if err != nil || !ok {
				return nil, err
			}
			if values, err := t.values(row); values != nil || err != nil {
				return values, err
			}
		}
	}))
	if err != nil {
		return 0, fmt.Errorf("copy %s: %w", t.bucket, err)
	}
	return rows, nil
}

// The places that seal what has no seal of its own in the database.
var placeHeads, placeTrash, placeRequests, placeLineages = []byte("heads"), []byte("trash"), []byte("requests"), []byte("lineages")

// cutPod divides a key that begins with a pod's id.
func cutPod(key []byte) (pod, rest string, ok bool) {
	before, after, ok := bytes.Cut(key, []byte{0})
	return string(before), string(after), ok
}

func number(b []byte) int64 {
	if len(b) != 8 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(b))
}

// opened is the body of a sealed row, which a check found to be sound.
func opened(place []byte, r store.Row) ([]byte, error) {
	body, ok := wire.Unseal(place, r.Key, r.Value)
	if !ok {
		return nil, rules.Pod(string(r.Key))
	}
	return body, nil
}

func headValues(r store.Row, trashed bool) ([]any, error) {
	body, err := opened(placeHeads, r)
	if err != nil {
		return nil, err
	}
	h, ok := rules.DecodeHead(body)
	if !ok {
		return nil, rules.Pod(string(r.Key))
	}
	return []any{string(r.Key), "", trashed, h.Epoch, int64(h.First), int64(h.Last), int64(h.Queued), h.Status, h.Activity.Unix(), h.Activity.Nanosecond()}, nil
}

func trashValues(r store.Row) ([]any, error) {
	body, err := opened(placeTrash, r)
	if err != nil {
		return nil, err
	}
	at, with, ok := rules.DecodeTrashed(body)
	if !ok {
		return nil, rules.Pod(string(r.Key))
	}
	return []any{string(r.Key), at.Unix(), at.Nanosecond(), with}, nil
}

func recordValues(r store.Row) ([]any, error) {
	pod, seq, err := store.SplitLog(r.Key)
	return []any{pod, number(seq), r.Value}, err
}

func imageUseValues(r store.Row) ([]any, error) {
	at := max(0, len(r.Key)-rules.DigestLen)
	pod, seq, err := store.SplitLog(r.Key[:at])
	return []any{pod, number(seq), r.Key[at:]}, err
}

func requestValues(r store.Row) ([]any, error) {
	body, err := opened(placeRequests, r)
	if err != nil {
		return nil, err
	}
	digest, seq, queued, ok := rules.DecodeRequest(body)
	pod, id, found := cutPod(r.Key)
	if !ok || !found {
		return nil, rules.Pod(pod)
	}
	return []any{pod, id, digest, int64(seq), queued}, nil
}

// baseValues leaves out a base that cannot be used: the log has everything that it was made from.
func baseValues(r store.Row) ([]any, error) {
	if !store.IsBase(r) {
		return nil, nil
	}
	body := r.Value[wire.SumLen:]
	return []any{string(r.Key), number(body[:8]), wire.Seal(placeBases, r.Key, body[8:])}, nil
}

func alertValues(r store.Row) ([]any, error) {
	seq := item.Seq(number(r.Key))
	a, err := alertRow{seq: seq, body: r.Value}.decode()
	if err != nil {
		return nil, err
	}
	acked := a.Acked
	a.Acked = false
	body, err := wire.EncodeAlert(a)
	return []any{int64(seq), a.Pod, rules.ChainName(a), acked, wire.Seal(placeAlerts, r.Key, body)}, err
}

func fillLineage(ctx context.Context, tx pgx.Tx, r store.Row) error {
	body, err := opened(placeLineages, r)
	if err != nil {
		return err
	}
	l, ok := rules.DecodeLineage(body)
	if !ok {
		return rules.Pod(string(r.Key))
	}
	b := &pgx.Batch{}
	for _, part := range l {
		b.Queue("INSERT INTO lineages (pod, upto, owner) VALUES ($1, $2, $3)", string(r.Key), int64(part.UpTo), part.Owner)
	}
	return tx.SendBatch(ctx, b).Close()
}
