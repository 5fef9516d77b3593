package store_test

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"podd/pkg/item"
	"podd/pkg/store"

	"go.etcd.io/bbolt"
)

// kept lists, for each bucket of a log, the sequences in it.
func kept(t *testing.T, s *store.Bolt) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := s.Edit(func(tx *bbolt.Tx) error {
		logs := tx.Bucket([]byte("logs"))
		return logs.ForEachBucket(func(pod []byte) error {
			var seqs []string
			err := logs.Bucket(pod).ForEach(func(k, _ []byte) error {
				seqs = append(seqs, fmt.Sprint(binary.BigEndian.Uint64(k)))
				return nil
			})
			out[string(pod)] = strings.Join(seqs, " ")
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func wantKept(t *testing.T, s *store.Bolt, want map[string]string) {
	t.Helper()
	if got := kept(t, s); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the logs hold %v, want %v", got, want)
	}
}

func fork(t *testing.T, s store.Store, parent string, at item.Seq, id string) store.Epoch {
	t.Helper()
	if err := s.Fork(t.Context(), parent, at, item.Pod{ID: id, Name: id}); err != nil {
		t.Fatalf("fork: %v", err)
	}
	return claim(t, s, id)
}

func deletePod(t *testing.T, s store.Store, id string) {
	t.Helper()
	if err := s.DeletePod(t.Context(), id); err != nil {
		t.Fatalf("delete: %v", err)
	}
}

// A fork copies no record. Of a deleted pod exactly the records that forks need remain,
// and deleting the last fork removes them.
func TestForkKeepsWhatIsNeeded(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "podd.db"))
	mustAppend(t, s, "p", newPod(t, s, "p"), "1", "2", "3", "4", "5")
	epoch := fork(t, s, "p", 4, "q")
	wantKept(t, s, map[string]string{"p": "1 2 3 4 5", "q": ""})
	mustAppend(t, s, "q", epoch, "5q", "6q", "7q")
	mustAppend(t, s, "r", fork(t, s, "q", 6, "r"), "7r")
	fork(t, s, "r", 3, "s")
	wantTexts(t, s, "r", "1", "2", "3", "4", "5q", "6q", "7r")
	deletePod(t, s, "p")
	wantKept(t, s, map[string]string{"p": "1 2 3 4", "q": "5 6 7", "r": "7", "s": ""})
	deletePod(t, s, "q")
	wantKept(t, s, map[string]string{"p": "1 2 3 4", "q": "5 6", "r": "7", "s": ""})
	wantTexts(t, s, "r", "1", "2", "3", "4", "5q", "6q", "7r")
	deletePod(t, s, "r")
	wantKept(t, s, map[string]string{"p": "1 2 3", "s": ""})
	wantTexts(t, s, "s", "1", "2", "3")
	deletePod(t, s, "s")
	wantKept(t, s, map[string]string{})
	if n := rows(t, s, "lineages") + rows(t, s, "sharers"); n != 0 {
		t.Errorf("%d rows of forks are left", n)
	}
}

// rows counts the keys of a bucket.
func rows(t *testing.T, s *store.Bolt, bucket string) (n int) {
	t.Helper()
	err := s.Edit(func(tx *bbolt.Tx) error {
		n = tx.Bucket([]byte(bucket)).Stats().KeyN
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Damage in the shared part affects all pods that share it, from there on, and the error
// names the pod that was read. The fork can be deleted, even when its lineage is damaged.
func TestDamagedFork(t *testing.T) {
	s := damaged(t, func(s *store.Bolt) {
		mustAppend(t, s, "p", newPod(t, s, "p"), "one", marked, "three")
		mustAppend(t, s, "q", fork(t, s, "p", 3, "q"), "four")
		mustAppend(t, s, "r", fork(t, s, "p", 1, "r"), "two")
	}, flip)
	page, err := s.Read(t.Context(), "q", 0, 0)
	wantError(t, err, item.KindDataLoss, store.ReasonDamaged)
	if want := "entry 2 of pod q is damaged"; !strings.Contains(err.Error(), want) || len(page) != 1 {
		t.Errorf("%d records before %q, want 1 and %q", len(page), err, want)
	}
	wantTexts(t, s, "r", "one", "two")
	err = s.Edit(func(tx *bbolt.Tx) error { return tx.Bucket([]byte("lineages")).Put([]byte("q"), []byte("????x")) })
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Read(t.Context(), "q", 2, 0)
	wantError(t, err, item.KindDataLoss, store.ReasonDamaged)
	deletePod(t, s, "q")
	deletePod(t, s, "p")
	wantTexts(t, s, "r", "one", "two")
	wantKept(t, s, map[string]string{"p": "1", "r": "2"})
}
