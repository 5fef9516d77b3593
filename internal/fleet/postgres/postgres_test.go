package postgres_test

import (
	"path/filepath"
	"strings"
	"testing"

	"podd/internal/fleet/postgres"
	"podd/pkg/store"
	"podd/pkg/store/storetest"

	"github.com/jackc/pgx/v5"
)

// inSchema is the URL of a schema of its own, created if need be.
func inSchema(t testing.TB, name string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	name = strings.ToLower(strings.NewReplacer("-", "_", "/", "_").Replace(name))
	if _, err := conn.Exec(t.Context(), "CREATE SCHEMA IF NOT EXISTS "+pgx.Identifier{name}.Sanitize()); err != nil {
		t.Fatal(err)
	}
	return server.URL() + "&search_path=" + name + "&statement_timeout=60s&lock_timeout=60s&idle_in_transaction_session_timeout=60s"
}

func TestConformance(t *testing.T) {
	needServer(t)
	storetest.Run(t, func(dir string) (store.Store, error) {
		return postgres.Open(t.Context(), postgres.Config{URL: inSchema(t, filepath.Base(dir))})
	})
}
