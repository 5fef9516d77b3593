package store_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"podd/pkg/item"
	"podd/pkg/store"

	"go.etcd.io/bbolt"
)

// imageDigest is that of the bytes "pixels".
const imageDigest = "6ec9c2b0eb14010746c8bce8939303b382344b296206612eb8a907a37b2b2f37"

// everything makes a database that has something of each kind.
func everything(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "podd.db")
	s := openUnchecked(t, path)
	epoch := newPod(t, s, "p")
	mustAppend(t, s, "p", epoch, "one", marked, "three")
	for n := range 3 {
		id := fmt.Sprint("r", n)
		_, err := s.Append(t.Context(), store.Batch{
			Pod: "p", Epoch: epoch, Admit: &store.Request{ID: id}, Enqueue: n > 0,
			Entries: []item.Entry{{Kind: item.Submitted{RequestID: id}}, {Kind: item.AlertRaised{Alert: item.Alert{Text: id}}}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Append(t.Context(), store.Batch{
		Pod: "p", Epoch: epoch, Images: map[string][]byte{imageDigest: []byte("pixels")},
		Entries: []item.Entry{{Kind: item.ItemAdded{Item: item.UserMessage{Images: item.NewImages(item.Image{Digest: imageDigest})}}}},
	}); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, s, "gone", newPod(t, s, "gone"), "1", "2", "3")
	mustAppend(t, s, "q", fork(t, s, "gone", 2, "q"), "3q", "4q")
	deletePod(t, s, "gone")
	mustAppend(t, s, "r", fork(t, s, "q", 3, "r"), "4r")
	mustPurge(t, s, "r", 2)
	if _, err := s.Append(t.Context(), store.Batch{Pod: "p", Epoch: epoch, Base: &store.Base{Seq: 3, Fold: []byte("folded")}}); err != nil {
		t.Fatal(err)
	}
	for _, pod := range []string{"", "q"} {
		if _, err := s.RaiseAlert(t.Context(), item.Alert{Pod: pod, Text: "alert"}); err != nil {
			t.Fatal(err)
		}
	}
	closeStore(t, s)
	return path
}

func check(t *testing.T, path string, quick bool) []store.Finding {
	t.Helper()
	found, err := store.CheckFile(t.Context(), path, quick)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// A check of a sound database finds nothing and changes nothing.
func TestCheckSound(t *testing.T) {
	path := everything(t)
	before := content(t, path)
	for _, quick := range []bool{true, false} {
		if found := check(t, path, quick); len(found) > 0 {
			t.Errorf("quick %v: %v", quick, found)
		}
	}
	if string(content(t, path)) != string(before) {
		t.Error("the file was changed")
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := store.CheckFile(cancelled, path, false); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled check: %v", err)
	}
}

// baseOf is a base for pod p whose log has the given length.
func baseOf(t *testing.T, long item.Seq) (sealed []byte) {
	t.Helper()
	s := openUnchecked(t, filepath.Join(t.TempDir(), "podd.db"))
	epoch := newPod(t, s, "p")
	mustAppend(t, s, "p", epoch, make([]string, long)...)
	if _, err := s.Append(t.Context(), store.Batch{Pod: "p", Epoch: epoch, Base: &store.Base{Seq: long}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Edit(func(tx *bbolt.Tx) error {
		sealed = bytes.Clone(tx.Bucket([]byte("bases")).Get([]byte("p")))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	return sealed
}

// A check finds every kind of damage and names it in a sentence. A full check finds all
// of them, a quick one those in what it reads.
func TestCheckFinds(t *testing.T) {
	key := func(pod string, seq byte) []byte {
		return append(append([]byte(pod), 0), 0, 0, 0, 0, 0, 0, 0, seq)
	}
	in := func(tx *bbolt.Tx, name string) *bbolt.Bucket { return tx.Bucket([]byte(name)) }
	longer := baseOf(t, 50)
	imageKey, err := hex.DecodeString(imageDigest)
	if err != nil {
		t.Fatal(err)
	}
	imageUse, otherKey := append(key("p", 10), imageKey...), sha256.Sum256([]byte("other"))
	harmless := []string{"a damaged base", "an orphaned base", "an unused image", "a use of no entry"}
	for name, tt := range map[string]struct {
		edit func(tx *bbolt.Tx) error
		want string
	}{
		"a missing entry": {func(tx *bbolt.Tx) error {
			return in(tx, "logs").Bucket([]byte("p")).Delete(key("", 2)[1:])
		}, "entry 2 of pod p is damaged"},
		"a missing shared entry": {func(tx *bbolt.Tx) error {
			return in(tx, "logs").Bucket([]byte("gone")).Delete(key("", 1)[1:])
		}, "entry 1 of pod q is damaged"},
		"a missing log":             {func(tx *bbolt.Tx) error { return in(tx, "logs").DeleteBucket([]byte("p")) }, "the record of pod p is damaged"},
		"a missing head":            {func(tx *bbolt.Tx) error { return in(tx, "heads").Put([]byte("p"), []byte("????")) }, "the record of pod p is damaged"},
		"a missing record":          {func(tx *bbolt.Tx) error { return in(tx, "pods").Delete([]byte("p")) }, "the record of pod p is damaged"},
		"a missing name":            {func(tx *bbolt.Tx) error { return in(tx, "names").Delete([]byte("p")) }, `pod p is named "p", but that name belongs to ""`},
		"an orphaned name":          {func(tx *bbolt.Tx) error { return in(tx, "names").Put([]byte("x"), []byte("y")) }, `the name "x" belongs to pod y`},
		"an entry beyond the end":   {func(tx *bbolt.Tx) error { return in(tx, "logs").Bucket([]byte("p")).Put(key("", 200)[1:], []byte("x")) }, "records up to 200"},
		"a missing waiting submit":  {func(tx *bbolt.Tx) error { return in(tx, "inbox").Delete(key("p", 6)) }, "the inbox of pod p has 1 submits, but the pod counts 2"},
		"a waiting note":            {func(tx *bbolt.Tx) error { return in(tx, "inbox").Put(key("p", 1), nil) }, "entry 1 of pod p is in the inbox, but is not a submit"},
		"a forgotten request":       {func(tx *bbolt.Tx) error { return in(tx, "requests").Delete([]byte("p\x00r1")) }, `the request id "r1" of pod p is damaged`},
		"an order without requests": {func(tx *bbolt.Tx) error { return in(tx, "admitted").Delete(key("p", 4)) }, "pod p has 3 request ids, 2 in their order"},
		"a damaged alert":           {func(tx *bbolt.Tx) error { return in(tx, "alerts").Put(key("", 1)[1:], []byte("????x")) }, "alert 1 is damaged"},
		"an alert out of the index": {func(tx *bbolt.Tx) error { return in(tx, "podalerts").Delete(key("p", 1)) }, "alert 1 is missing from the alerts of its pod p"},
		"an index without an alert": {func(tx *bbolt.Tx) error { return in(tx, "podalerts").Put(key("p", 77), nil) }, "the alerts of pods list 1 that do not exist"},
		"a damaged lineage":         {func(tx *bbolt.Tx) error { return in(tx, "lineages").Put([]byte("q"), []byte("????x")) }, "the record of pod q is damaged"},
		"what is not kept for a fork": {func(tx *bbolt.Tx) error {
			return in(tx, "sharers").Delete([]byte("gone\x00q"))
		}, "pod q needs entries of pod gone up to 2, but they are not marked as shared"},
		"an orphaned log": {func(tx *bbolt.Tx) error {
			_, err := in(tx, "logs").CreateBucket([]byte("lost"))
			return err
		}, "entries of pod lost are left over"},
		"a damaged base":   {func(tx *bbolt.Tx) error { return in(tx, "bases").Put([]byte("p"), []byte("????folded")) }, "the base of pod p is damaged"},
		"an orphaned base": {func(tx *bbolt.Tx) error { return in(tx, "bases").Put([]byte("x"), nil) }, "a base belongs to pod x, which does not exist"},
		"a base of more than the log has": {func(tx *bbolt.Tx) error {
			return in(tx, "bases").Put([]byte("p"), longer)
		}, "the base of pod p ends at 50, but its log has entries 1 to "},
		"a missing image":    {func(tx *bbolt.Tx) error { return in(tx, "images").Delete(imageKey) }, "entry 10 of pod p refers to the image " + imageDigest + ", which is missing"},
		"a missing use":      {func(tx *bbolt.Tx) error { return in(tx, "imageuses").Delete(imageUse) }, "entry 10 of pod p refers to the image " + imageDigest + ", which is missing"},
		"a damaged image":    {func(tx *bbolt.Tx) error { return in(tx, "images").Put(imageKey, []byte("other")) }, "the image " + imageDigest + " is damaged"},
		"an unused image":    {func(tx *bbolt.Tx) error { return in(tx, "images").Put(otherKey[:], []byte("other")) }, "no entry refers to the image "},
		"a use of no entry":  {func(tx *bbolt.Tx) error { return in(tx, "imageuses").Put(append(key("p", 99), imageKey...), nil) }, "belongs to entry 99 of pod p, which does not exist"},
		"a use without form": {func(tx *bbolt.Tx) error { return in(tx, "imageuses").Put([]byte("x"), nil) }, "an image has a use that cannot be read: 78"},
		"a damaged mark":     {func(tx *bbolt.Tx) error { return in(tx, "purges").Put([]byte("r"), []byte("????x")) }, "entry 2 of pod r is damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			path := everything(t)
			s := openUnchecked(t, path)
			if err := s.Edit(tt.edit); err != nil {
				t.Fatal(err)
			}
			closeStore(t, s)
			found := check(t, path, false)
			got := fmt.Sprint(found)
			if len(found) == 0 || !strings.Contains(got, tt.want) {
				t.Errorf("found %s, want %q", got, tt.want)
			}
			for _, f := range found {
				if f.Fatal {
					t.Errorf("fatal: %s", f.Text)
				}
				if f.Harmless != slices.Contains(harmless, name) {
					t.Errorf("harmless %v: %s", f.Harmless, f.Text)
				}
			}
			check(t, path, true)
		})
	}
}

// helperCheck checks a file and prints the findings. It runs in its own process: pages
// that form a circle may cost any amount of memory.
func helperCheck(ctx context.Context, path string) error {
	if !underRace {
		if err := syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: 4 << 30, Max: 4 << 30}); err != nil {
			return err
		}
	}
	found, err := store.CheckFile(ctx, path, false)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(found)
}

// Whatever bytes of a file change, a check in its own process finds an error, or the file
// reads as before.
func TestCheckGarbled(t *testing.T) {
	path := everything(t)
	good := content(t, path)
	random := rand.New(rand.NewPCG(1, 2))
	page := os.Getpagesize()
	rounds := 40
	if testing.Short() {
		rounds = 8
	}
	crashed := 0
	for round := range rounds {
		bad := []byte(string(good))
		// Garble a part of a page that is in use.
		at := (2 + random.IntN(len(strings.TrimRight(string(good), "\x00"))/page-2)) * page
		for range 1 + random.IntN(64) {
			bad[at+random.IntN(page)] ^= byte(1 + random.IntN(255))
		}
		write(t, path, bad)
		cmd := helper(t, "check", path)
		cmd.Stderr = nil
		out, err := cmd.Output()
		var found []store.Finding
		if err != nil || json.Unmarshal(out, &found) != nil {
			crashed++
			continue
		}
		if len(found) > 0 {
			continue
		}
		s := openUnchecked(t, path)
		wantTexts(t, s, "q", "1", "2", "3q", "4q")
		closeStore(t, s)
		if t.Failed() {
			t.Fatalf("round %d: nothing was found", round)
		}
	}
	t.Logf("%d of %d checks did not survive", crashed, rounds)
}
