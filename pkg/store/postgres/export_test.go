package postgres

import (
	"context"

	"podd/pkg/store"

	"github.com/jackc/pgx/v5"
)

// LockAgain takes the lock as after a broken connection of which the server knows nothing: the
// connection that has it stays open, but is not looked at any more.
func (s *Store) LockAgain(ctx context.Context) error {
	m := s.Membership
	m.cancel()
	m.done.Wait()
	first, err := m.lock(ctx, 0)
	if err != nil {
		return err
	}
	defer first.Close(ctx)
	again, err := m.lock(ctx, first.PgConn().PID())
	if err != nil {
		return err
	}
	m.keepWith(ctx, again)
	return nil
}

// Freeze ends the renewal of the lease, as when podd is frozen.
func (s *Store) Freeze() {
	s.Membership.shared = false // Its lease does not end in order.
	s.Membership.close()
	s.Membership.shared = true
}

// Closing is closed when the node begins to close.
func (s *Store) Closing() <-chan struct{} { return s.Membership.keeping.Done() }

// Renew renews the lease.
func (s *Store) Renew(ctx context.Context) error {
	conn, err := s.Membership.lock(ctx, 0)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	return s.Membership.renew(ctx, conn)
}

// Copied are the tables that Fill fills.
func Copied() []string {
	tables := []string{"lineages", "alert_head"}
	for _, t := range targets {
		tables = append(tables, t.table)
	}
	return tables
}

// NotCopied are tables of which a copy has nothing.
var NotCopied = []string{"meta", "nodes"}

// StoredIn is what a transaction sees.
func StoredIn(ctx context.Context, tx pgx.Tx) store.Stored { return snapshot{ctx, tx} }

// Writers counts the logs whose ends the store knows.
func (s *Store) Writers() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.writers)
}
