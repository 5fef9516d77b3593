package triggers

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"podd/internal/workspace"
	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/pod"
	"podd/pkg/store"
)

// lookoutOf is a lookout on a Host of its own, which ends with close.
func lookoutOf(t *testing.T, path, spool string, poke func(string)) (l *lookout, end func()) {
	t.Helper()
	s, err := store.OpenBolt(store.BoltConfig{Path: path})
	must(t, err)
	w, err := workspace.New(workspace.Config{SpoolDir: spool}, workspace.Settings{})
	must(t, err)
	host, err := pod.NewHost(context.Background(), pod.Config{Fixed: pod.Fixed{Store: s, Workspaces: w}, Settings: pod.Settings{Router: llm.One(nil), Model: item.ModelRef{Model: "m"}}})
	must(t, err)
	return newLookout(host, poke), func() {
		host.Close(context.Background())
		w.Close()
		must(t, s.Close())
	}
}

// A pod whose files change has one look once they may be quiet, however often they change; none once the Host has ended.
func TestStir(t *testing.T) {
	path, spool := filepath.Join(t.TempDir(), "podd.db"), t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var looks atomic.Int32
		l, end := lookoutOf(t, path, spool, func(string) { looks.Add(1) })
		for want := range int32(2) {
			l.stir("a")
			l.stir("a")
			time.Sleep(still)
			if got := looks.Load(); got != want {
				t.Errorf("%d looks, want %d", got, want)
			}
			time.Sleep(still)
		}
		l.stir("a")
		end()
		time.Sleep(time.Hour)
		if got := looks.Load(); got != 2 {
			t.Errorf("%d looks after the end, want 2", got)
		}
	})
}

// The lookout reports a change once, and forgets a trigger that it no longer follows.
func TestLookout(t *testing.T) {
	poked := make(chan string, 100)
	l, end := lookoutOf(t, filepath.Join(t.TempDir(), "podd.db"), t.TempDir(), func(pod string) { poked <- pod })
	defer end()
	p := item.Pod{ID: "pod", Spec: item.PodSpec{Dir: t.TempDir()}}
	put(t, filepath.Join(p.Spec.Dir, "in", "a"), "one")
	f, blind, err := l.find(t.Context(), p, "t", "in/*", nil)
	if err != nil || len(f.prints) != 1 || blind && runtime.GOOS == "linux" {
		t.Fatalf("it finds %v, blind: %t, %v", f.prints, blind, err)
	}
	if blind {
		return // podd looks again and again here.
	}
	other := filepath.Join(t.TempDir(), "a")
	change := func() { // One event of the system.
		put(t, other, "two")
		must(t, os.Rename(other, filepath.Join(p.Spec.Dir, "in", "a")))
		<-poked
	}
	change()
	if !l.take("pod", "t") || l.take("pod", "t") {
		t.Error("a change is not told once")
	}
	change()
	l.unfollow("pod", "t")
	if len(l.watcher.dirs)+len(l.touched) > 0 {
		t.Errorf("it keeps %v and %v", l.watcher.dirs, l.touched)
	}
}
