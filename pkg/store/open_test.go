package store_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podd/pkg/item"
	"podd/pkg/store"

	"go.etcd.io/bbolt"
)

// database makes a database with an entry and a pod of some pages, and closes it.
func database(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "podd.db")
	s := openUnchecked(t, path)
	mustAppend(t, s, "p", newPod(t, s, "p"), "one")
	mustAppend(t, s, "large", newPod(t, s, "large"), strings.Repeat("0123456789", 50_000))
	closeStore(t, s)
	return path
}

func tryOpen(t *testing.T, path string) error {
	t.Helper()
	s, err := store.OpenBolt(store.BoltConfig{Path: path})
	if err == nil {
		closeStore(t, s)
	}
	return err
}

func content(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Only the user can read the file and its side file, even if others could before.
func TestFileModes(t *testing.T) {
	path := database(t)
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	open(t, path)
	for _, name := range []string{path, filepath.Join(filepath.Dir(path), "podd.id")} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != 0o600 {
			t.Errorf("%s has mode %s", name, info.Mode())
		}
	}
}

// For any invalid file in place of the database, opening it fails with one sentence that
// names the file, leaves the file unchanged, and releases its lock.
func TestUnreadableFile(t *testing.T) {
	path := database(t)
	good := content(t, path)
	page := os.Getpagesize()
	noise := make([]byte, len(good))
	for i, last := 0, sha256.Sum256(nil); i < len(noise); i += len(last) {
		last = sha256.Sum256(last[:])
		copy(noise[i:], last[:])
	}
	for name, bad := range map[string][]byte{
		"empty":               {},
		"one byte":            good[:1],
		"less than a page":    good[:100],
		"one page":            good[:page],
		"two pages":           good[:2*page],
		"three pages":         good[:3*page],
		"six pages":           good[:6*page],
		"half of the pages":   good[:80*page],
		"text":                []byte(strings.Repeat("this is no database\n", 10_000)),
		"noise":               noise,
		"zeros":               make([]byte, len(good)),
		"noise behind a head": append(bytes.Clone(good[:2*page]), noise[2*page:]...),
		"zeros behind a head": append(bytes.Clone(good[:2*page]), make([]byte, 30*page)...),
	} {
		t.Run(name, func(t *testing.T) {
			write(t, path, bad)
			err := tryOpen(t, path)
			wantError(t, err, item.KindDataLoss, store.ReasonUnreadable)
			if !strings.Contains(err.Error(), path) {
				t.Errorf("%q does not name the file", err)
			}
			if !bytes.Equal(content(t, path), bad) {
				t.Error("the file was changed")
			}
			write(t, path, good)
			if err := tryOpen(t, path); err != nil {
				t.Errorf("open after the good file is back: %v", err)
			}
		})
	}
	wantTexts(t, open(t, path), "p", "one")
}

// A bbolt database of another program is refused.
func TestForeignDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "podd.db")
	for name, bucket := range map[string]string{"another name": "theirs", "our name": "meta"} {
		t.Run(name, func(t *testing.T) {
			db, err := bbolt.Open(path, 0o600, nil)
			if err != nil {
				t.Fatal(err)
			}
			err = db.Update(func(tx *bbolt.Tx) error {
				_, err := tx.CreateBucketIfNotExists([]byte(bucket))
				return err
			})
			if err := errors.Join(err, db.Close()); err != nil {
				t.Fatal(err)
			}
			before := content(t, path)
			wantError(t, tryOpen(t, path), item.KindDataLoss, store.ReasonUnreadable)
			if !bytes.Equal(content(t, path), before) {
				t.Error("the file was changed")
			}
		})
	}
}

// An emptied file is not a new database if the side file says otherwise; without a side
// file, or without a file, there is nothing to lose.
func TestEmptiedDatabase(t *testing.T) {
	path := database(t)
	known := content(t, idFile(path))

	write(t, path, nil)
	wantError(t, tryOpen(t, path), item.KindDataLoss, store.ReasonUnreadable)
	if got := content(t, path); len(got) != 0 {
		t.Errorf("the file has %d bytes now", len(got))
	}

	// A bbolt database without a bucket, as a crash during creation leaves it.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	wantError(t, tryOpen(t, path), item.KindDataLoss, store.ReasonUnreadable)
	if err := os.Remove(idFile(path)); err != nil {
		t.Fatal(err)
	}
	if err := tryOpen(t, path); err != nil {
		t.Errorf("without a side file: %v", err)
	}

	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := tryOpen(t, path); err != nil {
		t.Errorf("without a file: %v", err)
	}
	if got := content(t, idFile(path)); len(got) == 0 || bytes.Equal(got, known) {
		t.Errorf("the new database has the id %q, the old one had %q", got, known)
	}
}

func idFile(path string) string { return filepath.Join(filepath.Dir(path), "podd.id") }

// A lost or foreign side file is harmless: the database contains its id.
func TestSideFileIsRestored(t *testing.T) {
	path := database(t)
	want := content(t, idFile(path))
	for _, side := range []string{"", "SOMETHINGELSE\n"} {
		if err := os.Remove(idFile(path)); err != nil {
			t.Fatal(err)
		}
		if side != "" {
			write(t, idFile(path), []byte(side))
		}
		if err := tryOpen(t, path); err != nil {
			t.Fatal(err)
		}
		if got := content(t, idFile(path)); !bytes.Equal(got, want) {
			t.Errorf("the side file has %q, want %q", got, want)
		}
	}
}

// A second podd on the same file is refused at once, and the first keeps running.
func TestHeldDatabase(t *testing.T) {
	path := database(t)
	s := open(t, path)
	err := tryOpen(t, path)
	wantError(t, err, item.KindPrecondition, store.ReasonHeld)
	if !strings.Contains(err.Error(), path) {
		t.Errorf("%q does not name the file", err)
	}
	wantTexts(t, s, "p", "one")
}

// When no file can be opened at a path, the error has the system's reason.
func TestCannotOpen(t *testing.T) {
	dir := t.TempDir()
	blocked := filepath.Join(dir, "blocked.db")
	if err := os.Mkdir(filepath.Join(dir, "blocked.id"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"a directory":         dir,
		"no directory":        filepath.Join(dir, "missing", "podd.db"),
		"a side directory":    blocked,
		"a file as directory": filepath.Join(os.Args[0], "podd.db"),
	} {
		err := tryOpen(t, path)
		wantError(t, err, item.KindPrecondition, store.ReasonCannotOpen)
		if _, statErr := os.Stat(path); path != dir && !errors.Is(statErr, fs.ErrNotExist) && statErr == nil {
			t.Errorf("%s: a file was made", name)
		}
	}
	wantError(t, tryOpen(t, ""), item.KindInvalid, store.ReasonCannotOpen)
}
