package store_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"
)

// held is a change that keeps the writer busy until it is released.
type held struct {
	release chan struct{}
	done    chan error
}

// hold makes the writer wait. Whatever is queued later waits, and whatever was queued
// earlier is in the same transaction.
func hold(s *store.Bolt) held {
	h := held{release: make(chan struct{}), done: make(chan error, 1)}
	go func() {
		h.done <- s.Interpose(func() error { <-h.release; return nil }, nil)
	}()
	return h
}

func (h held) end(t *testing.T) {
	t.Helper()
	close(h.release)
	if err := <-h.done; err != nil {
		t.Errorf("the change that held the writer: %v", err)
	}
}

// inBubble runs a test on a store in a synctest bubble, where waiting for the writer
// means waiting until every goroutine is blocked.
func inBubble(t *testing.T, test func(t *testing.T, s *store.Bolt, epoch store.Epoch)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "podd.db")
	synctest.Test(t, func(t *testing.T) {
		s := open(t, path)
		test(t, s, newPod(t, s, "p"))
	})
}

// begin appends in a goroutine and returns once every goroutine is blocked.
func begin(ctx context.Context, s *store.Bolt, epoch store.Epoch, text string) <-chan error {
	answer := make(chan error, 1)
	go func() { answer <- appendNotes(ctx, s, "p", epoch, text) }()
	synctest.Wait()
	return answer
}

// beginAlert is begin for an entry that the writer encodes: an alert.
func beginAlert(ctx context.Context, s *store.Bolt, epoch store.Epoch) <-chan store.Appended {
	answer := make(chan store.Appended, 1)
	go func() {
		out, _ := s.Append(ctx, store.Batch{Pod: "p", Epoch: epoch, Entries: []item.Entry{
			{Time: time.Unix(1, 0), Kind: item.AlertRaised{Alert: item.Alert{Text: "first"}}},
		}})
		answer <- out
	}()
	synctest.Wait()
	return answer
}

// A caller that gives up before the writer took its batch returns at once, and the batch
// is never written.
func TestCancelledWhileQueued(t *testing.T) {
	inBubble(t, func(t *testing.T, s *store.Bolt, epoch store.Epoch) {
		writer := hold(s)
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		answer := begin(ctx, s, epoch, "cancelled")
		cancel()
		synctest.Wait()
		select {
		case err := <-answer:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("the answer is %v", err)
			}
		default:
			t.Error("the caller still waits")
		}
		writer.end(t)
		mustAppend(t, s, "p", epoch, "next")
		wantTexts(t, s, "p", "next")
	})
}

// A caller that gives up after the writer took its batch still waits for the outcome: it
// must know what was written.
func TestCancelledWhileWritten(t *testing.T) {
	inBubble(t, func(t *testing.T, s *store.Bolt, epoch store.Epoch) {
		first := hold(s)
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		answer := begin(ctx, s, epoch, "taken")
		second := hold(s)
		synctest.Wait()
		// The batch and the second change are one group, and the second waits.
		first.end(t)
		synctest.Wait()
		cancel()
		synctest.Wait()
		select {
		case err := <-answer:
			t.Errorf("the caller did not wait: %v", err)
		default:
		}
		second.end(t)
		if err := <-answer; err != nil {
			t.Errorf("the answer is %v", err)
		}
		wantTexts(t, s, "p", "taken")
	})
}

// Close writes what was queued before it, and refuses later changes.
func TestCloseWritesWhatIsQueued(t *testing.T) {
	path := filepath.Join(t.TempDir(), "podd.db")
	synctest.Test(t, func(t *testing.T) {
		s := openUnchecked(t, path)
		epoch := newPod(t, s, "p")
		writer := hold(s)
		synctest.Wait()
		before := begin(t.Context(), s, epoch, "before")
		closed := make(chan error, 1)
		go func() { closed <- s.Close() }()
		synctest.Wait()
		after := begin(t.Context(), s, epoch, "after")
		writer.end(t)
		if err := <-before; err != nil {
			t.Errorf("queued before: %v", err)
		}
		wantError(t, <-after, item.KindUnavailable, store.ReasonClosed)
		if err := <-closed; err != nil {
			t.Errorf("close: %v", err)
		}
	})
	wantTexts(t, open(t, path), "p", "before")
}

// A change that fails while it is written, by an error or a panic, does not affect its
// group and leaves nothing behind.
func TestOneBadChangeInAGroup(t *testing.T) {
	for name, bad := range map[string]func() error{
		"error": func() error { return errors.New("bad") },
		"panic": func() error { panic("bad") },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *store.Bolt, epoch store.Epoch) {
				writer := hold(s)
				synctest.Wait()
				first := beginAlert(t.Context(), s, epoch)
				failed := make(chan error, 1)
				go func() { failed <- s.Interpose(func() error { return nil }, bad) }()
				synctest.Wait()
				second := begin(t.Context(), s, epoch, "second")
				stale := begin(t.Context(), s, epoch+1, "stale")
				writer.end(t)
				if err := <-failed; err == nil {
					t.Error("the bad change was written")
				}
				if err := <-second; err != nil {
					t.Errorf("the second: %v", err)
				}
				wantError(t, <-stale, item.KindPrecondition, store.ReasonStaleEpoch)
				out := <-first
				if len(out.Records) != 1 || out.Records[0].Seq != 1 || len(out.Alerts) != 1 || out.Alerts[0].Seq != 1 {
					t.Errorf("the first gives %+v", out)
				}
				alerts, err := s.Alerts(t.Context(), store.AlertQuery{})
				if err != nil || len(alerts) != 1 {
					t.Errorf("alerts are %+v, error %v", alerts, err)
				}
				page, err := s.Read(t.Context(), "p", 0, 0)
				if err != nil || len(page) != 2 {
					t.Errorf("the log is %+v, error %v", page, err)
				}
			})
		})
	}
}

// A group with nothing to write costs no commit.
func TestRefusalsAreNotCommitted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "podd.db")
	s := open(t, path)
	epoch := newPod(t, s, "p")
	before := content(t, path)
	wantError(t, appendNotes(t.Context(), s, "p", epoch+1, "x"), item.KindPrecondition, store.ReasonStaleEpoch)
	if string(before) != string(content(t, path)) {
		t.Error("a refused append changed the file")
	}
}

// An entry that cannot be stored is refused alone.
func TestEntryTooLarge(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "podd.db"))
	epoch := newPod(t, s, "p")
	err := appendNotes(t.Context(), s, "p", epoch, string(make([]byte, store.MaxEntryBytes)))
	wantError(t, err, item.KindInvalid, store.ReasonTooLarge)
	mustAppend(t, s, "p", epoch, "small")
}
