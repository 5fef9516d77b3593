package postgres

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"

	"github.com/jackc/pgx/v5"
)

// lockHold is the advisory lock of the podd that uses a database; its second number is that
// of the database's id.
const lockHold = 0x706f6464

// lookEvery is how often the lock is looked at.
const lookEvery = time.Second

// Membership is how podd uses a database: alone, or as one of several nodes. An advisory lock
// keeps the two apart; it lives as long as its connection, and if that breaks, Membership gets
// another one. Meanwhile another podd may come first.
type Membership struct {
	*database
	// failed is closed when another podd has come first; lostTo says so.
	failed chan struct{}
	lostTo atomic.Pointer[error]
	// keeping ends with Close.
	keeping context.Context //nolint:containedctx // That of its goroutines.
	cancel  context.CancelFunc
	done    sync.WaitGroup
	// shared lets other nodes use the database too.
	shared bool
	lease  lease
}

// Hold keeps other podd from using the database until Close. If one still uses it after some
// time, the error is KindPrecondition, reason STORE_HELD: the server may take a while to see
// that a podd was killed. If another comes first after a broken connection, Failed is closed.
//
// The pods of podd that are no nodes become its own.
func (m *Membership) Hold(ctx context.Context, within time.Duration) error {
	conn, err := m.lockWithin(ctx, within)
	if err != nil {
		return err
	}
	if err := m.alone(ctx); err != nil {
		_ = conn.Close(ctx)
		return err
	}
	m.keepWith(ctx, conn)
	return nil
}

// lockWithin is lock, again until some time is over.
func (m *Membership) lockWithin(ctx context.Context, within time.Duration) (*pgx.Conn, error) {
	conn, err := m.lock(ctx, 0)
	for end := time.Now().Add(within); item.ReasonOf(err) == store.ReasonHeld && time.Now().Before(end); {
		m.log.Info("another podd uses the database, or was just killed: waiting for it", "database", m.where, "seconds", int(time.Until(end).Seconds()))
		select {
		case <-time.After(lookEvery):
			conn, err = m.lock(ctx, 0)
		case <-m.leaving:
			return nil, err
		case <-ctx.Done():
			return nil, err
		}
	}
	return conn, err
}

// keepWith keeps the lock that a connection has.
func (m *Membership) keepWith(ctx context.Context, conn *pgx.Conn) {
	m.keeping, m.cancel = context.WithCancel(context.WithoutCancel(ctx))
	m.done.Go(func() { m.keep(m.keeping, conn) })
}

// lock opens a connection that has the lock. before is the server's process of the connection
// that had it, 0 for none: the server may not know yet that it is broken.
func (m *Membership) lock(ctx context.Context, before uint32) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, m.pool.Config().ConnConfig)
	if err != nil {
		return nil, m.away(err)
	}
	if before != 0 {
		// The process is still its own only if it has the lock.
		_, err = conn.Exec(ctx, "SELECT pg_terminate_backend(pid, 3000) FROM pg_locks WHERE locktype = 'advisory' AND classid = $1::bigint::oid AND pid = $2",
			int64(lockHold), int32(before))
		if err != nil {
			_ = conn.Close(ctx)
			return nil, m.fault(err)
		}
	}
	var got bool
	try := "SELECT pg_try_advisory_lock($1, hashtext($2))"
	if m.shared {
		try = "SELECT pg_try_advisory_lock_shared($1, hashtext($2))"
	}
	err = conn.QueryRow(ctx, try, int32(lockHold), m.id).Scan(&got)
	if err == nil && got {
		return conn, nil
	}
	_ = conn.Close(ctx)
	if err != nil {
		return nil, m.fault(err)
	}
	if m.shared {
		return nil, item.Errorf(item.KindPrecondition, store.ReasonHeld, "a podd without node.listen uses the database at %s: stop it, or give it its [node] settings", m.where)
	}
	return nil, item.Errorf(item.KindPrecondition, store.ReasonHeld, "another podd uses the database at %s: stop it, or set another store.url", m.where)
}

// keep watches the lock until ctx ends.
func (m *Membership) keep(ctx context.Context, conn *pgx.Conn) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	pid := conn.PgConn().PID()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			if conn != nil {
				m.end(ctx, conn)
			}
			return
		}
		if conn != nil {
			err := m.beat(ctx, conn)
			if err == nil {
				continue
			}
			lost := m.lost(err)
			if !conn.IsClosed() {
				closeConn(ctx, conn)
			}
			if lost {
				return
			}
		}
		again, err := m.lock(ctx, pid)
		switch {
		case err == nil:
			pid = again.PgConn().PID()
			m.log.Info("the database answers again", "database", m.where)
		case item.ReasonOf(err) == store.ReasonHeld:
			m.fail(err)
			return
		case conn != nil && ctx.Err() == nil:
			m.log.Warn("the database does not answer", "database", m.where, "error", err)
		}
		conn = again
	}
}

func closeConn(ctx context.Context, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookEvery)
	defer cancel()
	_ = conn.Close(ctx)
}

// beat says that the connection is alive, and renews the lease of a node. It does not end with ctx,
// because end needs the connection.
func (m *Membership) beat(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerWithin)
	defer cancel()
	if !m.shared {
		return conn.Ping(ctx)
	}
	return m.renew(ctx, conn)
}

// lost ends the store if another podd has what this one needs.
func (m *Membership) lost(err error) bool {
	if item.ReasonOf(err) != store.ReasonHeld {
		return false
	}
	m.fail(err)
	return true
}

func (m *Membership) fail(err error) {
	m.log.Error("podd lost the database to another podd", "database", m.where, "error", err)
	m.lostTo.Store(&err)
	close(m.failed)
}

// LostTo is why Failed was closed.
func (m *Membership) LostTo() error {
	if err := m.lostTo.Load(); err != nil {
		return *err
	}
	return nil
}

// close ends it.
func (m *Membership) close() {
	if m.cancel != nil {
		m.cancel()
		m.done.Wait()
	}
}
