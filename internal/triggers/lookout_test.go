package triggers

import (
	"context"
	"path/filepath"
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
