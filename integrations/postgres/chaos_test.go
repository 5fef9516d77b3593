//go:build integrations

package postgres

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"podd/integrations/rig"
	"podd/internal/testing/certs"
	"podd/internal/testing/crash"
)

// Three podd share a PostgreSQL while all of them fail, and lose and repeat nothing. This is the
// short form of `make chaos`, which sets PODD_CHAOS_FAULTS.
func TestChaos(t *testing.T) {
	for _, program := range []string{"git", "bwrap"} {
		rig.Need(t, program)
	}
	ca := certs.New(t)
	c := crash.NodesConfig{
		Command: crash.Command{Argv: []string{filepath.Join(rig.Binaries(t), "podd")}, Env: rig.Races(t)},
		Certificates: func(name string) [3]string {
			return ca.Valid(name, time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour))
		},
		Faults: 20, Seed: 1, Out: t.Output(),
	}
	if n, err := strconv.Atoi(os.Getenv("PODD_CHAOS_FAULTS")); err == nil {
		c.Faults = n
	}
	if n, err := strconv.Atoi(os.Getenv("PODD_CHAOS_ROUND")); err == nil {
		c.Most = n
	}
	if n, err := strconv.ParseUint(os.Getenv("PODD_CHAOS_SEED"), 10, 64); err == nil {
		c.Seed = n
	}
	var err error
	// Not t.TempDir: a failed round stays, and a socket's path has to be short.
	if c.Dir, err = os.MkdirTemp("", "podd-chaos"); err != nil { //nolint:usetesting // See above.
		t.Fatal(err)
	}
	if err := crash.RunNodes(t.Context(), c); err != nil {
		t.Fatalf("%v; the rounds that failed are in %s", err, c.Dir)
	}
	_ = os.RemoveAll(c.Dir)
}
