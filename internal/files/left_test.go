package files_test

import (
	"os"
	"testing"

	"podd/internal/files"
	"podd/pkg/item"
)

// What a command moves out of the names that are left out stays where it is; what else it makes
// does not, also under an inode that something left out had.
func TestMovedOutOfWhatIsLeftOut(t *testing.T) {
	for _, killed := range []bool{false, true} {
		d := ignoring(t)
		if !files.Born(d.dir) {
			t.Skip("the file system does not say when a file was made")
		}
		d.write("gone/a", "")
		d.write(".gitignore", "out/\ngone/\n*.log\n")
		d.write("a.log", "")
		d.must(os.Truncate(d.path("a.log"), 2<<20))
		d.take(files.Look{})
		from := len(d.line) - 1
		if killed {
			d.must(d.w.Rest())
			d.stores = files.NewStores(files.StoreConfig{Dir: d.stores.Dir})
			d.w = d.stores.Of(d.dir)
		}
		d.must(os.Rename(d.path("out"), d.path("kept")))
		d.must(os.Rename(d.path("a.log"), d.path("kept.txt")))
		d.must(os.RemoveAll(d.path("gone")))
		d.write("kept-not/made", "agent")
		d.write("made/a", "agent")
		if taken := d.take(files.Look{Agent: true}); len(taken) != 2 {
			t.Errorf("taken: %+v", taken)
		}
		if steps, err := d.w.Changes(d.line[from+1:], item.ByPerson); err != nil || len(steps) != 5 {
			t.Errorf("somebody else's: %+v, %v", steps, err)
		}
		if _, conflicts := d.undo(from); len(conflicts) > 0 {
			t.Error(conflicts)
		}
		for _, name := range []string{"kept/sub/a", "kept/b", "kept.txt"} {
			if _, err := os.Lstat(d.path(name)); err != nil {
				t.Errorf("killed %v: %v", killed, err)
			}
		}
		for _, name := range []string{"made", "kept-not"} {
			if _, err := os.Lstat(d.path(name)); err == nil {
				t.Errorf("killed %v: %s is still there", killed, name)
			}
		}
	}
}

// What one pod's command brings in was left out for another pod as well.
func TestWhatAnotherPodBringsIn(t *testing.T) {
	for _, killed := range []bool{false, true} {
		d := ignoring(t)
		other := &desk{t: t, dir: d.dir, stores: d.stores, w: d.w, branch: "other"}
		other.take(files.Look{})
		d.must(os.Remove(d.path(".gitignore")))
		d.take(files.Look{Agent: true})
		if killed {
			d.must(d.w.Rest())
			d.stores = files.NewStores(files.StoreConfig{Dir: d.stores.Dir})
			d.w = d.stores.Of(d.dir)
			other.w, other.stores = d.w, d.stores
		}
		d.write("made", "other")
		other.take(files.Look{Agent: true})
		if steps, err := other.w.Changes(other.line[1:], item.ByAgent); err != nil || len(steps) != 2 {
			t.Errorf("killed %v: the other pod's: %+v, %v", killed, steps, err)
		}
		if _, conflicts := other.undo(0); len(conflicts) > 0 {
			t.Error(conflicts)
		}
		for _, name := range []string{"out/sub/a", "out/b"} {
			if _, err := os.Lstat(d.path(name)); err != nil {
				t.Errorf("killed %v: %v", killed, err)
			}
		}
	}
}
