package store_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"podd/pkg/item"
	"podd/pkg/store"

	"go.etcd.io/bbolt"
)

// The versions count from 1 without a gap: migration goes step by step and misses none.
func TestMigrationsAreInOrder(t *testing.T) {
	for i, version := range store.MigrationVersions() {
		if version != uint32(i+1) {
			t.Errorf("migration %d has version %d", i, version)
		}
	}
}

// version reads the version of a database.
func version(t *testing.T, path string) uint32 {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var v uint32
	err = db.View(func(tx *bbolt.Tx) error {
		v = binary.BigEndian.Uint32(tx.Bucket([]byte("meta")).Get([]byte("version")))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// step records that it ran, and creates a bucket of its name.
func step(ran *[]string, name string) store.Step {
	return func(tx *bbolt.Tx) error {
		*ran = append(*ran, name)
		_, err := tx.CreateBucket([]byte(name))
		return err
	}
}

func migrateTo(t *testing.T, path string, steps ...store.Step) error {
	t.Helper()
	s, err := store.OpenWithSteps(store.BoltConfig{Path: path}, steps...)
	if err == nil {
		closeStore(t, s)
	}
	return err
}

// A database of an older version runs the steps that it has not had, in order and once,
// and keeps its data.
func TestOlderDatabaseIsMigrated(t *testing.T) {
	path := database(t)
	var ran []string
	a, b, c := step(&ran, "a"), step(&ran, "b"), step(&ran, "c")
	for _, steps := range [][]store.Step{{a}, {a, b, c}, {a, b, c}} {
		if err := migrateTo(t, path, steps...); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(ran, []string{"a", "b", "c"}) {
		t.Errorf("ran %q", ran)
	}
	if got, want := version(t, path), store.NewestVersion()+3; got != want {
		t.Errorf("version %d, want %d", got, want)
	}
	s, err := store.OpenWithSteps(store.BoltConfig{Path: path}, a, b, c)
	if err != nil {
		t.Fatal(err)
	}
	defer closeStore(t, s)
	wantTexts(t, s, "p", "one")
}

// A database of the second version has no bases; the migration creates the bucket for
// them.
func TestDatabaseWithoutBases(t *testing.T) {
	path := database(t)
	s := openUnchecked(t, path)
	err := s.Edit(func(tx *bbolt.Tx) error {
		return errors.Join(
			tx.DeleteBucket([]byte("bases")),
			tx.Bucket([]byte("meta")).Put([]byte("version"), binary.BigEndian.AppendUint32(nil, 2)),
		)
	})
	if err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	s = openUnchecked(t, path)
	defer closeStore(t, s)
	if b, ok, err := s.Base(t.Context(), "p"); ok || err != nil {
		t.Errorf("base %+v, %v", b, err)
	}
	epoch, err := s.Claim(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(t.Context(), store.Batch{Pod: "p", Epoch: epoch, Base: &store.Base{Seq: 1}}); err != nil {
		t.Error(err)
	}
	wantTexts(t, s, "p", "one")
}

// A new database runs all steps.
func TestNewDatabaseIsMigrated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "podd.db")
	var ran []string
	if err := migrateTo(t, path, step(&ran, "a"), step(&ran, "b")); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(ran, []string{"a", "b"}) {
		t.Errorf("ran %q", ran)
	}
}

// A step that fails or panics leaves no trace. The earlier steps stay, and the next start
// continues from there.
func TestFailedMigration(t *testing.T) {
	path := database(t)
	var ran []string
	broken := func(tx *bbolt.Tx) error {
		if _, err := tx.CreateBucket([]byte("half")); err != nil {
			return err
		}
		return errors.New("no")
	}
	panics := func(*bbolt.Tx) error { panic("no") }
	a, b := step(&ran, "a"), step(&ran, "half")
	wantError(t, migrateTo(t, path, a, broken), item.KindPrecondition, store.ReasonCannotOpen)
	wantError(t, migrateTo(t, path, a, panics), item.KindDataLoss, store.ReasonUnreadable)
	if got, want := version(t, path), store.NewestVersion()+1; got != want {
		t.Errorf("version %d, want %d", got, want)
	}
	if err := migrateTo(t, path, a, b); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(ran, []string{"a", "half"}) {
		t.Errorf("ran %q", ran)
	}
}

// A database of a newer version is refused, and not changed.
func TestNewerDatabase(t *testing.T) {
	path := database(t)
	if err := migrateTo(t, path, func(*bbolt.Tx) error { return nil }); err != nil {
		t.Fatal(err)
	}
	before := content(t, path)
	wantError(t, tryOpen(t, path), item.KindPrecondition, store.ReasonNewer)
	if !bytes.Equal(content(t, path), before) {
		t.Error("the file was changed")
	}
}
