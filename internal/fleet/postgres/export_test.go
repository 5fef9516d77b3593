package postgres

import (
	"context"
	"testing"
	"time"

	"podd/pkg/store"
)

// Patient lets the stores of the tests wait for their server on a machine that stands still for a while.
func Patient() { answerWithin = time.Minute }

// LockAgain takes the lock as after a broken connection of which the server knows nothing: the
// connection that has it stays open, but is not looked at any more.
func (s *Store) LockAgain(ctx context.Context) error {
	m := s.Membership
	m.cancel()
	m.done.Wait()
	// The server needs a moment to see that the connection before is closed.
	first, err := m.lockWithin(ctx, time.Minute)
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

// LookSeldom makes nodes that join look at the others only when they are asked about a pod, until
// the test ends.
func LookSeldom(t *testing.T) {
	was := lookFast
	lookFast = time.Hour
	t.Cleanup(func() { lookFast = was })
}

// Fence ends the run of a node whose lease lasts: the clock of the database was ahead when it was
// renewed.
func (s *Store) Fence(ctx context.Context, name string) error {
	_, err := s.pool.Exec(ctx, "UPDATE nodes SET start = '', lease_until = clock_timestamp() + '1 hour' WHERE name = $1", name)
	return err
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

// Writers counts the logs whose ends the store knows.
func (s *Store) Writers() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.writers)
}

// Late begins a plain append whose statement is still on its way: send sends it, and settle finds out
// meanwhile whether it was written.
func (s *Store) Late(ctx context.Context, b store.Batch) (settle, send func() (written bool, err error), err error) {
	c, err := newAppend(b)
	if err != nil {
		return nil, nil, err
	}
	w := *s.writerOf(b.Pod)
	sql, args := c.statement(&w)
	settle = func() (bool, error) { return s.outcome(ctx, s.writerOf(b.Pod), c) }
	send = func() (bool, error) {
		tag, err := s.pool.Exec(ctx, sql, args...)
		return tag.RowsAffected() > 0, err
	}
	return settle, send, nil
}

// EndListeners ends the connections of all nodes that listen.
func (s *Store) EndListeners(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE query = 'SELECT last FROM alert_head' AND pid <> pg_backend_pid()`)
	return err
}

// ReadNotice reads the text of a notice.
var ReadNotice = readNotice
