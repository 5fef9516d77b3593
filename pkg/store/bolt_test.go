package store_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/store/storetest"
)

func TestConformance(t *testing.T) {
	storetest.Run(t, func(dir string) (store.Store, error) {
		return store.OpenBolt(store.BoltConfig{Path: filepath.Join(dir, "podd.db")})
	})
}

// A store that does not sync passes the whole suite except the check for syncs.
func TestSuiteNoticesMissingSync(t *testing.T) {
	checks := storetest.Checks()
	i := slices.IndexFunc(checks, func(c storetest.Check) bool { return c.Name == "AcknowledgedIsOnDisk" })
	run := func(sync bool) *storetest.Recorder {
		return storetest.Record(t.Context(), checks[i], func(dir string) (store.Store, error) {
			s, err := store.OpenBolt(store.BoltConfig{Path: filepath.Join(dir, "podd.db")})
			if err != nil || sync {
				return s, err
			}
			return store.WithoutSync(s), nil
		})
	}
	whole := run(true)
	if whole.Skipped() {
		t.Skip("the system does not say which pages of a file it has not written")
	}
	if whole.Failed() {
		t.Errorf("the whole store fails:\n%s", whole.Notes())
	}
	if broken := run(false); !broken.Failed() {
		t.Error("the check passes without a sync")
	}
}

// open opens the database of a test. The clean-up checks its pages.
func open(t *testing.T, path string) *store.Bolt {
	t.Helper()
	s, err := store.OpenBolt(store.BoltConfig{Path: path})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() {
		for _, err := range s.Inconsistencies() {
			t.Errorf("inconsistent database: %v", err)
		}
		closeStore(t, s)
	})
	return s
}

// openUnchecked is open for a deliberately damaged database.
func openUnchecked(t *testing.T, path string) *store.Bolt {
	t.Helper()
	s, err := store.OpenBolt(store.BoltConfig{Path: path})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() { closeStore(t, s) })
	return s
}

func closeStore(t *testing.T, s *store.Bolt) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

// newPod makes a pod, named like its id, and claims it.
func newPod(t *testing.T, s store.Store, id string) store.Epoch {
	t.Helper()
	if err := s.CreatePod(t.Context(), item.Pod{ID: id, Name: id, CreatedAt: time.Unix(1, 0)}); err != nil {
		t.Fatalf("create pod: %v", err)
	}
	return claim(t, s, id)
}

func claim(t *testing.T, s store.Store, id string) store.Epoch {
	t.Helper()
	epoch, err := s.Claim(t.Context(), id)
	if err != nil {
		t.Fatalf("claim: %v", err)
	}
	return epoch
}

func noteOf(text string) item.Entry {
	return item.Entry{Time: time.Unix(2, 0), Kind: item.Note{Text: text}}
}

func notes(texts ...string) []item.Entry {
	var entries []item.Entry
	for _, text := range texts {
		entries = append(entries, noteOf(text))
	}
	return entries
}

func appendNotes(ctx context.Context, s store.Store, pod string, epoch store.Epoch, texts ...string) error {
	_, err := s.Append(ctx, store.Batch{Pod: pod, Epoch: epoch, Entries: notes(texts...)})
	return err
}

func mustAppend(t *testing.T, s store.Store, pod string, epoch store.Epoch, texts ...string) {
	t.Helper()
	if err := appendNotes(t.Context(), s, pod, epoch, texts...); err != nil {
		t.Fatalf("append to %s: %v", pod, err)
	}
}

// texts reads the notes of a whole log, and fails when it has a gap.
func texts(ctx context.Context, s store.Store, pod string) ([]string, error) {
	var out []string
	for {
		page, err := s.Read(ctx, pod, item.Seq(len(out)), 0)
		if err != nil || len(page) == 0 {
			return out, err
		}
		for _, r := range page {
			e, err := r.Decode()
			if err != nil {
				return out, err
			}
			note, ok := e.Kind.(item.Note)
			if want := item.Seq(len(out) + 1); r.Seq != want || e.Seq != want || !ok {
				return out, fmt.Errorf("record %d is %#v, want a note with seq %d", r.Seq, e, want)
			}
			out = append(out, note.Text)
		}
	}
}

func wantTexts(t *testing.T, s store.Store, pod string, want ...string) {
	t.Helper()
	got, err := texts(t.Context(), s, pod)
	if err != nil {
		t.Errorf("read %s: %v", pod, err)
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("log of %s is %q, want %q", pod, got, want)
	}
}

// wantError checks kind and reason, and that the message is one sentence.
func wantError(t *testing.T, err error, kind item.ErrorKind, reason string) {
	t.Helper()
	if item.KindOf(err) != kind || item.ReasonOf(err) != reason {
		t.Fatalf("error %v (kind %s, reason %q), want %s, %q", err, item.KindOf(err), item.ReasonOf(err), kind, reason)
	}
	if strings.ContainsAny(err.Error(), "\n\r") {
		t.Errorf("the message has several lines: %q", err)
	}
}
