package postgres_test

import (
	"path/filepath"
	"slices"
	"testing"

	"podd/internal/fleet/postgres"
	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/store/storetest"

	"github.com/jackc/pgx/v5"
)

func copier(t *testing.T, url string) *postgres.Copier {
	t.Helper()
	c, err := postgres.OpenCopier(t.Context(), postgres.Config{URL: url}, 0)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// fill copies a file into a database.
func fill(t *testing.T, path, url string) {
	t.Helper()
	c := copier(t, url)
	defer c.Close()
	err := store.ReadFile(path, func(from store.FileRows) error {
		_, err := c.Fill(t.Context(), from)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Whatever a file contains, a copy in a database behaves in the same way.
func TestCopies(t *testing.T) {
	needServer(t)
	for _, c := range storetest.Checks() {
		if c.Name == "Model" || c.Name == "EverythingSurvivesReopening" || c.Name == "AlertsAreFolded" {
			t.Run(c.Name, func(t *testing.T) {
				opened := map[string]int{}
				c.Run(t, func(dir string) (store.Store, error) {
					path, url := filepath.Join(dir, "podd.db"), inSchema(t, filepath.Base(dir))
					switch opened[dir]++; opened[dir] {
					case 1:
						return store.OpenBolt(store.BoltConfig{Path: path})
					case 2:
						fill(t, path, url)
					}
					return postgres.Open(t.Context(), postgres.Config{URL: url})
				})
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
			t.Errorf("the table %s is not copied: add it to Copier.Fill, or to NotCopied", table)
		}
	}
}

// podd refuses a database whose pods are not complete, or went elsewhere.
func TestStateOfADatabase(t *testing.T) {
	needServer(t)
	url := inSchema(t, "state_of")
	c := copier(t, url)
	defer c.Close()
	refused := func(what string) {
		t.Helper()
		if _, err := postgres.Open(t.Context(), postgres.Config{URL: url}); item.ReasonOf(err) != store.ReasonLeft {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := c.SetFilling(t.Context(), "/here"); err != nil {
		t.Fatal(err)
	}
	refused("filling")
	if filling, empty, err := c.State(t.Context()); err != nil || filling != "/here" || !empty {
		t.Errorf("got %q, %v, %v", filling, empty, err)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	leave := func(to string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), "UPDATE meta SET filled_from = NULL, left_for = nullif($1, '')", to); err != nil {
			t.Fatal(err)
		}
	}
	leave("/there") // An earlier podd did so.
	refused("left")
	leave("")
	open(t, postgres.Config{URL: url})
}
