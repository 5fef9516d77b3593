package postgres_test

import (
	crand "crypto/rand"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"podd/internal/fleet/postgres"
	"podd/pkg/item"
	"podd/pkg/store"
)

const team = "TEAM:/mnt/team"

// looks collects what the looks of a node found.
type looks struct {
	mu    sync.Mutex
	taken []string
	took  map[string]int
	more  chan struct{}
}

func (l *looks) looked(look postgres.Look) {
	l.mu.Lock()
	l.taken = append(l.taken, look.Taken...)
	if look.Took != nil {
		l.took = look.Took
	}
	l.mu.Unlock()
	select {
	case l.more <- struct{}{}:
	default:
	}
}

// await awaits looks that found what is wanted.
func (l *looks) await(t *testing.T, want func() bool) {
	t.Helper()
	for {
		l.mu.Lock()
		ok := want()
		l.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-l.more:
		case <-time.After(time.Minute):
			l.mu.Lock()
			defer l.mu.Unlock()
			t.Fatalf("what a look had to find did not come in a minute: took over %v, %v", l.taken, l.took)
		}
	}
}

// joinTeam opens a store as a node with a shared directory.
func joinTeam(t *testing.T, url, name string, l *looks) *postgres.Store {
	t.Helper()
	s := open(t, postgres.Config{URL: url, Node: "id-" + name})
	c := node(name, nil)
	c.Shares = []string{team}
	if l != nil {
		l.more, c.Looked = make(chan struct{}, 1), l.looked
	}
	if err := s.Membership.Join(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return s
}

// createIn creates a pod in a directory.
func createIn(t *testing.T, s store.Store, pod, dir, parent string) {
	t.Helper()
	if err := s.CreatePod(t.Context(), item.Pod{ID: pod, Name: "the-" + pod, Spec: item.PodSpec{Dir: dir, Parent: parent}}); err != nil {
		t.Fatal(err)
	}
}

// A node that stops renewing its lease loses its movable families, and only those, to one that has
// the shared directory: what it writes late is refused, and its run is over.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	needServer(t)
	url := inSchema(t, crand.Text())
	ctx := t.Context()
	a := joinTeam(t, url, "a", nil)
	createIn(t, a, "p", "/mnt/team/p", "")
	createIn(t, a, "sub", "/mnt/team/p/sub", "p")
	createIn(t, a, "subsub", "/mnt/team/p", "sub")
	createIn(t, a, "stays", "/mnt/teams", "")
	createIn(t, a, "mixed", "/mnt/team", "")
	createIn(t, a, "outside", "/srv", "mixed")
	createIn(t, a, "gone", "/srv", "p")
	if err := a.TrashPods(ctx, []string{"gone"}, time.Now()); err != nil {
		t.Fatal(err)
	}
	epoch, err := a.Claim(ctx, "sub")
	if err != nil {
		t.Fatal(err)
	}
	listed, err := a.Pods(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range listed {
		alone, err := a.Pod(ctx, p.ID)
		if want := slices.Contains([]string{"p", "sub", "subsub"}, p.ID); err != nil || p.Movable != want || alone.Movable != want {
			t.Errorf("pod %s is movable: %v in the list, %v alone, %v; want %v", p.ID, p.Movable, alone.Movable, err, want)
		}
	}
	a.Freeze()
	var seen looks
	b := joinTeam(t, url, "b", &seen)
	seen.await(t, func() bool { return seen.took != nil })
	if slices.Sort(seen.taken); fmt.Sprint(seen.taken) != "[p sub subsub]" || fmt.Sprint(seen.took) != "map[a:3]" {
		t.Errorf("b took %v, %v", seen.taken, seen.took)
	}
	for _, pod := range []string{"stays", "mixed", "outside"} {
		if p, err := b.Pod(ctx, pod); err != nil || p.Node != "a" {
			t.Errorf("pod %s is at %q, %v", pod, p.Node, err)
		}
	}
	_, err = a.Append(ctx, one("sub", epoch))
	wantReason(t, "a late Append", err, store.ReasonStaleEpoch)
	wantReason(t, "a late Claim", func() error { _, err := a.Claim(ctx, "p"); return err }(), store.ReasonNotOwner)
	wantReason(t, "a late renewal", a.Renew(ctx), store.ReasonHeld)
	if _, err := b.Claim(ctx, "p"); err != nil {
		t.Error(err)
	}
	if err := b.RestorePod(ctx, "gone", "gone"); err != nil {
		t.Errorf("the pod of the trash did not move with its family: %v", err)
	}
}

// A node gives up the movable families that are not busy while another one can take them, and that
// one does. It keeps pods that no other node can take.
func TestRelease(t *testing.T) {
	needServer(t)
	url := inSchema(t, crand.Text())
	ctx := t.Context()
	a := joinTeam(t, url, "a", nil)
	createIn(t, a, "p", "/mnt/team/p", "")
	createIn(t, a, "busy", "/mnt/team/q", "")
	createIn(t, a, "sub", "/mnt/team/q", "busy")
	createIn(t, a, "stays", "/srv", "")
	a.Membership.Leave()
	release := func(busy ...string) string {
		t.Helper()
		given, err := a.Membership.Release(ctx, busy)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(given)
		return fmt.Sprint(given)
	}
	if given := release(); given != "[]" {
		t.Errorf("a gave up %s although no other node has the directory", given)
	}
	var seen looks
	b := joinTeam(t, url, "b", &seen)
	if given := release("sub"); given != "[p]" {
		t.Errorf("a gave up %s, want p", given)
	}
	seen.await(t, func() bool { return len(seen.taken) == 1 })
	if _, err := b.Claim(ctx, "p"); err != nil {
		t.Error(err)
	}
	if at, err := a.Membership.Locate(ctx, "busy"); err != nil || !at.Here || !at.Heir {
		t.Errorf("pod busy: %+v, %v", at, err)
	}
	if given := release(); given != "[busy sub]" {
		t.Errorf("a gave up %s, want busy and sub", given)
	}
	seen.await(t, func() bool { return len(seen.taken) == 3 })
	if seen.took != nil {
		t.Errorf("b tells of a as away: %v", seen.took)
	}
	if at, err := b.Membership.Locate(ctx, "stays"); err != nil || at.Name != "a" || at.Heir {
		t.Errorf("pod stays: %+v, %v", at, err)
	}
}

// A node that was stopped or removed before it gave its pods up loses them too, and a pod that is
// moved by hand is movable if its next node says so.
func TestTakeOverWithoutRelease(t *testing.T) {
	needServer(t)
	url := inSchema(t, crand.Text())
	ctx := t.Context()
	var seen looks
	a, b, c := joinTeam(t, url, "a", nil), joinTeam(t, url, "b", &seen), join(t, url, "c", nil)
	createIn(t, a, "p", "/mnt/team/p", "")
	createIn(t, a, "q", "/mnt/team/q", "")
	p, err := a.Pod(ctx, "q")
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Membership.HandOver(ctx, []item.Pod{p}, "c"); err != nil {
		t.Fatal(err)
	}
	if q, err := c.Pod(ctx, "q"); err != nil || q.Movable || q.Node != "c" {
		t.Errorf("pod q at a node without the directory: %+v, %v", q, err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	seen.await(t, func() bool { return len(seen.taken) == 1 })
	b.Membership.Leave()
	createIn(t, b, "r", "/mnt/team/r", "")
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if err := c.Membership.RemoveNode(ctx, "b", false); err != nil {
		t.Errorf("removing a node whose pods can move: %v", err)
	}
	if at, err := c.Membership.Locate(ctx, "p"); err != nil || at.Name != "" || at.Heir {
		t.Errorf("a pod that no node can take: %+v, %v", at, err)
	}
	var last looks
	joinTeam(t, url, "d", &last)
	last.await(t, func() bool { return len(last.taken) == 2 })
	if _, err = c.Membership.Locate(ctx, "p"); err != nil {
		t.Error(err)
	}
}

// A database of the first version becomes one of the newest, in which families are known.
func TestMigrate(t *testing.T) {
	needServer(t)
	schema := strings.ToLower(crand.Text())
	url := inSchema(t, schema)
	ctx := t.Context()
	first := join(t, url, "a", nil)
	createIn(t, first, "p", "/mnt/team/p", "")
	createIn(t, first, "sub", "/mnt/team/p", "p")
	_ = first.Close()
	conn := connect(t, url)
	columns := func() (all string) {
		t.Helper()
		err := conn.QueryRow(ctx, `SELECT string_agg(concat_ws(' ', table_name, column_name, data_type, column_default, is_nullable, collation_name), ', ' ORDER BY table_name, column_name)
			FROM information_schema.columns WHERE table_schema = $1`, schema).Scan(&all)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	want := columns()
	if _, err := conn.Exec(ctx, `ALTER TABLE heads DROP COLUMN share, DROP COLUMN root; ALTER TABLE nodes DROP COLUMN shares; UPDATE meta SET version = 1`); err != nil {
		t.Fatal(err)
	}
	a := joinTeam(t, url, "a", nil)
	if got := columns(); got != want {
		t.Errorf("the columns are %s, want %s", got, want)
	}
	var roots string
	if err := conn.QueryRow(ctx, "SELECT string_agg(pod || ':' || root || ':' || share, ' ' ORDER BY pod) FROM heads").Scan(&roots); err != nil || roots != "p:p:"+team+" sub:p:"+team {
		t.Errorf("the heads: %s, %v", roots, err)
	}
	_ = a.Close()
	other := open(t, postgres.Config{URL: url, Node: "id-a"})
	c := node("a", nil)
	c.Shares = []string{"OTHER:/mnt/team"}
	wantReason(t, "another directory at the same path", other.Membership.Join(ctx, c), "SHARE_CHANGED")
}

// A node that is asked about a pod without a node takes it over at once, if it has its directory.
func TestTakeOverWhenAsked(t *testing.T) {
	needServer(t)
	postgres.LookSeldom(t)
	url := inSchema(t, crand.Text())
	ctx := t.Context()
	var seen looks
	b := joinTeam(t, url, "b", &seen)
	a := joinTeam(t, url, "a", nil)
	createIn(t, a, "p", "/mnt/team/p", "")
	given, err := a.Membership.Release(ctx, nil)
	if err != nil || !slices.Equal(given, []string{"p"}) {
		t.Fatalf("a released %v, %v", given, err)
	}
	_, err = b.Membership.Locate(ctx, "the-p")
	wantReason(t, "Locate at b", err, store.ReasonMoving)
	seen.await(t, func() bool { return slices.Equal(seen.taken, []string{"p"}) })
	if at, err := b.Membership.Locate(ctx, "the-p"); err != nil || !at.Here {
		t.Errorf("p is at %+v, %v", at, err)
	}
}
