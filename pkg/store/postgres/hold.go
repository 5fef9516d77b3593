package postgres

import (
	"context"
	"sync"
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

// hold keeps other podd from the database. The lock lives as long as its connection; if that
// breaks, hold gets another one. Meanwhile another podd may come first, whose claims then
// refuse the writes of this one.
type hold struct {
	cancel context.CancelFunc
	done   sync.WaitGroup
}

// Hold keeps other podd from using the database until Close. If one uses it, the error is
// KindPrecondition, reason STORE_HELD. If another comes first after a broken connection,
// Failed is closed.
func (s *Store) Hold(ctx context.Context) error {
	conn, err := s.lock(ctx, 0)
	if err != nil {
		return err
	}
	keep, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.hold.cancel = cancel
	s.hold.done.Go(func() { s.keep(keep, conn) })
	return nil
}

// lock opens a connection that has the lock. before is the server's process of the connection
// that had it, 0 for none: the server may not know yet that it is broken.
func (d *database) lock(ctx context.Context, before uint32) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, d.pool.Config().ConnConfig)
	if err != nil {
		return nil, d.away(err)
	}
	if before != 0 {
		// The process is still its own only if it has the lock.
		_, err = conn.Exec(ctx, "SELECT pg_terminate_backend(pid, 1000) FROM pg_locks WHERE locktype = 'advisory' AND classid = $1::bigint::oid AND pid = $2",
			int64(lockHold), int32(before))
		if err != nil {
			_ = conn.Close(ctx)
			return nil, d.fault(err)
		}
	}
	var got bool
	err = conn.QueryRow(ctx, "SELECT pg_try_advisory_lock($1, hashtext($2))", int32(lockHold), d.id).Scan(&got)
	if err == nil && got {
		return conn, nil
	}
	_ = conn.Close(ctx)
	if err != nil {
		return nil, d.fault(err)
	}
	return nil, item.Errorf(item.KindPrecondition, store.ReasonHeld, "another podd uses the database at %s: stop it, or set another store.url", d.where)
}

// keep watches the lock until ctx ends.
func (s *Store) keep(ctx context.Context, conn *pgx.Conn) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	pid := conn.PgConn().PID()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			if conn != nil {
				_ = conn.Close(context.WithoutCancel(ctx))
			}
			return
		}
		if conn != nil && alive(ctx, conn) {
			continue
		}
		again, err := s.lock(ctx, pid)
		switch {
		case err == nil:
			pid = again.PgConn().PID()
			s.log.Info("the database answers again", "database", s.where)
		case item.ReasonOf(err) == store.ReasonHeld:
			s.log.Error("another podd took the database over", "database", s.where)
			close(s.failed)
			return
		case conn != nil && ctx.Err() == nil:
			s.log.Warn("the database does not answer", "database", s.where, "error", err)
		}
		conn = again
	}
}

func alive(ctx context.Context, conn *pgx.Conn) bool {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	return conn.Ping(ctx) == nil
}
