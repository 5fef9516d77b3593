package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"podd/internal/commands/process"
	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/store/rules"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// leaseFor is how long a lease lasts, by the clock of the database.
	leaseFor = 4 * time.Second
	// joinWithin bounds the wait for the lease of an earlier run on another boot.
	joinWithin = 3 * leaseFor
)

// NodeConfig describes this node to the others.
type NodeConfig struct {
	// Name is unique among the nodes; Address is where they reach this one.
	Name, Address string
	Version       string
	// Config is equal for equal configurations.
	Config string
	// Shares are the shared directories of this node; see store.ShareOf.
	Shares []string
	// Running counts the pods with a running turn.
	Running func() int
	// Renewing, if set, is called before the lease is renewed, and what it returns once it was.
	Renewing func() (renewed func())
	// Fenced, if set, is called before Join ends if others may have pods of an earlier run, before
	// the first renewed.
	Fenced func()
	// Looked, if set, gets what each look at the others found, Noticed what they change. They must not
	// block.
	Looked  func(Look)
	Noticed func(alert item.Seq)
}

// lease is the lease of a node on its pods.
type lease struct {
	NodeConfig
	// start is that of the run.
	start string
	// renewed is when it was renewed.
	renewed  atomic.Pointer[time.Time]
	draining atomic.Bool
	// asked has a token when this node was asked about a pod without a node that it may take over.
	asked chan struct{}
}

var _ store.Shared = (*Membership)(nil)

// Join makes this podd one of several nodes until Close: its pods are those whose place is
// Config.Node. A podd that has the database alone, or a node with the same name, refuses it:
// KindPrecondition, reason STORE_HELD or NODE_TAKEN. If another podd takes its place, Failed
// is closed.
func (m *Membership) Join(ctx context.Context, c NodeConfig) error {
	m.shared = true
	m.lease.NodeConfig, m.lease.start, m.shares = c, rand.Text(), append([]string{}, c.Shares...)
	m.news, m.lease.asked = newNews(), make(chan struct{}, 1)
	conn, err := m.lock(ctx, 0)
	if err != nil {
		return err
	}
	if err := m.register(ctx); err != nil {
		_ = conn.Close(ctx)
		return err
	}
	m.keepWith(ctx, conn)
	if err := m.settle(ctx); err != nil {
		return err
	}
	m.done.Go(func() { m.watch(m.keeping) })
	m.done.Go(func() { m.announce(m.keeping) })
	if c.Noticed != nil {
		l := &listener{m.database, c.Noticed}
		m.done.Go(func() { l.listen(m.keeping) })
	}
	return nil
}

// rival is the lease that keeps a node from taking its own.
type rival struct {
	id, boot string
	beat     int64
	lives    bool
	// fenced says that others may have its pods.
	fenced bool
}

// register begins a lease. One of an earlier run of this boot ends at once, because the lock of
// the state directory proves that the run is over; one of another boot has to run out.
func (m *Membership) register(ctx context.Context) error {
	boot := process.Boot()
	var first *rival
	for ended := time.Now().Add(joinWithin); ; {
		renewed := m.lease.renewing()
		r, fenced, err := m.tryRegister(ctx, boot)
		switch {
		case err != nil:
			return err
		case r == nil:
			if fenced && m.lease.Fenced != nil {
				m.lease.Fenced()
			}
			renewed()
			return nil
		case r.id != m.node:
			return taken("another node of the database is named %s: choose another node.name", m.lease.Name)
		case first != nil && first.beat != r.beat || time.Now().After(ended):
			return taken("node %s already runs on another machine: remove podd.node from this state directory if it is a copy", m.lease.Name)
		}
		first = r
		select {
		case <-time.After(lookEvery / 2):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func taken(format string, args ...any) error {
	return item.Errorf(item.KindPrecondition, "NODE_TAKEN", format, args...)
}

// ask makes the next look take pods over at once, also at a busy node.
func (l *lease) ask() {
	select {
	case l.asked <- struct{}{}:
	default:
	}
}

// renewing is called before a renewal, and what it returns once that has succeeded.
func (l *lease) renewing() (renewed func()) {
	at, tell := time.Now(), func() {}
	if l.Renewing != nil {
		tell = l.Renewing()
	}
	return func() {
		l.renewed.Store(&at)
		tell()
	}
}

func (m *Membership) tryRegister(ctx context.Context, boot string) (in *rival, fenced bool, err error) {
	err = m.change(ctx, func(ctx context.Context, tx pgx.Tx) error {
		var r rival
		in = nil
		err := tx.QueryRow(ctx, `SELECT id, boot, beat, lease_until > clock_timestamp(), start = '' OR lease_until = '-infinity' FROM nodes
			WHERE id = $1 OR name = $2 ORDER BY id = $1 LIMIT 1 FOR UPDATE`, m.node, m.lease.Name).Scan(&r.id, &r.boot, &r.beat, &r.lives, &r.fenced)
		switch {
		case err != nil && !errors.Is(err, pgx.ErrNoRows):
			return err
		case err == nil && (r.id != m.node || r.lives && r.boot != boot):
			in = &r
			return nil
		}
		fenced = err != nil || r.fenced
		c := m.lease.NodeConfig
		b := &pgx.Batch{}
		b.Queue(`INSERT INTO nodes (id, start, boot, name, address, version, config, shares, seen, lease_until)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, clock_timestamp(), clock_timestamp() + $9::interval)
			ON CONFLICT (id) DO UPDATE SET start = excluded.start, boot = excluded.boot, name = excluded.name, address = excluded.address,
				version = excluded.version, config = excluded.config, shares = excluded.shares, seen = excluded.seen,
				lease_until = excluded.lease_until, draining = false, away = false, running = 0, beat = nodes.beat + 1`,
			m.node, m.lease.start, boot, c.Name, c.Address, c.Version, c.Config, m.shares, interval(leaseFor))
		b.Queue("UPDATE heads SET place = $1 WHERE place = '' AND share = ''", m.node)
		return tx.SendBatch(ctx, b).Close()
	})
	return in, fenced, err
}

func interval(d time.Duration) string { return fmt.Sprintf("%d milliseconds", d.Milliseconds()) }

// alone makes this podd the one that has all pods but those of other nodes.
func (m *Membership) alone(ctx context.Context) error {
	return m.change(ctx, func(ctx context.Context, tx pgx.Tx) error {
		b := &pgx.Batch{}
		b.Queue("DELETE FROM nodes WHERE id = $1", m.node)
		b.Queue("UPDATE heads SET place = $1 WHERE place <> $1 AND place NOT IN (SELECT id FROM nodes)", m.node)
		b.Queue("UPDATE heads SET share = '' WHERE share <> '' AND place = $1", m.node)
		return tx.SendBatch(ctx, b).Close()
	})
}

// Leave says that this node is stopping.
func (m *Membership) Leave() { m.lease.draining.Store(true) }

// Lease is how long ago this node renewed its lease.
func (m *Membership) Lease() (age time.Duration, joined bool) {
	at := m.lease.renewed.Load()
	if at == nil {
		return 0, false
	}
	return time.Since(*at), true
}

// end ends the lease of a node that stops in order.
func (m *Membership) end(ctx context.Context, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerWithin)
	defer cancel()
	if m.shared {
		_, _ = conn.Exec(ctx, "UPDATE nodes SET lease_until = '-infinity', draining = true, running = 0 WHERE id = $1 AND start = $2", m.node, m.lease.start)
	}
	_ = conn.Close(ctx)
}

// renew renews the lease.
func (m *Membership) renew(ctx context.Context, conn *pgx.Conn) error {
	running := 0
	if m.lease.Running != nil {
		running = m.lease.Running()
	}
	renewed := m.lease.renewing()
	tag, err := conn.Exec(ctx, `UPDATE nodes SET beat = beat + 1, seen = clock_timestamp(), lease_until = clock_timestamp() + $3::interval,
		running = $4, draining = $5, away = false WHERE id = $1 AND start = $2`,
		m.node, m.lease.start, interval(leaseFor), running, m.lease.draining.Load())
	if err != nil {
		return err
	}
	if tag.RowsAffected() == 0 {
		return item.Errorf(item.KindPrecondition, store.ReasonHeld, "this podd lost its lease: node %s was removed, its pods were moved, or another podd runs as it", m.lease.Name)
	}
	renewed()
	return nil
}

// nodeRows selects nodes; $1 is this one's id.
const nodeRows = `SELECT n.name, n.address, n.version, n.config, n.seen, extract(epoch FROM clock_timestamp() - n.seen)::float8,
	CASE WHEN n.lease_until = '-infinity' THEN 'stopped' WHEN n.start = '' OR n.lease_until < clock_timestamp() THEN 'away'
		WHEN n.draining THEN 'draining' ELSE 'up' END,
	(SELECT count(*) FROM heads WHERE place = n.id AND NOT trashed), (SELECT count(*) FROM heads h WHERE h.place = n.id AND NOT h.trashed AND ` + movable + `),
	n.running, n.id = $1 FROM nodes n`

func scanNode(row pgx.Row) (n store.Node, err error) {
	var age float64
	err = row.Scan(&n.Name, &n.Address, &n.Version, &n.Config, &n.Seen, &age, &n.State, &n.Pods, &n.Movable, &n.Running, &n.Self)
	n.Age = time.Duration(max(0, age) * float64(time.Second))
	n.Seen = n.Seen.UTC()
	return n, err
}

// Nodes returns all nodes.
func (m *Membership) Nodes(ctx context.Context) (all []store.Node, err error) {
	if !m.shared {
		return nil, nil
	}
	err = m.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := c.Query(ctx, nodeRows+" ORDER BY n.name", m.node)
		if err != nil {
			return err
		}
		all, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (store.Node, error) { return scanNode(row) })
		return err
	})
	return all, err
}

// Locate finds the node of a pod.
func (m *Membership) Locate(ctx context.Context, idOrName string) (at store.Place, err error) {
	err = m.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		if !isText(idOrName) {
			return rules.NoPod(idOrName)
		}
		var place, name string
		err := c.QueryRow(ctx, "SELECT h.place, coalesce(p.name, p.id), "+movable+" AND "+heirs+
			" FROM pods p JOIN heads h ON h.pod = p.id WHERE p.id = $1 OR p.name = $1 ORDER BY p.id = $1 DESC LIMIT 1", idOrName).
			Scan(&place, &name, &at.Heir)
		if errors.Is(err, pgx.ErrNoRows) {
			return rules.NoPod(idOrName)
		}
		if at.Here = place == m.node; at.Here || err != nil {
			return err
		}
		at.Node, err = scanNode(c.QueryRow(ctx, nodeRows+" WHERE n.id = $2", m.node, place))
		if errors.Is(err, pgx.ErrNoRows) {
			err = nil
		}
		if err == nil && at.Heir && !at.Answers() {
			m.lease.ask()
			return store.Moving(name, "")
		}
		return err
	})
	return at, err
}

// checkPlace refuses a change of a pod that another node has.
func (d *database) checkPlace(ctx context.Context, tx pgx.Tx, pod, place string) error {
	if place == d.node {
		return nil
	}
	n, err := scanNode(tx.QueryRow(ctx, nodeRows+" WHERE n.id = $2", d.node, place))
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	return store.Elsewhere(pod, n)
}
