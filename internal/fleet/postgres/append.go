package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/store/rules"
	"podd/pkg/wire"

	"github.com/jackc/pgx/v5"
)

// Append writes one batch to a pod's log.
func (s *Store) Append(ctx context.Context, b store.Batch) (store.Appended, error) {
	c, err := newAppend(b)
	if err != nil {
		return store.Appended{}, err
	}
	if err := ctx.Err(); err != nil {
		return store.Appended{}, rules.Unwritten(err)
	}
	w := s.writerOf(b.Pod)
	select {
	case w.turn <- struct{}{}:
		defer func() { <-w.turn }()
	case <-ctx.Done():
		return store.Appended{}, rules.Unwritten(ctx.Err())
	}
	out, err := s.append(ctx, w, c)
	if err == nil {
		alert := item.Seq(0)
		for _, a := range out.Alerts {
			alert = a.Seq
		}
		s.news.changed(alert)
	}
	return out, err
}

// appending is an Append in progress.
type appending struct {
	store.Batch
	// id names the batch in the database, so that its outcome can be found out.
	id     []byte
	drafts []wire.Draft // one an entry
	images []rules.Picture
	status []byte // nil to keep the pod's
	base   []byte // sealed; nil to keep the pod's
	out    store.Appended
}

// newAppend does what needs no database.
func newAppend(b store.Batch) (*appending, error) {
	if err := b.Check(); err != nil {
		return nil, err
	}
	if !isText(b.Pod) {
		return nil, rules.NoPod(b.Pod)
	}
	if b.Admit != nil && !isText(b.Admit.ID) {
		return nil, rules.KeyText("request id", "")
	}
	c := &appending{Batch: b, id: make([]byte, 16)}
	_, _ = rand.Read(c.id)
	var err error
	if c.drafts, err = wire.NewDrafts(b.Pod, b.Entries); err != nil {
		return nil, rules.Batch("%v", err)
	}
	for _, d := range c.drafts {
		if d.Len() > store.MaxEntryBytes {
			return nil, rules.Large(d.Len(), store.MaxEntryBytes)
		}
	}
	if c.images, err = rules.Pictures(b.Entries, b.Images); err != nil {
		return nil, err
	}
	if b.Base != nil {
		c.base = wire.Seal(placeBases, []byte(b.Pod), b.Base.Fold)
	}
	if b.Status != nil {
		c.status, err = wire.EncodeStatus(*b.Status)
	}
	return c, err
}

// activity is the pod's last activity after this batch; nil keeps it.
func (c *appending) activity() (seconds, nanos *int64) {
	var at time.Time
	switch n := len(c.Entries); {
	case c.Status != nil && !c.Status.LastActivity.IsZero():
		at = c.Status.LastActivity
	case n > 0:
		at = c.Entries[n-1].Time
	default:
		return nil, nil
	}
	unix, nano := at.Unix(), int64(at.Nanosecond())
	return &unix, &nano
}

// records are the records of the entries above last.
func (c *appending) records(last item.Seq) [][]byte {
	c.out.Records = nil
	values := make([][]byte, len(c.drafts))
	for i, d := range c.drafts {
		last++
		values[i] = d.Record(last)
		c.out.Records = append(c.out.Records, store.Record{Seq: last, Entry: values[i][wire.SumLen:]})
	}
	return values
}

// plain says whether one statement can write the batch: it has no alerts, images or rewinds, of
// which more has to be known first.
func (c *appending) plain() bool {
	if len(c.images) > 0 {
		return false
	}
	for _, e := range c.Entries {
		switch e.Kind.(type) {
		case item.AlertRaised, item.Rewind:
			return false
		}
	}
	seen := make(map[item.Seq]bool, len(c.Dequeue))
	for _, seq := range c.Dequeue {
		if seen[seq] {
			return false
		}
		seen[seq] = true
	}
	return true
}

// A plain append is one statement. It writes a batch if the head of the log is the one that the
// caller knows and all conditions hold; else it changes nothing and returns no row. Most batches of
// a turn have only entries and a status. For those a statement that names fewer tables is faster:
// PostgreSQL prepares each part of a statement even if it writes nothing.
const (
	setHead = `WITH h AS (
	UPDATE heads SET last = last + cardinality($6::bytea[]), batch = $5, status = coalesce($7, status),
		active = coalesce($8, active), active_nanos = coalesce($9, active_nanos)`
	ofHead       = ` WHERE pod = $1 AND NOT trashed AND epoch = $2 AND epoch > 0 AND fence = $3 AND last = $4`
	storeEntries = ` RETURNING last
), e AS (
	INSERT INTO entries SELECT $1, $4 + n, r FROM h, unnest($6::bytea[]) WITH ORDINALITY u (r, n)
)`
	storedLast = ` SELECT last FROM h`

	shortAppend = setHead + ofHead + storeEntries + storedLast
	// shortArguments is how many arguments shortAppend has, the first of plainAppend.
	shortArguments = 9

	plainAppend = setHead + `, queued = queued - cardinality($10::bigint[]) + $11::int` + ofHead + `
		AND first <= $18 AND ($12 = 0 OR $11 = 0 OR queued - cardinality($10::bigint[]) < $12)
		AND cardinality($10::bigint[]) = (SELECT count(*) FROM inbox WHERE pod = $1 AND seq = ANY ($10))
		AND NOT EXISTS (SELECT FROM requests WHERE pod = $1 AND id = $13)` + storeEntries + `, d AS (
	DELETE FROM inbox USING h WHERE pod = $1 AND seq = ANY ($10)
), q AS (
	INSERT INTO inbox SELECT $1, $4 + 1 FROM h WHERE $11 = 1
), a AS (
	INSERT INTO requests SELECT $1, $13, $4 + 1, $14, $15 FROM h WHERE $13 IS NOT NULL
), f AS (
	DELETE FROM requests r USING h WHERE $13 IS NOT NULL AND r.pod = $1 AND r.seq <= (
		SELECT seq FROM requests WHERE pod = $1 ORDER BY seq DESC OFFSET $16 LIMIT 1)
), b AS (
	INSERT INTO bases SELECT $1, $18, $17 FROM h WHERE $17::bytea IS NOT NULL
	ON CONFLICT (pod) DO UPDATE SET seq = excluded.seq, fold = excluded.fold
)` + storedLast
)

// noBase stands for the sequence of a missing base: any log may have it.
const noBase = 1<<63 - 1

// statement is the one that writes a plain batch, with its arguments.
func (c *appending) statement(w *writer) (sql string, args []any) {
	args = c.arguments(w)
	if c.Admit == nil && c.Base == nil && !c.Enqueue && len(c.Dequeue) == 0 {
		return shortAppend, args[:shortArguments]
	}
	return plainAppend, args
}

// arguments are those of plainAppend.
func (c *appending) arguments(w *writer) []any {
	active, nanos := c.activity()
	enqueue := 0
	if c.Enqueue {
		enqueue = 1
	}
	var request *string
	var digest []byte
	queued := false
	if c.Admit != nil {
		request, digest, queued = &c.Admit.ID, c.Admit.Digest[:], c.Admit.Queued
	}
	base := int64(noBase)
	if c.Base != nil {
		base = int64(c.Base.Seq)
	}
	dequeue := make([]int64, len(c.Dequeue))
	for i, seq := range c.Dequeue {
		dequeue[i] = int64(seq)
	}
	return []any{c.Pod, int64(c.Epoch), w.fence, int64(w.last), c.id, c.records(w.last), c.status, active, nanos, dequeue, enqueue,
		c.InboxLimit, request, digest, queued, store.RequestsKept - 1, c.base, base}
}

// tryPlain writes the batch with one statement; ok is false if nothing was written.
func (s *Store) tryPlain(ctx context.Context, w *writer, c *appending) (ok bool, err error) {
	if w.last < 0 || !c.plain() || c.Base != nil && c.Base.Seq > w.last+item.Seq(len(c.Entries)) {
		return false, nil
	}
	conn, err := s.conn(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Release()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerWithin)
	defer cancel()
	defer s.count(time.Now())
	var last item.Seq
	sql, args := c.statement(w)
	err = conn.QueryRow(ctx, sql, args...).Scan(&last)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return err == nil, answered(err)
}

// careful writes the batch step by step, or finds why it is refused.
func (c *appending) careful(ctx context.Context, tx pgx.Tx, w *writer) error {
	w.last = -1
	if err := c.lock(ctx, tx); err != nil {
		return err
	}
	h, err := lockHead(ctx, tx, c.Pod)
	if err != nil {
		return err
	}
	if c.Epoch != h.epoch || h.epoch == 0 && c.Create == nil {
		return rules.Stale(c.Pod, h.epoch, c.Epoch)
	}
	if known, err := c.checkRequest(ctx, tx); known || err != nil {
		return err
	}
	if err := c.check(ctx, tx, h); err != nil {
		return err
	}
	if err := c.raise(ctx, tx); err != nil {
		return err
	}
	if err := c.write(ctx, tx, h); err != nil {
		return err
	}
	w.last, w.fence = h.last+item.Seq(len(c.Entries)), h.fence
	return nil
}

// lock takes the locks that come before that of the head.
func (c *appending) lock(ctx context.Context, tx pgx.Tx) error {
	if len(c.images) > 0 {
		// This keeps images from being removed meanwhile.
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock_shared($1)", int64(lockPods)); err != nil {
			return err
		}
	}
	for _, e := range c.Entries {
		if _, ok := e.Kind.(item.AlertRaised); ok {
			return lockAlerts(ctx, tx)
		}
	}
	return nil
}

// checkRequest says whether the request was admitted before.
func (c *appending) checkRequest(ctx context.Context, tx pgx.Tx) (known bool, err error) {
	if c.Admit == nil {
		return false, nil
	}
	first, known, err := scanRequest(c.Admit.ID, tx.QueryRow(ctx, oneRequest, c.Pod, c.Admit.ID))
	if err != nil || !known {
		return false, err
	}
	if first.Digest != c.Admit.Digest {
		return true, rules.Request(c.Admit.ID, first.Seq)
	}
	c.out = store.Appended{Duplicate: &first}
	return true, nil
}

// check refuses what the log, the images or the inbox do not allow.
func (c *appending) check(ctx context.Context, tx pgx.Tx, h *head) error {
	for _, e := range c.Entries {
		if k, ok := e.Kind.(item.Rewind); ok {
			if _, err := checkPast(ctx, tx, c.Pod, h, k.To); err != nil {
				return err
			}
		}
	}
	if last := h.last + item.Seq(len(c.Entries)); c.Base != nil && (c.Base.Seq < h.first || c.Base.Seq > last) {
		return rules.Base(c.Pod, c.Base.Seq, h.first, last)
	}
	if err := c.checkImages(ctx, tx); err != nil {
		return err
	}
	return c.checkInbox(ctx, tx, h)
}

func (c *appending) checkInbox(ctx context.Context, tx pgx.Tx, h *head) error {
	removed := make(map[item.Seq]bool, len(c.Dequeue))
	for _, seq := range c.Dequeue {
		var waits bool
		if err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM inbox WHERE pod = $1 AND seq = $2)", c.Pod, int64(seq)).Scan(&waits); err != nil {
			return err
		}
		if removed[seq] || !waits {
			return rules.Unqueued(c.Pod, seq)
		}
		removed[seq] = true
	}
	if waiting := h.queued - len(removed); c.Enqueue && c.InboxLimit > 0 && waiting >= c.InboxLimit {
		return rules.Full(c.Pod, waiting)
	}
	return nil
}

// checkImages refuses images that the store does not get, and those of a pod that has enough.
func (c *appending) checkImages(ctx context.Context, tx pgx.Tx) error {
	if len(c.images) == 0 {
		return nil
	}
	own := make(map[string]int64)
	rows, err := tx.Query(ctx, "SELECT DISTINCT i.digest, length(i.data) FROM image_uses u JOIN images i ON i.digest = u.digest WHERE u.log = $1", c.Pod)
	if err != nil {
		return err
	}
	var key []byte
	var size, total, added int64
	if _, err := pgx.ForEachRow(rows, []any{&key, &size}, func() error {
		own[string(key)] = size
		total += size
		return nil
	}); err != nil {
		return err
	}
	for _, p := range c.images {
		size := int64(len(p.Data))
		if p.Data == nil {
			err := tx.QueryRow(ctx, "SELECT length(data) FROM images WHERE digest = $1", p.Key).Scan(&size)
			if errors.Is(err, pgx.ErrNoRows) {
				return rules.Batch("the image %x is missing", p.Key)
			}
			if err != nil {
				return err
			}
		}
		if _, known := own[string(p.Key)]; !known {
			own[string(p.Key)] = size
			added += size
		}
	}
	if c.ImageLimit > 0 && added > 0 && total+added > c.ImageLimit {
		return rules.Images(c.Pod, c.ImageLimit)
	}
	return nil
}

// raise stores the alerts of the batch across pods and drafts their entries again, with the
// sequences of the alerts.
func (c *appending) raise(ctx context.Context, tx pgx.Tx) error {
	c.out = store.Appended{}
	for i, e := range c.Entries {
		raised, ok := e.Kind.(item.AlertRaised)
		if !ok {
			continue
		}
		a := raised.Alert
		a.Pod = c.Pod
		if a.Time.IsZero() {
			a.Time = e.Time
		}
		a, err := storeAlert(ctx, tx, a)
		if err != nil {
			return err
		}
		c.out.Alerts = append(c.out.Alerts, a)
		e.Kind = item.AlertRaised{Alert: a}
		body, err := wire.EncodeEntry(e)
		if err != nil {
			return err
		}
		c.drafts[i] = wire.NewDraft(c.Pod, body)
	}
	return nil
}

// write writes what check allowed.
func (c *appending) write(ctx context.Context, tx pgx.Tx, h *head) error {
	first := int64(h.last + 1)
	b := &pgx.Batch{}
	for i, value := range c.records(h.last) {
		b.Queue("INSERT INTO entries (log, seq, record) VALUES ($1, $2, $3)", c.Pod, first+int64(i), value)
	}
	for _, p := range c.images {
		if p.Data != nil {
			b.Queue("INSERT INTO images (digest, data) VALUES ($1, $2) ON CONFLICT DO NOTHING", p.Key, p.Data)
		}
		b.Queue("INSERT INTO image_uses (log, seq, digest) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", c.Pod, first+int64(p.Entry), p.Key)
	}
	queued := h.queued - len(c.Dequeue)
	for _, seq := range c.Dequeue {
		b.Queue("DELETE FROM inbox WHERE pod = $1 AND seq = $2", c.Pod, int64(seq))
	}
	if c.Enqueue {
		queued++
		b.Queue("INSERT INTO inbox (pod, seq) VALUES ($1, $2)", c.Pod, first)
	}
	if c.Admit != nil {
		b.Queue("INSERT INTO requests (pod, id, seq, digest, queued) VALUES ($1, $2, $3, $4, $5)", c.Pod, c.Admit.ID, first, c.Admit.Digest[:], c.Admit.Queued)
		b.Queue("DELETE FROM requests WHERE pod = $1 AND seq <= (SELECT seq FROM requests WHERE pod = $1 ORDER BY seq DESC OFFSET $2 LIMIT 1)", c.Pod, store.RequestsKept)
	}
	if c.Base != nil {
		b.Queue("INSERT INTO bases (pod, seq, fold) VALUES ($1, $2, $3) ON CONFLICT (pod) DO UPDATE SET seq = excluded.seq, fold = excluded.fold", c.Pod, int64(c.Base.Seq), c.base)
	}
	for _, e := range c.Entries {
		if k, ok := e.Kind.(item.Rewind); ok {
			b.Queue("DELETE FROM bases WHERE pod = $1 AND seq > $2", c.Pod, int64(k.To))
		}
	}
	active, nanos := c.activity()
	b.Queue(`UPDATE heads SET last = $2, batch = $3, status = coalesce($4, status), active = coalesce($5, active),
		active_nanos = coalesce($6, active_nanos), queued = $7 WHERE pod = $1`,
		c.Pod, int64(h.last)+int64(len(c.Entries)), c.id, c.status, active, nanos, queued)
	return tx.SendBatch(ctx, b).Close()
}
