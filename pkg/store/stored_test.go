package store_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"podd/pkg/item"
	"podd/pkg/store"

	"go.etcd.io/bbolt"
)

// values are all values of a file, by their places.
func values(t *testing.T, path string) map[string]string {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	all := map[string]string{}
	var add func(place string, b *bbolt.Bucket) error
	add = func(place string, b *bbolt.Bucket) error {
		all[place] = fmt.Sprint(b.Sequence())
		return b.ForEach(func(k, v []byte) error {
			if v == nil {
				return add(fmt.Sprintf("%s/%x", place, k), b.Bucket(k))
			}
			all[fmt.Sprintf("%s/%x", place, k)] = string(v)
			return nil
		})
	}
	err = db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bbolt.Bucket) error { return add(string(name), b) })
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A copy of a file by its rows has what the file has, in each bucket.
func TestFileOfRows(t *testing.T) {
	path, to := everything(t), filepath.Join(t.TempDir(), "podd.db")
	err := store.ReadFile(path, func(from store.Stored) error { return store.WriteFile(t.Context(), to, from) })
	if err != nil {
		t.Fatal(err)
	}
	want, got := values(t, path), values(t, to)
	for key, value := range want {
		if other, ok := got[key]; !strings.HasPrefix(key, "meta") && (!ok || other != value) {
			t.Errorf("%q is %q, want %q", key, other, value)
		}
	}
	for key := range got {
		if _, ok := want[key]; !ok && !strings.HasPrefix(key, "meta") {
			t.Errorf("the copy has %q of its own", key)
		}
	}
	if found := check(t, to, false); len(found) > 0 {
		t.Errorf("the copy: %v", found)
	}
}

// Each bucket of a file is copied or follows from what is copied.
func TestCopiesHaveAllBuckets(t *testing.T) {
	known := append(store.Buckets(), store.DerivedBuckets()...)
	db, err := bbolt.Open(everything(t), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, _ *bbolt.Bucket) error {
			if !slices.Contains(known, string(name)) {
				t.Errorf("the bucket %s is not copied: add it to storedBuckets or derivedBuckets", name)
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
