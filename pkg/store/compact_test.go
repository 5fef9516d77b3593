package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"podd/pkg/item"
	"podd/pkg/store"
)

// grown makes a database with mostly unused space.
func grown(t *testing.T, s store.Store) {
	t.Helper()
	mustAppend(t, s, "large", newPod(t, s, "large"), strings.Repeat("0123456789", 1<<20), strings.Repeat("x", 5<<20))
	mustAppend(t, s, "p", newPod(t, s, "p"), "one", "two")
	mustAppend(t, s, "q", fork(t, s, "p", 1, "q"), "two q")
	if _, err := s.RaiseAlert(t.Context(), item.Alert{Text: "full"}); err != nil {
		t.Fatal(err)
	}
	deletePod(t, s, "large")
}

// A compaction makes the file smaller and loses nothing, while others write and read. The
// new file has what they write, and can be compacted again.
func TestCompact(t *testing.T) {
	path := filepath.Join(t.TempDir(), "podd.db")
	s := open(t, path)
	grown(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	written := make([]int, 4)
	for i := range written {
		id := fmt.Sprint("w", i)
		epoch := newPod(t, s, id)
		wg.Go(func() {
			for more := true; more; more = ctx.Err() == nil {
				if err := appendNotes(context.WithoutCancel(ctx), s, id, epoch, fmt.Sprint(written[i])); err != nil {
					t.Errorf("append: %v", err)
					return
				}
				written[i]++
				if _, err := s.Read(context.WithoutCancel(ctx), id, 0, 1); err != nil {
					t.Errorf("read: %v", err)
					return
				}
			}
		})
	}
	before, after, err := s.Compact(t.Context(), nil)
	if err != nil || after >= before || before < 15<<20 {
		t.Errorf("%d bytes became %d, %v", before, after, err)
	}
	if _, _, err := s.Compact(t.Context(), nil); err != nil {
		t.Errorf("again: %v", err)
	}
	cancel()
	wg.Wait()
	closeStore(t, s)
	s = open(t, path)
	for i, n := range written {
		if got, err := texts(t.Context(), s, fmt.Sprint("w", i)); err != nil || len(got) != n || n == 0 {
			t.Errorf("%d entries are there, %d were written, %v", len(got), n, err)
		}
	}
	wantTexts(t, s, "q", "one", "two q")
	a, err := s.RaiseAlert(t.Context(), item.Alert{Text: "another"})
	if err != nil || a.Seq != 2 {
		t.Errorf("the next alert is %+v, %v", a, err)
	}
}

// A compaction that does not pay, or that fails, leaves the file unchanged, the store
// usable, and no temporary file.
func TestCompactThatFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "podd.db")
	s := open(t, path)
	grown(t, s)
	if err := os.MkdirAll(filepath.Join(path+".compact", "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, _, err := s.Compact(t.Context(), nil)
	wantError(t, err, item.KindPrecondition, store.ReasonCannotOpen)
	wantTexts(t, s, "q", "one", "two q")
	mustAppend(t, s, "q", claim(t, s, "q"), "three")
	if err := os.RemoveAll(path + ".compact"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Compact(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	size, again, err := s.Compact(t.Context(), nil)
	if err != nil || again != size {
		t.Errorf("a compact file of %d bytes became one of %d, %v", size, again, err)
	}
	if _, err := os.Stat(path + ".compact"); err == nil {
		t.Error("the copy is left")
	}
	closeStore(t, s)
	_, _, err = s.Compact(t.Context(), nil)
	wantError(t, err, item.KindUnavailable, store.ReasonClosed)

	write(t, path+".compact", []byte("of a compaction that was killed"))
	s = open(t, path)
	if _, err := os.Stat(path + ".compact"); err == nil {
		t.Error("the copy is left")
	}
	wantTexts(t, s, "q", "one", "two q", "three")
}

// A damaged database is not compacted: that would hide the damage.
func TestCompactDamaged(t *testing.T) {
	s := damaged(t, func(s *store.Bolt) {
		mustAppend(t, s, "p", newPod(t, s, "p"), "one", strings.Repeat(marked, 1000), "three")
		mustAppend(t, s, "q", newPod(t, s, "q"), "good")
	}, smash)
	_, _, err := s.Compact(t.Context(), nil)
	if err == nil {
		t.Fatal("a damaged database is compacted")
	}
	wantTexts(t, s, "q", "good")
	mustAppend(t, s, "q", claim(t, s, "q"), "more")
}

// A copy is a separate database as of one moment. It replaces an older copy completely or
// not at all.
func TestCopy(t *testing.T) {
	dir := t.TempDir()
	s := open(t, filepath.Join(dir, "podd.db"))
	grown(t, s)
	to := filepath.Join(dir, "copy.db")
	write(t, to, []byte("an older copy"))
	if err := s.CopyTo(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, s, "q", claim(t, s, "q"), "later")
	wantTexts(t, open(t, to), "q", "one", "two q")
	info, err := os.Stat(to)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("the copy has mode %s, %v", info.Mode(), err)
	}
	before := content(t, to)
	err = s.CopyTo(t.Context(), filepath.Join(dir, "nowhere", "copy.db"))
	wantError(t, err, item.KindPrecondition, store.ReasonCannotOpen)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.CopyTo(cancelled, to); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled copy: %v", err)
	}
	if !bytes.Equal(content(t, to), before) {
		t.Error("the copy was changed")
	}
}
