package postgres

import (
	"bytes"
	"context"
	"errors"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Copier reads or writes a whole database, also one that no podd may open. No podd writes to it
// while it is held.
type Copier struct{ s *Store }

// OpenCopier opens a database; create makes missing tables. Errors are those of Open.
func OpenCopier(ctx context.Context, cfg Config, create bool) (*Copier, error) {
	s, err := connect(ctx, cfg, func(m *meta) error {
		if m.id == "" && !create {
			return item.Errorf(item.KindNotFound, store.ReasonCannotOpen, "the database has no tables of podd: check store.url, or start podd once")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &Copier{s}, nil
}

// CopierOf reads or writes an open database.
func CopierOf(s *Store) *Copier { return &Copier{s} }

// Hold keeps podd from using the database until Close, as that of Membership, but takes no pods.
func (c *Copier) Hold(ctx context.Context, within time.Duration) error {
	conn, err := c.s.Membership.lockWithin(ctx, within)
	if err == nil {
		c.s.Membership.keepWith(ctx, conn)
	}
	return err
}

// Where names the server and the database.
func (c *Copier) Where() string { return c.s.Where() }

// Close closes the connections.
func (c *Copier) Close() error { return c.s.Close() }

// State is whether podd may open a database.
type State struct {
	// Left is where its pods went, Filling from where they are being copied into it; both are
	// empty for a database that podd may open.
	Left, Filling string
	// Empty says that it has nothing.
	Empty bool
}

// State says whether podd may open the database.
func (c *Copier) State(ctx context.Context) (st State, err error) {
	err = c.alone(ctx, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, `SELECT coalesce(left_for, ''), coalesce(filled_from, ''), NOT EXISTS (SELECT FROM pods) AND NOT EXISTS (SELECT FROM entries)
			AND NOT EXISTS (SELECT FROM images) AND (SELECT last FROM alert_head) = 0 FROM meta`).Scan(&st.Left, &st.Filling, &st.Empty)
	})
	return st, err
}

// SetState changes Left and Filling.
func (c *Copier) SetState(ctx context.Context, st State) error {
	return c.alone(ctx, pgx.TxOptions{}, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "UPDATE meta SET left_for = nullif($1, ''), filled_from = nullif($2, '')", st.Left, st.Filling)
		return err
	})
}

// alone runs fn in a transaction without a limit of time.
func (c *Copier) alone(ctx context.Context, o pgx.TxOptions, fn func(tx pgx.Tx) error) error {
	conn, err := c.s.conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	err = pgx.BeginTxFunc(ctx, conn, o, func(tx pgx.Tx) error {
		const limits = "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL lock_timeout = 0"
		if _, err := tx.Exec(ctx, limits); err != nil {
			return err
		}
		return fn(tx)
	})
	_, pg := errors.AsType[*pgconn.PgError](err)
	_, broken := errors.AsType[*pgconn.ConnectError](err)
	if pg || broken {
		return c.s.fault(err)
	}
	return err
}

// cutPod divides a key that begins with a pod's id.
func cutPod(key []byte) (pod, rest string, ok bool) {
	before, after, ok := bytes.Cut(key, []byte{0})
	return string(before), string(after), ok
}

// usable refuses a database that no podd must open.
func (m *meta) usable(where string) error {
	switch {
	case m.left != "":
		return store.Left("the database at "+where, m.left)
	case m.filling != "":
		return item.Errorf(item.KindPrecondition, store.ReasonLeft,
			"the copy of %s in the database at %s is incomplete: run podd migrate again", m.filling, where)
	}
	return nil
}
