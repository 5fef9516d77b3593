//go:build integrations && linux

package upgrade

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"podd/integrations/rig"
	"podd/internal/testing/certs"
	"podd/internal/testing/crash"
)

// An older podd is replaced while 30 pods work, restarted as podd service restart does, and replaced
// back. Nothing that was acknowledged is lost, nothing runs twice, and clients of both builds go on.
// This is the short form of `make upgrade-test`, which sets the variables.
func TestUpgrades(t *testing.T) {
	for _, program := range []string{"git", "bwrap"} {
		rig.Need(t, program)
	}
	c := crash.Config{
		Command: crash.Command{Env: rig.Races(t)}, Builds: builds(t),
		Upgrades: 3, Seed: seed(t, 1), Out: t.Output(), Dir: dir(t),
	}
	if n, err := strconv.Atoi(os.Getenv("PODD_UPGRADES")); err == nil {
		c.Upgrades = n
	}
	if err := crash.Run(t.Context(), c); err != nil {
		t.Fatalf("%v; the rounds that failed are in %s", err, c.Dir)
	}
	_ = os.RemoveAll(c.Dir)
}

// Three nodes share a PostgreSQL while each restart replaces a node's podd by the other build, so that
// both serve the pods all the time. They are killed, too, and lose their database and connections.
func TestUpgradesOfNodes(t *testing.T) {
	for _, program := range []string{"git", "bwrap"} {
		rig.Need(t, program)
	}
	ca, b := certs.New(t), builds(t)
	podd := func(dir string) crash.Command {
		return crash.Command{Argv: []string{filepath.Join(dir, "podd")}, Env: rig.Races(t)}
	}
	c := crash.NodesConfig{
		Command: podd(b.Newer), Older: podd(b.Older), Faults: 10, Seed: seed(t, 4), Out: t.Output(), Dir: dir(t),
		Certificates: func(name string) [3]string {
			return ca.Valid(name, time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour))
		},
	}
	if n, err := strconv.Atoi(os.Getenv("PODD_UPGRADES")); err == nil {
		c.Faults = n
	}
	if err := crash.RunNodes(t.Context(), c); err != nil {
		t.Fatalf("%v; the rounds that failed are in %s", err, c.Dir)
	}
	_ = os.RemoveAll(c.Dir)
}

// dir is for the rounds. It is not t.TempDir: a failed round stays, and a socket's path has to be
// short.
func dir(t *testing.T) string {
	t.Helper()
	d, err := os.MkdirTemp("", "podd-upgrade") //nolint:usetesting // See above.
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// seed is that of the first round.
func seed(t *testing.T, usual uint64) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(os.Getenv("PODD_UPGRADE_SEED"), 10, 64)
	if err != nil {
		return usual
	}
	return n
}

// builds returns this podd and the podd of commit PODD_UPGRADE_FROM; without that, this one twice.
func builds(t *testing.T) crash.Builds {
	t.Helper()
	b := crash.Builds{Older: rig.Binaries(t), Newer: rig.Binaries(t)}
	from := os.Getenv("PODD_UPGRADE_FROM")
	if from == "" {
		return b
	}
	tree := filepath.Join(t.TempDir(), "tree")
	git := func(args ...string) string {
		return rig.Run(t, exec.Command("git", append([]string{"-C", rig.Root()}, args...)...))
	}
	git("worktree", "add", "--quiet", "--detach", tree, from)
	defer git("worktree", "remove", "--force", tree)
	b.Older = filepath.Join(t.TempDir(), "bin")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", b.Older+string(filepath.Separator), "./cmd/podd", "./cmd/podd-launch", "./cmd/podctl")
	build.Dir = tree
	rig.Run(t, build)
	return b
}
