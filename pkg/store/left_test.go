package store_test

import (
	"slices"
	"strings"
	"testing"

	"podd/pkg/item"
	"podd/pkg/store"

	"go.etcd.io/bbolt"
)

// Each bucket of a file is copied to a database, or follows from what is copied.
func TestCopiesHaveAllBuckets(t *testing.T) {
	copied := []string{"pods", "names", "heads", "trashheads", "trash", "logs", "inbox", "requests", "purges", "bases", "images", "imageuses", "alerts", "moved", "lineages"}
	follow := []string{"meta", "admitted", "sharers", "chains", "podalerts"}
	db, err := bbolt.Open(everything(t), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, _ *bbolt.Bucket) error {
			if !slices.Contains(append(copied, follow...), string(name)) {
				t.Errorf("the bucket %s is not copied: add it to the targets of postgres.Copier, or to those here that follow", name)
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// podd refuses a file whose pods went elsewhere, and says where.
func TestFileIsLeft(t *testing.T) {
	path := everything(t)
	if err := store.LeaveFile(path, "postgres://db/podd"); err != nil {
		t.Fatal(err)
	}
	_, err := store.OpenBolt(store.BoltConfig{Path: path})
	if item.ReasonOf(err) != store.ReasonLeft || !strings.Contains(err.Error(), "postgres://db/podd") {
		t.Errorf("got %v", err)
	}
	if to, err := store.LeftFor(path); to != "postgres://db/podd" || err != nil {
		t.Errorf("left for %q, %v", to, err)
	}
	if found := check(t, path, false); len(found) > 0 {
		t.Errorf("the file: %v", found)
	}
}
