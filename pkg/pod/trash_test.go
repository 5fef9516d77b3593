package pod_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"podd/internal/trash"
	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/store"
)

// A deleted family ends, and comes back together, over a restart too; nothing of it goes on
// by itself.
func TestTrashedFamily(t *testing.T) {
	h := spawning(t, 2, chain(waits), func(c *options) { c.trashFor = time.Hour })
	h.submit("go")
	h.marked()
	h.submit("later")
	if _, err := h.trash.Discard(t.Context(), "p"); err != nil {
		t.Fatal(err)
	}
	if left := h.pods(); len(left) != 0 {
		t.Errorf("there are still %+v", left)
	}
	h.restart()
	trashed, err := h.trash.List(t.Context())
	if err != nil || len(trashed) != 3 || trashed[0].PurgeAt != trashed[0].At.Add(time.Hour) {
		t.Fatalf("trash %+v, %v", trashed, err)
	}
	i := slices.IndexFunc(trashed, func(p trash.Pod) bool { return p.Name == "p" })
	for _, p := range trashed {
		if p.With != trashed[i].ID {
			t.Errorf("%s went with %s", p.Name, p.With)
		}
		if p.ID != trashed[i].ID {
			_, err := h.trash.Restore(t.Context(), p.ID, "")
			wantError(t, err, item.KindPrecondition, "DELETED_WITH")
		}
	}
	if _, err := h.host.Create(t.Context(), "p", item.PodSpec{Dir: h.dir}); err != nil {
		t.Fatal(err)
	}
	_, err = h.trash.Restore(t.Context(), trashed[i].ID, "")
	wantError(t, err, item.KindExists, "POD_EXISTS")
	if err := h.host.Delete(t.Context(), "p"); err != nil {
		t.Fatal(err)
	}
	p, err := h.trash.Restore(t.Context(), "p", "")
	if err != nil || p.Queued != 0 || p.Status.State != item.StateIdle || p.Status.Turn != 1 {
		t.Fatalf("restored %+v, %v", p, err)
	}
	if got := h.outcomes(); !slices.Equal(got, []item.Outcome{item.OutcomeCancelled, item.OutcomeCancelled}) {
		t.Errorf("outcomes of the sub-pods %v", got)
	}
	if end := h.ends("p"); len(end) != 1 || end[0].Outcome != item.OutcomeCancelled || end[0].Cause != "the pod was deleted" {
		t.Errorf("ends %+v", end)
	}
	if open, err := h.host.Store.Alerts(t.Context(), store.AlertQuery{Unacked: true}); err != nil || len(open) != 0 {
		t.Errorf("alerts %+v, %v", open, err)
	}
}

// What was in the trash for its time is removed for good, with its spooled output, and with
// what nothing could restore without it.
func TestTrashIsEmptied(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	h := newHouse(t, scripted.Answers(), func(c *options) {
		c.trashFor, c.Now = 14*24*time.Hour, func() time.Time { return now }
	})
	q, err := h.host.Create(t.Context(), "q", item.PodSpec{Dir: h.dir, SubPods: 1})
	if err != nil {
		t.Fatal(err)
	}
	child, err := h.host.Spawn(t.Context(), "child", item.PodSpec{Dir: h.dir, Parent: q.ID, ParentCall: "c"})
	if err != nil {
		t.Fatal(err)
	}
	spooled := filepath.Join(h.state, "spool", q.ID)
	if err := os.MkdirAll(spooled, 0o700); err != nil {
		t.Fatal(err)
	}
	put := func(id string) {
		t.Helper()
		if _, err := h.trash.Discard(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	left := func() int {
		t.Helper()
		if err := h.trash.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		list, err := h.trash.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	put(child.ID)
	put("q")
	_, err = h.trash.Restore(t.Context(), "child", "")
	wantError(t, err, item.KindPrecondition, "PARENT_DELETED")
	now = now.Add(14*24*time.Hour - time.Second)
	if n := left(); n != 2 {
		t.Errorf("%d pods before the time", n)
	}
	if _, err := os.Stat(spooled); err != nil {
		t.Errorf("the spooled output: %v", err)
	}
	now = now.Add(time.Second)
	if n := left(); n != 0 {
		t.Errorf("%d pods after the time", n)
	}
	if _, err := os.Stat(spooled); !os.IsNotExist(err) {
		t.Errorf("the spooled output is still there: %v", err)
	}
	_, err = h.trash.Restore(t.Context(), "q", "")
	wantError(t, err, item.KindNotFound, "POD_NOT_FOUND")
}
