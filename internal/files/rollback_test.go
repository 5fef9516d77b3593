package files_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"podd/internal/files"
	"podd/internal/workspace"
	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/openai"
	"podd/pkg/pod"
	"podd/pkg/store"
)

// All that is left of a log whose older entries were removed can be taken back.
func TestRestoreAllOfAPurgedLog(t *testing.T) {
	dir := t.TempDir()
	s, err := store.OpenBolt(store.BoltConfig{Path: filepath.Join(dir, "podd.db")})
	check(t, err)
	works, err := workspace.New(workspace.Config{SpoolDir: filepath.Join(dir, "spool"), CheckpointDir: filepath.Join(dir, "checkpoints")}, workspace.Settings{})
	check(t, err)
	client, err := openai.New(openai.Config{})
	check(t, err)
	host, err := pod.NewHost(context.Background(), pod.Config{Fixed: pod.Fixed{Store: s, Workspaces: works}, Settings: pod.Settings{Router: llm.One(client)}})
	check(t, err)
	t.Cleanup(func() {
		host.Close(context.Background())
		works.Close()
		client.Close()
		check(t, s.Close())
	})
	wing := files.Open(files.Config{Host: host, Stores: works.Stores()})
	p, err := host.Create(t.Context(), "p", item.PodSpec{Dir: t.TempDir()})
	check(t, err)
	for range 5 {
		_, err := host.Record(t.Context(), "p", item.WingEntry{Wing: "test", Name: "note"})
		check(t, err)
	}
	p, err = host.Get(t.Context(), p.ID)
	check(t, err)
	check(t, s.Purge(t.Context(), store.Purge{Pod: p.ID, UpTo: 3, Last: p.Last, Mark: item.Entry{Time: time.Now(), Kind: item.Purged{From: 3}}}))
	if _, err := wing.Restore(t.Context(), "p", files.Back{After: 2, Dry: true}); err != nil {
		t.Errorf("all entries that are left: %v", err)
	}
	if _, err := wing.Restore(t.Context(), "p", files.Back{After: 1, Dry: true}); item.ReasonOf(err) != "PURGED" {
		t.Errorf("a removed entry: %v, want PURGED", err)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
