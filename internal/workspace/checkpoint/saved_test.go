package checkpoint_test

import (
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"podd/internal/workspace/checkpoint"
	"podd/pkg/item"
)

// last is the last checkpoint.
func (d *desk) last() string { return d.line[len(d.line)-1].To }

// begins takes the checkpoint before a command of a turn that runs.
func (d *desk) begins() {
	d.take(checkpoint.Look{})
	d.must(d.w.Follow("pod", d.last(), false))
}

// save writes a file and reports it, as an editor does; it says for how many turns it is a person's.
func (d *desk) save(rel, text string) int {
	d.write(rel, text)
	turns, err := d.stores.Saved(d.t.Context(), d.path(rel), sha256.Sum256([]byte(text)))
	d.must(err)
	return turns
}

// undone takes the agent's changes back, of which there are so many.
func (d *desk) undone(t *testing.T, paths int) {
	t.Helper()
	steps, err := d.w.Steps(d.line)
	d.must(err)
	done, err := d.w.Restore(t.Context(), steps)
	if err != nil || len(done.Paths) != paths || len(done.Conflicts) != 0 {
		t.Errorf("took back %q, conflicts %v, %v; want %d paths", done.Paths, done.Conflicts, err, paths)
	}
}

func (d *desk) has(t *testing.T, rel, want string) {
	t.Helper()
	if data, err := os.ReadFile(d.path(rel)); err != nil || string(data) != want {
		t.Errorf("%s is %q, %v; want %q", rel, data, err, want)
	}
}

func by(line []checkpoint.Mark) (who []item.CheckpointBy) {
	for _, m := range line {
		who = append(who, m.By)
	}
	return who
}

// What a person saves while a command runs stays, also where the command writes over it.
func TestSavedDuringACommand(t *testing.T) {
	d := open(t)
	d.write("stands", "0")
	d.write("overwritten", "0")
	d.write("agents", "0")
	d.begins()
	d.write("agents", "agent")
	if n := d.save("stands", "person"); n != 1 {
		t.Errorf("a save counts in %d turns", n)
	}
	d.save("overwritten", "first")
	d.save("overwritten", "person")
	d.write("overwritten", "agent")
	d.save("new/by/person", "person")
	d.take(checkpoint.Look{Agent: true})
	if got, want := by(d.line[1:]), []item.CheckpointBy{"person", "person", "person", "person", "agent"}; !slices.Equal(got, want) {
		t.Errorf("checkpoints are by %q, want %q", got, want)
	}
	d.undone(t, 2)
	d.has(t, "stands", "person")
	d.has(t, "overwritten", "person")
	d.has(t, "agents", "0")
	d.has(t, "new/by/person", "person")

	// The next step has its own saves. Without a turn there is nothing to keep.
	d.take(checkpoint.Look{})
	d.save("stands", "again")
	d.write("stands", "agent")
	d.take(checkpoint.Look{Agent: true})
	d.line = d.line[len(d.line)-2:]
	d.undone(t, 1)
	d.has(t, "stands", "again")
	d.w.Unfollow("pod")
	if n := d.save("stands", "later"); n != 0 {
		t.Errorf("a save counts in %d turns, and none runs", n)
	}
}

// A save has the bytes that the editor says, and its file is one that checkpoints have.
func TestSavedElsewhere(t *testing.T) {
	d := open(t)
	d.write(".gitignore", "out/\n*.log\n")
	d.write("a", "0")
	d.begins()
	d.write("a", "agent")
	_, err := d.stores.Saved(t.Context(), d.path("a"), sha256.Sum256([]byte("person")))
	if !errors.Is(err, checkpoint.ErrOtherBytes) {
		t.Errorf("a save of other bytes: %v", err)
	}
	d.must(os.MkdirAll(d.path(".git"), 0o755))
	large := strings.Repeat("x", 2<<20)
	for rel, text := range map[string]string{"out/a": "x", ".git/a": "x", "large.log": large} {
		if n := d.save(rel, text); n != 0 {
			t.Errorf("%s counts in %d turns", rel, n)
		}
	}
	for rel, text := range map[string]string{"small.log": "x", "large.txt": large} {
		if n := d.save(rel, text); n != 1 {
			t.Errorf("%s counts in %d turns", rel, n)
		}
	}
	d.must(os.Remove(d.path("a")))
	for rel, want := range map[string]error{"a": checkpoint.ErrOtherBytes, "gone/b": checkpoint.ErrOtherBytes, ".": nil} {
		if n, err := d.stores.Saved(t.Context(), d.path(rel), sha256.Sum256(nil)); n != 0 || !errors.Is(err, want) {
			t.Errorf("a save of %s that is not there: %d, %v", rel, n, err)
		}
	}
	d.take(checkpoint.Look{Agent: true})
	d.undone(t, 1)
	d.has(t, "a", "0")
}

// A save is reported when the look after the command has taken it for the agent's work.
func TestSavedBeforeALook(t *testing.T) {
	d := open(t)
	d.write("a", "0")
	d.write("agents", "0")
	d.begins()
	d.write("agents", "agent")
	d.write("a", "person")
	d.write("new/a", "person")
	d.take(checkpoint.Look{Agent: true})
	d.save("a", "person")
	d.save("new/a", "person")
	d.take(checkpoint.Look{})
	if got, want := by(d.line[2:]), []item.CheckpointBy{"agent", "person", "agent", "person"}; !slices.Equal(got, want) {
		t.Errorf("checkpoints are by %q, want %q", got, want)
	}
	// What a checkpoint of the person or an old one has, a save leaves as it is.
	d.save("a", "person")
	d.stores.Now = func() time.Time { return time.Unix(1, 0) }
	d.write("agents", "early")
	d.take(checkpoint.Look{Agent: true})
	d.save("agents", "early")
	d.take(checkpoint.Look{})
	if n := len(d.line); n != 7 {
		t.Errorf("there are %d checkpoints, want 7", n)
	}
	d.undone(t, 2) // The directory new has the person's file and stays.
	d.has(t, "a", "person")
	d.has(t, "new/a", "person")
	d.has(t, "agents", "0")
}

// A killed podd has a save after a look that the log does not have.
func TestSavedAfterAnUnloggedLook(t *testing.T) {
	d := open(t)
	d.write("a", "0")
	d.write("b", "0")
	d.begins()
	line := slices.Clone(d.line)
	d.write("b", "agent")
	d.take(checkpoint.Look{Agent: true})
	d.save("a", "person")
	d.line = line
	after := d.killed(t)
	d.write("a", "agent")
	d.must(after.w.Follow("pod", after.last(), false))
	after.take(checkpoint.Look{Agent: true})
	after.undone(t, 2)
	after.has(t, "a", "person")
	after.has(t, "b", "0")
	d.must(after.w.Rest())
	fsck(t, after.stores.Dir)
}

// A killed podd leaves the saves to the next one, which has the turn's last checkpoint from the log.
func TestSavedBeforeAKill(t *testing.T) {
	for _, packed := range []bool{false, true} {
		for _, orphan := range []bool{false, true} {
			d := open(t)
			d.write("a", "0")
			d.write("b", "0")
			d.begins()
			d.save("a", "first")
			d.save("a", "person")
			d.write("a", "agent")
			line := slices.Clone(d.line)
			if orphan {
				// The log has no entry about it.
				d.take(checkpoint.Look{Agent: true})
			}
			if packed {
				d.reopen()
			}
			d.line = line
			after := d.killed(t)
			d.write("b", "agent")
			d.must(after.w.Follow("pod", after.last(), false))
			// A save after the restart follows them.
			after.save("c", "person")
			after.take(checkpoint.Look{Agent: true})
			after.undone(t, 2)
			after.has(t, "a", "person")
			after.has(t, "b", "0")
			after.has(t, "c", "person")
			d.must(after.w.Rest())
			fsck(t, after.stores.Dir)
		}
	}
}

// Each turn of a directory has the save in its own checkpoints.
func TestSavedInSeveralTurns(t *testing.T) {
	d := open(t)
	d.write("a", "0")
	d.begins()
	other := &desk{t: t, dir: d.dir, stores: d.stores, w: d.stores.Of(d.dir), branch: "other"}
	other.take(checkpoint.Look{})
	d.must(other.w.Follow("other", other.last(), false))
	if n := d.save("a", "person"); n != 2 {
		t.Errorf("a save counts in %d turns", n)
	}
	d.write("a", "agent")
	for _, of := range []*desk{d, other} {
		of.take(checkpoint.Look{Agent: true})
		of.undone(t, 1)
		of.has(t, "a", "person")
		d.write("a", "agent")
	}
	other.w.Unfollow("other")
	d.must(other.w.Rest())
}

// Space is freed while a command runs for hours: what a person saved stays.
func TestSavedAndCollected(t *testing.T) {
	d := open(t)
	now := time.Now()
	d.stores.Now = func() time.Time { return now }
	for i := range 30 {
		d.write("a", strings.Repeat("x", i))
		d.take(checkpoint.Look{})
	}
	d.begins()
	d.save("a", "person")
	d.write("a", "agent")
	now = now.Add(3 * time.Hour)
	need := checkpoint.Needed{Commits: []string{d.last()}, Always: []string{d.last()}}
	d.must(d.stores.Collect(t.Context(), map[string]checkpoint.Needed{d.dir: need}, now.Add(-time.Hour)))
	d.line = []checkpoint.Mark{{To: d.last()}}
	d.take(checkpoint.Look{Agent: true})
	d.undone(t, 1)
	d.has(t, "a", "person")
	if packs, err := filepath.Glob(filepath.Join(d.repo(), "objects/pack/*.pack")); err != nil || len(packs) != 1 {
		t.Errorf("packs %q, %v", packs, err)
	}
}
