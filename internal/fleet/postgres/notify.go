package postgres

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"podd/pkg/item"

	"github.com/jackc/pgx/v5"
)

// noticeEvery is the least time between two notices of a node: PostgreSQL commits transactions that notify one after the
// other.
const noticeEvery = 20 * time.Millisecond

// news is what a node has changed since its last notice.
type news struct {
	// alert is the sequence of the last alert that this node raised.
	alert atomic.Int64
	// wake has a token while there is something to tell.
	wake chan struct{}
}

func newNews() *news { return &news{wake: make(chan struct{}, 1)} }

// changed says that something about pods has changed. alert is the sequence of the last alert that was raised, 0 if none
// was; they only grow. A podd that has the database alone has no news.
func (n *news) changed(alert item.Seq) {
	if n == nil {
		return
	}
	for last := n.alert.Load(); last < int64(alert) && !n.alert.CompareAndSwap(last, int64(alert)); {
		last = n.alert.Load()
	}
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// readNotice reads the node of a notice and the last alert that it raised. Nodes of earlier versions also name pods.
func readNotice(text string) (node string, alert item.Seq) {
	var n int64
	_, _ = fmt.Sscan(text, &node, &n)
	return node, item.Seq(n)
}

func (d *database) channel() string { return "podd_" + d.id }

// announce tells the other nodes what this one changes, until ctx ends.
func (m *Membership) announce(ctx context.Context) {
	for {
		select {
		case <-m.news.wake:
		case <-ctx.Done():
			return
		}
		pause := noticeEvery
		if err := m.notify(ctx, fmt.Sprintf("%s %d", m.node, m.news.alert.Load())); err != nil {
			m.news.changed(0)
			pause = lookEvery
		}
		if !sleep(ctx, pause) {
			return
		}
	}
}

// notify does not wait until the notice is on disk: a crash ends the connections that would get it.
func (m *Membership) notify(ctx context.Context, text string) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	_, err := m.pool.Exec(ctx, "SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)", m.channel(), text)
	return err
}

// listener gets the notices of other nodes: something has changed, and this is the last alert, 0 if that is not known.
type listener struct {
	*database
	noticed func(alert item.Seq)
}

// listen gets the notices of other nodes until ctx ends. Each second it says that something may have changed: a notice may
// be lost.
func (l *listener) listen(ctx context.Context) {
	for ok := true; ok; ok = sleep(ctx, lookEvery) {
		err := l.hear(ctx)
		if ctx.Err() == nil {
			l.log.Debug("no connection for the notices of other nodes", "database", l.where, "error", err)
			l.noticed(0)
		}
	}
}

// hear gets notices until the connection breaks.
func (l *listener) hear(ctx context.Context) error {
	conn, err := l.dial(ctx)
	if err != nil {
		return err
	}
	defer closeConn(ctx, conn)
	for {
		// One round makes up for missed notices. The query also checks the connection.
		var last item.Seq
		if err := l.lastAlert(ctx, conn, &last); err != nil {
			return err
		}
		l.noticed(last)
		if err := l.hearFor(ctx, conn, lookEvery); err != nil {
			return err
		}
	}
}

// dial opens a connection that listens.
func (l *listener) dial(ctx context.Context) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, l.pool.Config().ConnConfig)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Exec(ctx, "LISTEN "+pgx.Identifier{l.channel()}.Sanitize()); err != nil {
		closeConn(ctx, conn)
		return nil, err
	}
	return conn, nil
}

func (l *listener) lastAlert(ctx context.Context, conn *pgx.Conn, last *item.Seq) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	return conn.QueryRow(ctx, "SELECT last FROM alert_head").Scan(last)
}

// hearFor gets notices for a time. A wait that ends leaves the connection as it is.
func (l *listener) hearFor(ctx context.Context, conn *pgx.Conn, d time.Duration) error {
	within, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	for {
		got, err := conn.WaitForNotification(within)
		if err != nil && (ctx.Err() != nil || within.Err() == nil || conn.IsClosed()) {
			return err
		}
		if got == nil {
			return nil
		}
		if node, alert := readNotice(got.Payload); node != l.node {
			l.noticed(alert)
		}
	}
}

// sleep waits; false if ctx ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
