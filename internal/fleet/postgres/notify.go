package postgres

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"

	"github.com/jackc/pgx/v5"
)

const (
	// noticeEvery is the least time between two notices of a node: PostgreSQL commits
	// transactions that notify one after the other.
	noticeEvery = 20 * time.Millisecond
	// noticeBytes bounds a notice; PostgreSQL refuses 8,000 bytes.
	noticeBytes = 7900
	// anyPod stands for pods that are too many to name.
	anyPod = "*"
)

// news is what a node has changed since its last notice.
type news struct {
	mu    sync.Mutex
	pods  map[string]struct{}
	alert item.Seq
	// wake has a token while there is something to tell.
	wake chan struct{}
}

func newNews() *news { return &news{pods: make(map[string]struct{}), wake: make(chan struct{}, 1)} }

// changed says that a log has grown, or with an empty pod that something else about pods has
// changed. alert is the sequence of the last alert that was raised, 0 if none was. A podd that has
// the database alone has no news.
func (n *news) changed(pod string, alert item.Seq) {
	if n == nil {
		return
	}
	n.mu.Lock()
	if pod != "" {
		n.pods[pod] = struct{}{}
	}
	n.alert = max(n.alert, alert)
	n.mu.Unlock()
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// take is the text of a notice: its node, the last alert, and pods.
func (n *news) take(node string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var text strings.Builder
	text.WriteString(node + " " + strconv.FormatInt(int64(n.alert), 10))
	short := text.Len()
	for pod := range n.pods {
		text.WriteString(" " + pod)
	}
	n.alert = 0
	clear(n.pods)
	if text.Len() > noticeBytes {
		return text.String()[:short] + " " + anyPod
	}
	return text.String()
}

// readNotice reads what take wrote.
func readNotice(text string) (node string, n store.Notice) {
	node, text, _ = strings.Cut(text, " ")
	last, pods, _ := strings.Cut(text, " ")
	alert, _ := strconv.ParseInt(last, 10, 64)
	n = store.Notice{Pods: strings.Fields(pods), Alert: item.Seq(alert)}
	n.Any = slices.Contains(n.Pods, anyPod)
	return node, n
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
		if err := m.notify(ctx, m.news.take(m.node)); err != nil {
			m.news.changed(anyPod, 0)
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

// listener gets the notices of other nodes.
type listener struct {
	*database
	noticed func(store.Notice)
}

// listen gets the notices of other nodes until ctx ends. Each second, and when it could not listen,
// it says that something may have changed.
func (l *listener) listen(ctx context.Context) {
	for ok := true; ok; ok = sleep(ctx, lookEvery) {
		err := l.hear(ctx)
		if ctx.Err() == nil {
			l.log.Debug("no connection for the notices of other nodes", "database", l.where, "error", err)
			l.noticed(store.Notice{Any: true})
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
	for first := true; ; first = false {
		// The first notice stands for those that were missed. The query also checks the connection.
		last := store.Notice{Any: first}
		if err := l.lastAlert(ctx, conn, &last.Alert); err != nil {
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
		if node, n := readNotice(got.Payload); node != l.node {
			l.noticed(n)
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
