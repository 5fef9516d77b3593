package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"podd/pkg/item"
	"podd/pkg/store"
)

// A file that cannot grow refuses only what does not fit, with NO_SPACE: nothing of it is
// stored, reading continues, and once there is space the next append gets the next
// sequence.
func TestFileSizeLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "podd.db")
	out, err := helper(t, "fill", path).Output()
	if err != nil {
		t.Fatalf("the helper failed: %v\n%s", err, out)
	}
	wantFilled(t, path, string(out))
}

// wantFilled checks the output of fillUp and the database that it left.
func wantFilled(t *testing.T, path, out string) {
	t.Helper()
	var full, last int
	if _, err := fmt.Sscanf(out, "full after %d\nlast is %d\n", &full, &last); err != nil || full == 0 || last != full+1 {
		t.Fatalf("the helper says %q", out)
	}
	if path != "" {
		got, err := texts(t.Context(), open(t, path), "p")
		if err != nil || len(got) != last {
			t.Fatalf("the log has %d entries and error %v, want %d", len(got), err, last)
		}
	}
}

// helperFill fills the store up to a limit of the file's size, then raises the limit.
func helperFill(ctx context.Context, path string) error {
	return fillUp(ctx, path, func() error { return limitFileSize(24 << 20) }, func() error { return limitFileSize(1 << 40) })
}

// A file at its limit behaves like a full disk, and never exceeds the limit. Deleting
// makes room again, and so does a higher limit.
func TestMaxBytes(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "podd.db")
	wantError(t, func() error { _, err := store.OpenBolt(store.BoltConfig{Path: path, MaxBytes: 1}); return err }(),
		item.KindInvalid, store.ReasonCannotOpen)
	s, err := store.OpenBolt(store.BoltConfig{Path: path, MaxBytes: store.LeastMaxBytes})
	if err != nil {
		t.Fatal(err)
	}
	content := strings.Repeat("x", 1<<20)
	epoch, written := newPod(t, s, "p"), 0
	for ; err == nil && written < 100; written++ {
		err = appendNotes(ctx, s, "p", epoch, content)
	}
	written--
	wantError(t, err, item.KindExhausted, store.ReasonNoSpace)
	if !strings.Contains(err.Error(), "store.max_bytes") {
		t.Errorf("%q does not say what to do", err)
	}
	info, statErr := os.Stat(path)
	if statErr != nil || info.Size() > store.LeastMaxBytes || written < 30 {
		t.Errorf("%d entries are written to %d bytes, %v", written, info.Size(), statErr)
	}
	if got, err := texts(ctx, s, "p"); err != nil || len(got) != written {
		t.Errorf("the log has %d entries, %d were written: %v", len(got), written, err)
	}
	deletePod(t, s, "p")
	mustAppend(t, s, "q", newPod(t, s, "q"), content, content)
	closeStore(t, s)
	wantTexts(t, open(t, path), "q", content, content)
}

func limitFileSize(bytes uint64) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	limit.Cur = min(bytes, limit.Max)
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)
}

// fillUp appends until the space is used up, checks the store, makes space, and appends
// once more.
func fillUp(ctx context.Context, path string, limit, unlimit func() error) (err error) {
	s, err := store.OpenBolt(store.BoltConfig{Path: path})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.CreatePod(ctx, item.Pod{ID: "p", Name: "p"}); err != nil {
		return err
	}
	epoch, err := s.Claim(ctx, "p")
	if err != nil {
		return err
	}
	if err := limit(); err != nil {
		return err
	}
	content := strings.Repeat("x", 1<<20)
	written := 0
	for err == nil {
		if err = appendNotes(ctx, s, "p", epoch, content); err == nil {
			written++
		}
	}
	if item.KindOf(err) != item.KindExhausted || item.ReasonOf(err) != store.ReasonNoSpace {
		return fmt.Errorf("after %d entries: %w (cause %w)", written, err, errors.Unwrap(err))
	}
	// After repeated refusals it is still readable.
	for range 3 {
		if err := appendNotes(ctx, s, "p", epoch, strings.Repeat(content, 3)); item.ReasonOf(err) != store.ReasonNoSpace {
			return fmt.Errorf("a further append: %w", err)
		}
	}
	if got, err := texts(ctx, s, "p"); err != nil || len(got) != written {
		return fmt.Errorf("the log has %d entries, %d were written: %w", len(got), written, err)
	}
	fmt.Println("full after", written)
	if err := unlimit(); err != nil {
		return err
	}
	out, err := s.Append(ctx, store.Batch{Pod: "p", Epoch: epoch, Entries: notes(content)})
	if err != nil {
		return fmt.Errorf("with space again: %w (cause %w)", err, errors.Unwrap(err))
	}
	fmt.Println("last is", out.Records[0].Seq)
	return nil
}
