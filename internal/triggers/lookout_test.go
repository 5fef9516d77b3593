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

// A pod whose files change has one look once they may be quiet, however often they change; none once the Host has ended.
func TestStir(t *testing.T) {
	path := filepath.Join(t.TempDir(), "podd.db")
	synctest.Test(t, func(t *testing.T) {
		s, err := store.OpenBolt(store.BoltConfig{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		w, err := workspace.New(workspace.Config{SpoolDir: t.TempDir()}, workspace.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		host, err := pod.NewHost(context.Background(), pod.Config{Fixed: pod.Fixed{Store: s, Workspaces: w}, Settings: pod.Settings{Router: llm.One(nil), Model: item.ModelRef{Model: "m"}}})
		if err != nil {
			t.Fatal(err)
		}
		var looks atomic.Int32
		l := newLookout(host, func(string) { looks.Add(1) })
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
		host.Close(context.Background())
		time.Sleep(time.Hour)
		if got := looks.Load(); got != 2 {
			t.Errorf("%d looks after the end, want 2", got)
		}
	})
}
