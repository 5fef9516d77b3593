package postgres

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// lookFast is how often a node with shared directories looks at the others.
var lookFast = lookEvery / 5

const (
	// claimMost is how many families a node takes over at one look.
	claimMost = 20
	// waitMost is how many looks a busy node lets pass before it takes pods over.
	waitMost = 5
)

// Look is what a node sees of the others.
type Look struct {
	// Gone are the nodes that stopped answering; one node alone gets each of them.
	Gone []store.Node
	// Taken are the ids of pods that this node has just taken over.
	Taken []string
	// Took counts, by the node that stopped answering, the pods that this one took over, once
	// there are no more.
	Took map[string]int
}

// watching is what a node remembers of the others between two looks; only watch uses it.
type watching struct {
	// seen are the beats of other nodes.
	seen map[string]beatSeen
	// waited counts the looks since pods without a node were seen.
	waited int
	// took is Look.Took so far.
	took map[string]int
}

// beatSeen is a beat, and since when it is the same.
type beatSeen struct {
	beat  int64
	since time.Time
}

// watch looks at the other nodes until ctx ends.
func (m *Membership) watch(ctx context.Context) {
	every := lookEvery
	if len(m.shares) > 0 {
		every = lookFast
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	w := watching{seen: make(map[string]beatSeen), took: make(map[string]int)}
	for {
		select {
		case <-ticker.C:
		case <-m.lease.asked:
			w.waited = waitMost
		case <-ctx.Done():
			return
		}
		look, err := m.look(ctx, &w)
		if err != nil {
			// While the database does not answer, no node can renew its lease.
			clear(w.seen)
		} else if m.lease.Looked != nil {
			m.lease.Looked(look)
		}
	}
}

// other is a row of a node for a look.
type other struct {
	id, start  string
	beat       int64
	over, away bool
	mate       bool // is up, and shares a directory with this node
	running    int
	heritage   bool // is over, and has pods that this node could take over
}

// isOver says that a node does not renew its lease, and was not stopped in order.
const isOver = "lease_until < clock_timestamp() AND lease_until > '-infinity'"

// deadPlaces are the places whose movable pods other nodes may take over.
const deadPlaces = "SELECT '' UNION ALL SELECT id FROM nodes WHERE start = '' OR lease_until = '-infinity'"

// look sees which nodes do not answer, and takes over pods that no node has.
func (m *Membership) look(ctx context.Context, w *watching) (look Look, err error) {
	var all []other
	var orphans bool
	err = m.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		b := &pgx.Batch{}
		b.Queue(`SELECT id, start, beat, `+isOver+`, away, lease_until > clock_timestamp() AND NOT draining AND shares && $1, running,
			CASE WHEN `+isOver+` THEN EXISTS (SELECT FROM heads h WHERE h.place = nodes.id AND `+claimable+`) ELSE false END FROM nodes`, m.shares).Query(func(rows pgx.Rows) (err error) {
			all, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (o other, err error) {
				err = row.Scan(&o.id, &o.start, &o.beat, &o.over, &o.away, &o.mate, &o.running, &o.heritage)
				return o, err
			})
			return err
		})
		b.Queue(orphaned, m.shares).QueryRow(func(row pgx.Row) error { return row.Scan(&orphans) })
		return c.SendBatch(ctx, b).Close()
	})
	if err != nil {
		return look, err
	}
	if look.Gone, err = m.tell(ctx, w.late(all)); err != nil {
		return look, err
	}
	return look, m.inherit(ctx, w, &look, orphans, m.rank(all))
}

// late are the nodes whose lease is over, by the clock of the database and by this one's:
// neither a jump of the clock nor a restart of the database ends a lease.
func (w *watching) late(all []other) []other {
	return slices.DeleteFunc(slices.Clone(all), func(o other) bool {
		was, known := w.seen[o.id]
		if !known || was.beat != o.beat {
			was = beatSeen{o.beat, time.Now()}
			w.seen[o.id] = was
		}
		return !o.over || time.Since(was.since) < leaseFor
	})
}

// rank is how many nodes that share a directory with this one have less to do.
func (m *Membership) rank(all []other) (rank int) {
	i := slices.IndexFunc(all, func(o other) bool { return o.id == m.node })
	for _, o := range all {
		if i >= 0 && o.mate && cmp.Or(cmp.Compare(o.running, all[i].running), strings.Compare(o.id, m.node)) < 0 {
			rank++
		}
	}
	return min(rank, waitMost)
}

// tell marks nodes as away. Of several nodes that see it, one gets those that are gone.
func (m *Membership) tell(ctx context.Context, over []other) (gone []store.Node, err error) {
	for _, o := range over {
		if o.id == m.node || o.away && (o.start == "" || !o.heritage) {
			continue
		}
		n, first, err := m.fence(ctx, o)
		if err != nil {
			return nil, err
		}
		if first {
			gone = append(gone, n)
		}
	}
	return gone, nil
}

// fence marks a node as away, and ends its run if this one can take over its pods: the row's lock
// decides against a late renewal. first says that no other node has marked it.
func (m *Membership) fence(ctx context.Context, o other) (n store.Node, first bool, err error) {
	err = m.change(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if o.heritage {
			if _, err := tx.Exec(ctx, "UPDATE nodes SET start = '' WHERE id = $1 AND beat = $2 AND "+isOver, o.id, o.beat); err != nil {
				return err
			}
		}
		tag, err := tx.Exec(ctx, "UPDATE nodes SET away = true WHERE id = $1 AND beat = $2 AND NOT away AND "+isOver, o.id, o.beat)
		if first = err == nil && tag.RowsAffected() > 0; !first {
			return err
		}
		n, err = scanNode(tx.QueryRow(ctx, nodeRows+" WHERE n.id = $2", m.node, o.id))
		return err
	})
	return n, first, err
}

// inherit takes over pods that no node has. A busy node waits, so that others may come first.
func (m *Membership) inherit(ctx context.Context, w *watching, look *Look, orphans bool, rank int) error {
	if !orphans || m.lease.draining.Load() {
		w.waited = 0
		if len(w.took) > 0 {
			look.Took, w.took = w.took, make(map[string]int)
		}
		return nil
	}
	if w.waited++; w.waited <= rank {
		return nil
	}
	taken, err := m.claim(ctx)
	for from, pods := range taken {
		look.Taken = append(look.Taken, pods...)
		if from != "" {
			w.took[from] += len(pods)
		}
	}
	return err
}

// whole says that all pods of a family, whose root is h, work in the same shared directory.
const whole = "NOT EXISTS (SELECT FROM heads s WHERE s.root = h.root AND s.share <> h.share AND NOT s.trashed)"

// movable says that another node can take h over.
const movable = "h.share <> '' AND " + whole

// movableOfMany is movable for a query of many pods: PostgreSQL then looks once for the families
// of several pods, not once for each pod.
const movableOfMany = "h.share <> '' AND h.root NOT IN (SELECT root FROM heads WHERE NOT trashed " +
	"AND root IN (SELECT root FROM heads WHERE pod <> root) GROUP BY root HAVING min(share) <> max(share))"

// claimable says that h is the root of a family that a node with the shares $1 could take over.
const claimable = "h.pod = h.root AND h.share = ANY ($1) AND " + whole

// orphaned says that a node with the shares $1 could take over a family now. Each look asks, and the
// answer is mostly no: that takes one look into the index for each dead place, however many pods
// there are.
const orphaned = "SELECT CASE WHEN EXISTS (SELECT FROM (" + deadPlaces + ") d (id) WHERE id = (" +
	"SELECT place FROM heads WHERE share <> '' AND place >= d.id ORDER BY place LIMIT 1)) " +
	"THEN EXISTS (SELECT FROM heads h WHERE h.place IN (" + deadPlaces + ") AND " + claimable + ") ELSE false END"

// lives says that this run has a lease, and keeps others from ending it meanwhile.
func (m *Membership) lives(ctx context.Context, tx pgx.Tx) (lives bool, err error) {
	err = tx.QueryRow(ctx, "SELECT lease_until > clock_timestamp() FROM nodes WHERE id = $1 AND start = $2 FOR SHARE", m.node, m.lease.start).Scan(&lives)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return lives, err
}

// claim makes families of pods that no node has those of this one, and returns the pods that are
// not in the trash, by the name of the node that stopped answering; "" for one that was stopped.
func (m *Membership) claim(ctx context.Context) (taken map[string][]string, err error) {
	err = m.changePods(ctx, func(ctx context.Context, tx pgx.Tx) error {
		taken = make(map[string][]string)
		if lives, err := m.lives(ctx, tx); err != nil || !lives {
			return err
		}
		// None of them comes back meanwhile.
		rows, err := tx.Query(ctx, "SELECT id, CASE WHEN start = '' THEN name ELSE '' END FROM nodes WHERE id IN ("+deadPlaces+") AND id <> $1 FOR SHARE", m.node)
		if err != nil {
			return err
		}
		places, names := []string{""}, map[string]string{}
		var id, name string
		if _, err := pgx.ForEachRow(rows, []any{&id, &name}, func() error {
			places, names[id] = append(places, id), name
			return nil
		}); err != nil {
			return err
		}
		rows, err = tx.Query(ctx, `WITH r AS (
			SELECT h.root, h.place FROM heads h WHERE h.place = ANY ($3) AND `+claimable+`
			ORDER BY h.trashed, h.active DESC LIMIT $4 FOR UPDATE SKIP LOCKED
		) UPDATE heads h SET place = $2, epoch = epoch + 1 FROM r WHERE h.root = r.root AND h.place = r.place
		RETURNING h.pod, r.place, h.trashed`, m.shares, m.node, places, claimMost)
		if err != nil {
			return err
		}
		var pod, place string
		var trashed bool
		_, err = pgx.ForEachRow(rows, []any{&pod, &place, &trashed}, func() error {
			if !trashed {
				taken[names[place]] = append(taken[names[place]], pod)
			}
			return nil
		})
		return err
	})
	return taken, err
}

// heirs says that a node that is up can take over h.
const heirs = `EXISTS (SELECT FROM nodes n WHERE n.id <> h.place AND h.share = ANY (n.shares) AND n.start <> ''
	AND n.lease_until > clock_timestamp() AND NOT n.draining)`

// Release gives up the movable families of this node, which stops, for other nodes to take over.
// It keeps those with a busy pod, and those that no other node can take over now. It returns the pods.
func (m *Membership) Release(ctx context.Context, busy []string) (released []string, err error) {
	err = m.change(ctx, func(ctx context.Context, tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `WITH r AS (
			SELECT h.root FROM heads h WHERE h.pod = h.root AND h.place = $1 AND `+movable+` AND `+heirs+`
			AND NOT EXISTS (SELECT FROM heads s WHERE s.root = h.root AND s.pod = ANY ($2)) FOR UPDATE
		) UPDATE heads h SET place = '', epoch = epoch + 1 FROM r WHERE h.root = r.root AND h.place = $1 RETURNING h.pod`,
			m.node, append([]string{}, busy...))
		if err != nil {
			return err
		}
		released, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	if len(released) > 0 {
		m.news.changed(0)
	}
	return released, err
}

// settled is a pod when its node starts, with its share as it was and as it is now.
type settled struct{ id, root, share, now string }

// settle stores which pods of this node are movable, which depends on its configuration, and the
// roots of families that an older podd did not store.
func (m *Membership) settle(ctx context.Context) error {
	return m.changePods(ctx, func(ctx context.Context, tx pgx.Tx) error {
		rows, err := tx.Query(ctx, "SELECT p.id, h.share, h.root, p.record FROM pods p JOIN heads h ON h.pod = p.id WHERE h.place = $1", m.node)
		if err != nil {
			return err
		}
		all, parents := []settled{}, make(map[string]string)
		var s settled
		var record []byte
		_, err = pgx.ForEachRow(rows, []any{&s.id, &s.share, &s.root, &record}, func() error {
			p, _ := openPod(s.id, record) // A damaged one is not movable.
			parents[s.id] = p.Spec.Parent
			s.now = store.ShareOf(m.shares, p.Spec)
			all = append(all, s)
			return checkMounted(s.share, m.shares)
		})
		if err != nil {
			return err
		}
		b := &pgx.Batch{}
		for _, s := range all {
			if root := rootOf(s.id, parents); s.now != s.share || root != s.root {
				b.Queue("UPDATE heads SET share = $2, root = $3 WHERE pod = $1", s.id, s.now, root)
			}
		}
		return tx.SendBatch(ctx, b).Close()
	})
}

// rootOf is the pod at the top of a family of which these parents are known.
func rootOf(pod string, parents map[string]string) string {
	for range parents {
		parent := parents[pod]
		if _, known := parents[parent]; !known {
			break
		}
		pod = parent
	}
	return pod
}

// checkMounted refuses a shared directory in the place of another one, in which a pod works.
func checkMounted(share string, now []string) error {
	_, dir := store.SplitShare(share)
	if dir == "" {
		return nil // The pod works in no shared directory.
	}
	for _, s := range now {
		if id, at := store.SplitShare(s); s != share && at == dir {
			was, _ := store.SplitShare(share)
			return item.Errorf(item.KindPrecondition, "SHARE_CHANGED",
				"%s is not the directory in which pods of this node work: mount that one, or write %s into %s/%s, which has %s", dir, was, dir, store.ShareFile, id)
		}
	}
	return nil
}
