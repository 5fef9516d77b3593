package store_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"

	"go.etcd.io/bbolt"
)

func purge(ctx context.Context, s store.Store, pod string, upTo item.Seq) error {
	p, err := s.Pod(ctx, pod)
	if err != nil {
		return err
	}
	mark := item.Entry{Time: time.Unix(1, 0), Kind: item.Purged{Entries: int64(upTo), Reason: marked}}
	return s.Purge(ctx, store.Purge{Pod: pod, UpTo: upTo, Last: p.Last, Mark: mark})
}

func mustPurge(t *testing.T, s store.Store, pod string, upTo item.Seq) {
	t.Helper()
	if err := purge(t.Context(), s, pod, upTo); err != nil {
		t.Fatalf("purge: %v", err)
	}
}

// A purge removes the unneeded records and no other: shared ones go when the fork no
// longer needs them either.
func TestPurgeRemovesRecords(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "podd.db"))
	mustAppend(t, s, "p", newPod(t, s, "p"), "1", "2", "3", "4", "5", "6")
	mustPurge(t, s, "p", 2)
	wantKept(t, s, map[string]string{"p": "3 4 5 6"})
	mustAppend(t, s, "q", fork(t, s, "p", 5, "q"), "6q", "7q")
	mustPurge(t, s, "p", 4)
	wantKept(t, s, map[string]string{"p": "3 4 5 6", "q": "6 7"})
	mustPurge(t, s, "q", 3)
	wantKept(t, s, map[string]string{"p": "4 5 6", "q": "6 7"})
	deletePod(t, s, "p")
	wantKept(t, s, map[string]string{"p": "4 5", "q": "6 7"})
	mustPurge(t, s, "q", 5)
	wantKept(t, s, map[string]string{"q": "6 7"})
	if n := rows(t, s, "sharers"); n != 0 {
		t.Errorf("%d rows say that something is shared", n)
	}
	deletePod(t, s, "q")
	if n := rows(t, s, "purges") + rows(t, s, "lineages"); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}

// A long range is removed in several transactions. If the process dies in between, the
// log already looks purged, and the next purge removes the rest.
func TestPurgeGoesOn(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "podd.db"))
	epoch := newPod(t, s, "p")
	const n = 10_000
	batch := store.Batch{Pod: "p", Epoch: epoch}
	for i := range n {
		batch.Entries = append(batch.Entries, noteOf(fmt.Sprint(i)))
	}
	if _, err := s.Append(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	mustPurge(t, s, "p", 9000)
	// As if the process had died after the first transaction.
	err := s.Edit(func(tx *bbolt.Tx) error {
		log := tx.Bucket([]byte("logs")).Bucket([]byte("p"))
		for seq := byte(1); seq < 100; seq++ {
			if err := log.Put(append(bytes.Repeat([]byte{0}, 7), seq), []byte("left over")); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	page, err := s.Read(t.Context(), "p", 8999, 3)
	if err != nil || len(page) != 3 || page[0].Seq != 9000 {
		t.Fatalf("the log begins with %v, error %v", page, err)
	}
	mustPurge(t, s, "p", 9998)
	wantKept(t, s, map[string]string{"p": "9999 10000"})
}

// A damaged mark is damage at its sequence; the entries after it are readable.
func TestDamagedMark(t *testing.T) {
	s := damaged(t, func(s *store.Bolt) {
		mustAppend(t, s, "p", newPod(t, s, "p"), "1", "2", "3", "4")
		mustPurge(t, s, "p", 2)
	}, flip)
	page, err := s.Read(t.Context(), "p", 1, 0)
	wantError(t, err, item.KindDataLoss, store.ReasonDamaged)
	if len(page) != 0 {
		t.Errorf("before the damage stand %v", page)
	}
	if page, err = s.Read(t.Context(), "p", 2, 0); err != nil || len(page) != 2 {
		t.Errorf("after the mark stand %v, error %v", page, err)
	}
	wantError(t, s.Fork(t.Context(), "p", 3, item.Pod{ID: "q", Name: "q"}), item.KindDataLoss, store.ReasonDamaged)
	deletePod(t, s, "p")
}
