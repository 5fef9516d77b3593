package postgres

import (
	"context"
	"errors"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Copier fills a database. No podd uses it while the Copier has it, nor later if it did not finish.
type Copier struct{ s *Store }

// OpenCopier opens a database, creates missing tables, and keeps podd from using it until Close. It waits
// for a podd that uses it no longer than within. Errors are those of Open and Membership.Hold.
func OpenCopier(ctx context.Context, cfg Config, within time.Duration) (*Copier, error) {
	s, err := connect(ctx, cfg, func(m *meta) error { return m.left() })
	if err != nil {
		return nil, err
	}
	conn, err := s.Membership.lockWithin(ctx, within)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.Membership.keepWith(ctx, conn)
	return &Copier{s}, nil
}

// Where names the server and the database.
func (c *Copier) Where() string { return c.s.Where() }

// Close closes the connections.
func (c *Copier) Close() error { return c.s.Close() }

// State says from where pods are being copied into the database, and whether it has nothing. Without a
// filling, podd may open it.
func (c *Copier) State(ctx context.Context) (filling string, empty bool, err error) {
	err = c.alone(ctx, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, `SELECT coalesce(filled_from, ''), NOT EXISTS (SELECT FROM pods) AND NOT EXISTS (SELECT FROM entries)
			AND NOT EXISTS (SELECT FROM images) AND (SELECT last FROM alert_head) = 0 FROM meta`).Scan(&filling, &empty)
	})
	return filling, empty, err
}

// SetFilling says from where pods are being copied; empty for a database that is complete.
func (c *Copier) SetFilling(ctx context.Context, from string) error {
	return c.alone(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "UPDATE meta SET filled_from = nullif($1, '')", from)
		return err
	})
}

// alone runs fn in a transaction without a limit of time.
func (c *Copier) alone(ctx context.Context, fn func(tx pgx.Tx) error) error {
	conn, err := c.s.conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
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

// usable refuses a database that no podd must open.
func (m *meta) usable() error {
	if m.filling != "" {
		return item.Errorf(item.KindPrecondition, store.ReasonLeft,
			"the copy of %s in the database at %s is incomplete: run podd migrate again", m.filling, m.where)
	}
	return m.left()
}

// left refuses a database whose pods an earlier podd migrated to a file.
func (m *meta) left() error {
	if m.leftFor == "" {
		return nil
	}
	return store.Left("the database at "+m.where, m.leftFor)
}
