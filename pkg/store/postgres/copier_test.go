package postgres_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/store/postgres"
	"podd/pkg/store/storetest"

	"github.com/jackc/pgx/v5"
)

func copier(t storetest.T, url string) *postgres.Copier {
	t.Helper()
	c, err := postgres.OpenCopier(t.Context(), postgres.Config{URL: url}, true)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// sumOf are the sums of a store.
func sumOf(t storetest.T, read func(func(store.Stored) error) error) (sums map[string]store.Sum) {
	t.Helper()
	err := read(func(from store.Stored) (err error) {
		sums, err = store.SumUp(t.Context(), from)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sums
}

func sameSums(t storetest.T, what string, got, want map[string]store.Sum) {
	t.Helper()
	for _, bucket := range slices.Sorted(maps.Keys(want)) {
		if got[bucket] != want[bucket] {
			t.Errorf("%s: %s has %+v, want %+v", what, bucket, got[bucket], want[bucket])
		}
	}
}

// wandering opens a store that is copied to the other kind, and at random back, each time that
// it is opened. The copies have the same bytes.
type wandering struct {
	t      *testing.T
	inFile map[string]bool
}

func (w *wandering) open(dir string) (store.Store, error) {
	path, url := filepath.Join(dir, "podd.db"), inSchema(w.t, filepath.Base(dir))
	was, known := w.inFile[dir]
	w.inFile[dir] = !was
	switch {
	case !known:
	case was:
		w.toDatabase(path, url)
	default:
		w.toFile(path, url)
		w.toDatabase(path, url)
		w.toFile(path, url)
	}
	if w.inFile[dir] {
		return store.OpenBolt(store.BoltConfig{Path: path})
	}
	return postgres.Open(w.t.Context(), postgres.Config{URL: url})
}

func (w *wandering) toDatabase(path, url string) {
	c := copier(w.t, url)
	defer c.Close()
	read := func(fn func(store.Stored) error) error { return store.ReadFile(path, fn) }
	if err := read(func(from store.Stored) error { return c.Fill(w.t.Context(), from) }); err != nil {
		w.t.Fatal(err)
	}
	snapshot := func(fn func(store.Stored) error) error { return c.Snapshot(w.t.Context(), fn) }
	sameSums(w.t, "the database", sumOf(w.t, snapshot), sumOf(w.t, read))
}

func (w *wandering) toFile(path, url string) {
	c := copier(w.t, url)
	defer c.Close()
	err := c.Snapshot(w.t.Context(), func(from store.Stored) error { return store.WriteFile(w.t.Context(), path, from) })
	if err != nil {
		w.t.Fatal(err)
	}
	_ = os.Remove(filepath.Join(filepath.Dir(path), "podd.id"))
	if found, err := store.CheckFile(w.t.Context(), path, false); err != nil || len(found) > 0 {
		w.t.Errorf("the copy: %v %v", found, err)
	}
	snapshot := func(fn func(store.Stored) error) error { return c.Snapshot(w.t.Context(), fn) }
	sameSums(w.t, "the file", sumOf(w.t, func(fn func(store.Stored) error) error { return store.ReadFile(path, fn) }), sumOf(w.t, snapshot))
}

// Whatever a store contains, and wherever it was before, a copy in a store of the other kind
// has the same bytes and behaves in the same way.
func TestCopies(t *testing.T) {
	needServer(t)
	for _, c := range storetest.Checks() {
		if c.Name == "Model" || c.Name == "EverythingSurvivesReopening" || c.Name == "AlertsAreFolded" {
			t.Run(c.Name, func(t *testing.T) {
				w := &wandering{t: t, inFile: map[string]bool{}}
				c.Run(t, w.open)
			})
		}
	}
}

// Each table of the database is copied, or is known not to be.
func TestCopiesHaveAllTables(t *testing.T) {
	needServer(t)
	schema := "all_tables"
	copier(t, inSchema(t, schema)).Close()
	conn, err := pgx.Connect(t.Context(), server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	rows, err := conn.Query(t.Context(), "SELECT tablename::text FROM pg_tables WHERE schemaname = $1 ORDER BY 1", schema)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range tables {
		if !slices.Contains(postgres.Copied(), table) && !slices.Contains(postgres.NotCopied, table) {
			t.Errorf("the table %s is not copied: add it to Copier.Fill and Snapshot, or to NotCopied", table)
		}
	}
}

// podd refuses a database whose pods went elsewhere, or are not complete.
func TestStateOfADatabase(t *testing.T) {
	needServer(t)
	url := inSchema(t, "state_of")
	c := copier(t, url)
	defer c.Close()
	for _, st := range []postgres.State{{Left: "/there"}, {Filling: "/here"}} {
		if err := c.SetState(t.Context(), st); err != nil {
			t.Fatal(err)
		}
		if _, err := postgres.Open(t.Context(), postgres.Config{URL: url}); item.ReasonOf(err) != store.ReasonLeft {
			t.Errorf("with %+v: %v", st, err)
		}
		st.Empty = true
		if got, err := c.State(t.Context()); err != nil || got != st {
			t.Errorf("got %+v, %v; want %+v", got, err, st)
		}
	}
	if err := c.SetState(t.Context(), postgres.State{}); err != nil {
		t.Fatal(err)
	}
	open(t, postgres.Config{URL: url})
}
