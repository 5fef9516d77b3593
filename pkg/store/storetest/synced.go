package storetest

import (
	"io/fs"
	"os"
	"path/filepath"

	"podd/pkg/item"
	"podd/pkg/store"
)

// What was acknowledged is on disk: after each call that writes, no file of the store has
// a page that the system has not written. The test is skipped where the system does not
// report that.
func acknowledgedIsOnDisk(f *fixture) {
	if !tellsDirty(f) {
		f.Skip("the system does not say which pages of a file it has not written")
	}
	clean := func(what string) {
		f.Helper()
		err := filepath.WalkDir(f.dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			if n, err := dirtyPages(path); err != nil || n > 0 {
				f.Errorf("after %s %d pages of %s are not written (error %v)", what, n, filepath.Base(path), err)
			}
			return nil
		})
		f.must(err)
	}
	clean("opening")
	ctx := f.Context()
	p := f.pod("p")
	clean("a claim")
	for n := range 5 {
		p.notes(n, 3)
		clean("an append")
	}
	p.submit("r", "hello")
	clean("a submit")
	status := item.PodStatus{State: item.StatePaused}
	p.batch(store.Batch{Status: &status})
	clean("a status")
	f.must(f.s.UpdateSpec(ctx, "p", fullSpec("other")))
	clean("a change of the spec")
	_, err := f.s.RaiseAlert(ctx, item.Alert{Text: "full", Time: at(1)})
	f.must(err)
	clean("an alert")
	f.must(f.s.AckAlerts(ctx, []item.Seq{1}))
	clean("an acknowledgement")
	f.must(p.tryFork("q", 4))
	clean("a fork")
	p.purge(4, 0)
	clean("a purge")
	_, err = f.s.PurgeAlerts(ctx, at(2))
	f.must(err)
	clean("a purge of alerts")
	f.must(f.s.DeletePod(ctx, "p"))
	clean("a deletion")
}

// tellsDirty says whether the system distinguishes a new page from a synced one.
func tellsDirty(f *fixture) bool {
	path := filepath.Join(f.dir, "control")
	f.must(os.WriteFile(path, make([]byte, 1<<16), 0o600))
	n, err := dirtyPages(path)
	f.must(os.Remove(path))
	return err == nil && n > 0
}
