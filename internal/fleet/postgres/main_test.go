package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"podd/internal/fleet/postgres"
	"podd/internal/testing/pgtest"
)

// server is the server of all tests; nil where PostgreSQL is not installed.
var server *pgtest.Server

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	postgres.Patient()
	dir, err := os.MkdirTemp("", "podd-pg")
	if err == nil {
		defer os.RemoveAll(dir)
		server, err = pgtest.Start(context.Background(), dir)
	}
	switch {
	case errors.Is(err, pgtest.ErrMissing):
		server = nil
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if server != nil {
		server.Stop(true)
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// needServer skips a test without PostgreSQL.
func needServer(t testing.TB) {
	t.Helper()
	if server == nil {
		t.Skip(pgtest.ErrMissing)
	}
}
