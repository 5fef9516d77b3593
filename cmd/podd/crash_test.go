package main

import (
	"errors"
	"os"
	"strconv"
	"testing"

	"podd/internal/testing/crash"
	"podd/internal/testing/pgtest"
)

// A podd that ends in any way loses nothing and repeats nothing. This is the short form
// of `make crash`, which sets PODD_CRASH_KILLS.
func TestCrash(t *testing.T) {
	t.Parallel()
	crashes(t, false)
}

// The same with the pods in a PostgreSQL database, which ends too, and whose connections break.
func TestCrashOnPostgres(t *testing.T) {
	t.Parallel()
	crashes(t, true)
}

func crashes(t *testing.T, onPostgres bool) {
	t.Helper()
	c := crash.Config{
		Command:  crash.Command{Argv: []string{os.Args[0]}, Env: []string{runAsPodd + "=1", "GORACE=exitcode=99 atexit_sleep_ms=0"}},
		Postgres: onPostgres,
		Kills:    12, Short: true, Seed: 1, Only: os.Getenv("PODD_CRASH_ONLY"), Out: t.Output(),
	}
	if testing.Short() {
		c.Kills = 2
	}
	if n, err := strconv.Atoi(os.Getenv("PODD_CRASH_KILLS")); err == nil {
		c.Kills, c.Short = n, false
	}
	if n, err := strconv.ParseUint(os.Getenv("PODD_CRASH_SEED"), 10, 64); err == nil {
		c.Seed = n
	}
	var err error
	// Not t.TempDir: a failed round stays, and a socket's path has to be short.
	if c.Dir, err = os.MkdirTemp("", "podd-crash"); err != nil { //nolint:usetesting // See above.
		t.Fatal(err)
	}
	err = crash.Run(t.Context(), c)
	if errors.Is(err, pgtest.ErrMissing) && c.Short {
		t.Skip(err)
	}
	if err != nil {
		t.Fatalf("%v; the rounds that failed are in %s", err, c.Dir)
	}
	_ = os.RemoveAll(c.Dir)
}
