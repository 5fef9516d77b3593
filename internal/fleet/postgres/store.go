package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/store/rules"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Store is a store.Store in a PostgreSQL database. Several processes may have it open: the
// last claim of a pod's log wins.
type Store struct {
	*database
	Membership *Membership

	mu      sync.Mutex
	writers map[string]*writer
}

// database is the connections to a database.
type database struct {
	pool *pgxpool.Pool
	log  *slog.Logger
	// where names the server, id the database.
	where, id string
	// node is the id of this podd: that of the places of its pods.
	node string
	// shares are the shared directories of this node, news what it tells the others; Join sets them.
	shares []string
	news   *news
	// leaving ends the waiting for a database that does not answer.
	leaving        <-chan struct{}
	closed         atomic.Bool
	commits, nanos atomic.Int64
}

var _ store.Store = (*Store)(nil)

// Failed is closed once podd can't go on with the database.
func (s *Store) Failed() <-chan struct{} { return s.Membership.failed }

// Where names the server and the database.
func (d *database) Where() string { return d.where }

// Secret is the password of the connections; empty without one.
func (d *database) Secret() string { return d.pool.Config().ConnConfig.Password }

// Counters may be called at any time, also after Close.
func (d *database) Counters() store.Counters {
	return store.Counters{Commits: d.commits.Load(), Time: time.Duration(d.nanos.Load())}
}

// Close waits for calls under way and closes the connections.
func (s *Store) Close() error {
	s.closed.Store(true)
	s.Membership.close()
	s.pool.Close()
	return nil
}

func (d *database) usable() error {
	if d.closed.Load() {
		return rules.Stopping()
	}
	return nil
}

// conn gets a connection. If ctx ends before that, nothing is done.
func (d *database) conn(ctx context.Context) (*pgxpool.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, rules.Unwritten(err)
	}
	if err := d.usable(); err != nil {
		return nil, err
	}
	c, err := d.pool.Acquire(ctx)
	switch {
	case err == nil:
		return c, nil
	case ctx.Err() != nil:
		return nil, rules.Unwritten(ctx.Err())
	case d.usable() != nil:
		return nil, rules.Stopping()
	}
	return nil, d.away(err)
}

// change runs fn in a transaction. Once it has a connection, it no longer ends with ctx: the
// caller must know the outcome.
func (d *database) change(ctx context.Context, fn func(ctx context.Context, tx pgx.Tx) error) error {
	return d.changeWithin(ctx, answerWithin, fn)
}

func (d *database) changeWithin(ctx context.Context, within time.Duration, fn func(ctx context.Context, tx pgx.Tx) error) error {
	c, err := d.conn(ctx)
	if err != nil {
		return err
	}
	defer c.Release()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), within)
	defer cancel()
	tx, err := c.Begin(ctx)
	if err != nil {
		return d.fault(err)
	}
	if err := fn(ctx, tx); err != nil {
		_ = tx.Rollback(ctx)
		return d.fault(err)
	}
	defer d.count(time.Now())
	return d.fault(answered(tx.Commit(ctx)))
}

func (d *database) count(began time.Time) {
	d.commits.Add(1)
	d.nanos.Add(int64(time.Since(began)))
}

// unanswered is the error of a commit whose outcome is not known.
type unanswered struct{ error }

func (u unanswered) Unwrap() error { return u.error }

// answered marks the error of a commit to which the server gave no answer. pgconn.SafeToRetry
// would not do: it also calls an error safe after which the connection broke while the answer
// was read.
func answered(err error) error {
	if _, refused := errors.AsType[*pgconn.PgError](err); err == nil || refused {
		return err
	}
	return unanswered{err}
}

// isUnknown says that an error leaves open whether something was written.
func isUnknown(err error) bool {
	if e, ok := errors.AsType[*item.Error](err); ok {
		err = e.Cause
	}
	_, unknown := errors.AsType[unanswered](err)
	return unknown
}

// changePods is change for what concerns several pods or many records. Such changes wait for
// each other, and may take long.
func (d *database) changePods(ctx context.Context, fn func(ctx context.Context, tx pgx.Tx) error) error {
	err := d.changeWithin(ctx, longWithin, func(ctx context.Context, tx pgx.Tx) error {
		b := &pgx.Batch{}
		b.Queue("SET LOCAL statement_timeout = " + milliseconds(longWithin))
		b.Queue("SET LOCAL lock_timeout = " + milliseconds(longWithin))
		b.Queue("SELECT pg_advisory_xact_lock($1)", int64(lockPods))
		if err := tx.SendBatch(ctx, b).Close(); err != nil {
			return err
		}
		return fn(ctx, tx)
	})
	if err == nil {
		d.news.changed(0)
	}
	return err
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// read runs fn with a connection.
func (d *database) read(ctx context.Context, fn func(ctx context.Context, c *pgxpool.Conn) error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("read from %s: %w", d.where, err)
	}
	c, err := d.conn(ctx)
	if err != nil {
		return err
	}
	defer c.Release()
	within, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	err = fn(within, c)
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("read from %s: %w", d.where, ctx.Err())
	}
	return d.fault(err)
}

// The classes of PostgreSQL's error codes that matter.
const (
	classResources = "53" // disk full, too many connections, out of memory
	diskFull       = "53100"
)

// fault is the error of a call: what it refused, or why the database can't be used.
func (d *database) fault(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*item.Error](err); ok {
		return err
	}
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || passes(pg) {
		return d.away(err)
	}
	if pg.Code == diskFull {
		e := item.Errorf(item.KindExhausted, store.ReasonNoSpace,
			"no space left on the disk of %s, and nothing was written: free some space and try again", d.where)
		e.Cause = err
		return e
	}
	d.log.Error("the database refused a statement", "database", d.where, "code", pg.Code, "error", pg.Message, "detail", pg.Detail)
	e := item.Errorf(item.KindInternal, "INTERNAL", "%s refused a statement (code %s): see podd's log", d.where, pg.Code)
	e.Cause = err
	return e
}

// passes says whether an error is one of the server's situation, not of the statement.
func passes(pg *pgconn.PgError) bool {
	switch pg.Code {
	case "40001", "40P01", "55P03", "57014", "25P03", "25006":
		return true
	}
	class := pg.Code[:min(2, len(pg.Code))]
	return class == "57" || class == "08" || class == classResources && pg.Code != diskFull
}

// away says that the database doesn't answer.
func (d *database) away(err error) error {
	if _, unknown := errors.AsType[unanswered](err); unknown {
		e := item.Errorf(item.KindUnavailable, store.ReasonAway,
			"the database at %s stopped answering before it said whether the change is stored (%s): look, and try again", d.where, oneLine(err))
		e.Cause = err
		return e
	}
	e := item.Errorf(item.KindUnavailable, store.ReasonAway, "the database at %s does not answer (%s): podd tries again", d.where, oneLine(err))
	e.Cause = err
	return e
}

// oneLine is an error of pgx in one line, without the addresses that it tried.
func oneLine(err error) string {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Message
	}
	line := err.Error()
	if i := strings.LastIndexByte(line, '\n'); i >= 0 {
		line = line[i+1:]
	}
	return strings.TrimSpace(line)
}

func port(p uint16) string { return strconv.Itoa(int(p)) }

// isText says whether text can be compared with a column; what cannot is in none.
func isText(text string) bool { return utf8.ValidString(text) && strings.IndexByte(text, 0) < 0 }
