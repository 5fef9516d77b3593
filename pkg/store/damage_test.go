package store_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"

	"go.etcd.io/bbolt"
)

// marked is text to find in a database file.
const marked = "0123456789-marked-for-damage-0123456789"

// damaged makes a database with fill, closes it, changes the file with change, and opens
// it again.
func damaged(t *testing.T, fill func(s *store.Bolt), change func(file []byte)) *store.Bolt {
	t.Helper()
	path := filepath.Join(t.TempDir(), "podd.db")
	s := openUnchecked(t, path)
	fill(s)
	closeStore(t, s)
	file := content(t, path)
	before := bytes.Clone(file)
	change(file)
	if bytes.Equal(file, before) {
		t.Fatal("nothing was damaged")
	}
	write(t, path, file)
	return openUnchecked(t, path)
}

// flip changes one byte of each occurrence of the marked text: bbolt leaves old pages in
// the file, and the test does not know which one is current.
func flip(file []byte) {
	for at := bytes.Index(file, []byte(marked)); at >= 0; at = bytes.Index(file, []byte(marked)) {
		file[at+20] ^= 0x10
	}
}

// smash overwrites the pages with the marked text with ones.
func smash(file []byte) {
	size := os.Getpagesize()
	for at := bytes.Index(file, []byte(marked)); at >= 0; at = bytes.Index(file, []byte(marked)) {
		page := file[at/size*size:][:size]
		for i := range page {
			page[i] = 0xff
		}
	}
}

// A read finds a flipped byte in a record. It returns the entries before it, and another
// read those after it. No other pod is affected.
func TestFlippedByteInRecord(t *testing.T) {
	s := damaged(t, func(s *store.Bolt) {
		mustAppend(t, s, "p", newPod(t, s, "p"), "one", "two", marked, "four")
		mustAppend(t, s, "q", newPod(t, s, "q"), "good")
	}, flip)
	page, err := s.Read(t.Context(), "p", 0, 0)
	wantError(t, err, item.KindDataLoss, store.ReasonDamaged)
	if e, _ := errors.AsType[*item.Error](err); e.Meta["pod"] != "p" || e.Meta["seq"] != "3" {
		t.Errorf("the error names %v", e.Meta)
	}
	if len(page) != 2 || page[1].Seq != 2 {
		t.Errorf("before the damage stand %v", page)
	}
	page, err = s.Read(t.Context(), "p", 3, 0)
	if err != nil || len(page) != 1 {
		t.Errorf("after the damage stand %v, error %v", page, err)
	}
	wantTexts(t, s, "q", "good")
	mustAppend(t, s, "q", claim(t, s, "q"), "more")
	wantTexts(t, s, "q", "good", "more")
}

// A missing record, and one in another's place, are damage too.
func TestMissingAndSwappedRecords(t *testing.T) {
	key := func(seq uint64) []byte { return binary.BigEndian.AppendUint64(nil, seq) }
	for name, edit := range map[string]func(log *bbolt.Bucket) error{
		"missing": func(log *bbolt.Bucket) error { return log.Delete(key(2)) },
		"swapped": func(log *bbolt.Bucket) error {
			return errors.Join(log.Put(key(2), bytes.Clone(log.Get(key(3)))), log.Put(key(3), bytes.Clone(log.Get(key(2)))))
		},
		"cut off":   func(log *bbolt.Bucket) error { return errors.Join(log.Delete(key(2)), log.Delete(key(3))) },
		"shortened": func(log *bbolt.Bucket) error { return log.Put(key(2), []byte{1}) },
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, filepath.Join(t.TempDir(), "podd.db"))
			mustAppend(t, s, "p", newPod(t, s, "p"), "one", "two", "three")
			err := s.Edit(func(tx *bbolt.Tx) error { return edit(tx.Bucket([]byte("logs")).Bucket([]byte("p"))) })
			if err != nil {
				t.Fatal(err)
			}
			page, err := s.Read(t.Context(), "p", 0, 0)
			wantError(t, err, item.KindDataLoss, store.ReasonDamaged)
			if e, _ := errors.AsType[*item.Error](err); e.Meta["seq"] != "2" || len(page) != 1 {
				t.Errorf("%d records before an error that names %v", len(page), e.Meta)
			}
		})
	}
}

// A pod with a damaged record or head is listed as quarantined under its name. It refuses
// every other call with DAMAGED, can be deleted, and affects no other pod.
func TestDamagedPodRecord(t *testing.T) {
	for name, bad := range map[string]item.Pod{
		"record": {ID: "p", Name: "named-p", Spec: item.PodSpec{Instructions: marked}},
		"head":   {ID: "p", Name: "named-p", Status: item.PodStatus{Reason: marked}},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			s := damaged(t, func(s *store.Bolt) {
				mustAppend(t, s, "a", newPod(t, s, "a"), "good")
				if err := s.CreatePod(ctx, bad); err != nil {
					t.Fatal(err)
				}
				mustAppend(t, s, "z", newPod(t, s, "z"), "good")
			}, flip)
			pods, err := s.Pods(ctx)
			if err != nil || len(pods) != 3 || pods[1].Name != "named-p" || pods[1].ID != "p" {
				t.Fatalf("pods are %+v, error %v", pods, err)
			}
			if got := pods[1].Status; got.State != item.StateQuarantined || !strings.Contains(got.Reason, "damaged") {
				t.Errorf("its status is %+v", got)
			}
			if pods[0].Last != 1 || pods[2].Last != 1 {
				t.Errorf("the others are %+v", pods)
			}
			_, err = s.Pod(ctx, "named-p")
			wantError(t, err, item.KindDataLoss, store.ReasonDamaged)
			mustAppend(t, s, "z", claim(t, s, "z"), "more")
			if err := s.DeletePod(ctx, "p"); err != nil {
				t.Errorf("delete: %v", err)
			}
			if err := s.CreatePod(ctx, item.Pod{ID: "p", Name: "named-p"}); err != nil {
				t.Errorf("create again: %v", err)
			}
		})
	}
}

// Every call that needs a damaged head fails. An append to that pod does not affect the
// others of its group.
func TestDamagedHeadRefusesWrites(t *testing.T) {
	ctx := t.Context()
	s := damaged(t, func(s *store.Bolt) {
		mustAppend(t, s, "q", newPod(t, s, "q"), "good")
		pod := item.Pod{ID: "p", Name: "p", Status: item.PodStatus{Reason: marked}}
		if err := s.CreatePod(ctx, pod); err != nil {
			t.Fatal(err)
		}
	}, flip)
	_, err := s.Claim(ctx, "p")
	wantError(t, err, item.KindDataLoss, store.ReasonDamaged)
	wantError(t, appendNotes(ctx, s, "p", 1, "x"), item.KindDataLoss, store.ReasonDamaged)
	_, err = s.Read(ctx, "p", 0, 0)
	wantError(t, err, item.KindDataLoss, store.ReasonDamaged)
	mustAppend(t, s, "q", claim(t, s, "q"), "more")
}

// On a damaged page of one pod's log bbolt panics or faults. That pod is damaged, for
// reading and for writing; the others and the store keep working.
func TestDamagedPage(t *testing.T) {
	ctx := t.Context()
	large := strings.Repeat(marked, 1000)
	s := damaged(t, func(s *store.Bolt) {
		mustAppend(t, s, "p", newPod(t, s, "p"), "one", large, "three")
		mustAppend(t, s, "q", newPod(t, s, "q"), "good")
	}, smash)
	_, err := texts(ctx, s, "p")
	wantError(t, err, item.KindDataLoss, store.ReasonDamaged)
	wantError(t, appendNotes(ctx, s, "p", claim(t, s, "p"), "x"), item.KindDataLoss, store.ReasonDamaged)
	mustAppend(t, s, "q", claim(t, s, "q"), "more")
	wantTexts(t, s, "q", "good", "more")
	select {
	case <-s.Failed():
		t.Error("the store failed")
	default:
	}
}

// A damaged page that all pods share is damage of the file. Only calls that need the page
// fail: the error blames no pod, and the logs keep working.
func TestDamagedSharedPage(t *testing.T) {
	ctx := t.Context()
	s := damaged(t, func(s *store.Bolt) {
		mustAppend(t, s, "p", newPod(t, s, "p"), "good")
		for n := range 3 {
			if _, err := s.RaiseAlert(ctx, item.Alert{Text: strings.Repeat(marked, 100+n)}); err != nil {
				t.Fatal(err)
			}
		}
	}, smash)
	_, err := s.Alerts(ctx, store.AlertQuery{})
	wantError(t, err, item.KindDataLoss, store.ReasonDamaged)
	if e, _ := errors.AsType[*item.Error](err); e.Meta["pod"] != "" || !strings.Contains(e.Message, "podd.db") {
		t.Errorf("the error blames %v: %v", e.Meta, e)
	}
	_, err = s.RaiseAlert(ctx, item.Alert{Text: "more"})
	wantError(t, err, item.KindDataLoss, store.ReasonDamaged)
	mustAppend(t, s, "p", claim(t, s, "p"), "more")
	wantTexts(t, s, "p", "good", "more")
}

// A damaged alert shows as one that says so, under its sequence, and hides no other.
func TestDamagedAlert(t *testing.T) {
	ctx := t.Context()
	s := damaged(t, func(s *store.Bolt) {
		newPod(t, s, "p")
		for _, text := range []string{"good", marked, "good too"} {
			if _, err := s.RaiseAlert(ctx, item.Alert{Pod: "p", Text: text, Time: time.Unix(1, 0)}); err != nil {
				t.Fatal(err)
			}
		}
	}, flip)
	for _, q := range []store.AlertQuery{{}, {Pod: "p"}} {
		alerts, err := s.Alerts(ctx, q)
		if err != nil || len(alerts) != 3 {
			t.Fatalf("alerts are %+v, error %v", alerts, err)
		}
		if got := alerts[1]; got.Seq != 2 || got.Pod != q.Pod || got.Level != item.LevelError || !strings.Contains(got.Text, "damaged") {
			t.Errorf("the damaged alert is shown as %+v", got)
		}
	}
	wantError(t, s.AckAlerts(ctx, []item.Seq{1, 2}), item.KindDataLoss, store.ReasonDamaged)
	if err := s.AckAlerts(ctx, []item.Seq{1, 3}); err != nil {
		t.Error(err)
	}
}

// A damaged request id must not be admitted a second time.
func TestDamagedRequest(t *testing.T) {
	ctx := t.Context()
	batch := store.Batch{
		Pod: "p", Epoch: 1,
		Entries: []item.Entry{{Time: time.Unix(1, 0), Kind: item.Submitted{RequestID: "r"}}},
		Admit:   &store.Request{ID: "r", Digest: [32]byte([]byte(marked))},
	}
	s := damaged(t, func(s *store.Bolt) {
		newPod(t, s, "p")
		if _, err := s.Append(ctx, batch); err != nil {
			t.Fatal(err)
		}
	}, func(file []byte) {
		short := []byte(marked)[:32]
		for at := bytes.Index(file, short); at >= 0; at = bytes.Index(file, short) {
			file[at+20] ^= 0x10
		}
	})
	_, _, err := s.Request(ctx, "p", "r")
	wantError(t, err, item.KindDataLoss, store.ReasonDamaged)
	_, err = s.Append(ctx, batch)
	wantError(t, err, item.KindDataLoss, store.ReasonDamaged)
}

// The error names a damaged submit, and the earlier ones are returned.
func TestDamagedInbox(t *testing.T) {
	ctx := t.Context()
	s := damaged(t, func(s *store.Bolt) {
		newPod(t, s, "p")
		for n, text := range []string{"good", marked, "good too"} {
			entry := item.Entry{Time: time.Unix(1, 0), Kind: item.Submitted{RequestID: fmt.Sprint(n), Text: text}}
			if _, err := s.Append(ctx, store.Batch{Pod: "p", Epoch: 1, Enqueue: true, Entries: []item.Entry{entry}}); err != nil {
				t.Fatal(err)
			}
		}
	}, flip)
	waiting, err := s.Inbox(ctx, "p")
	wantError(t, err, item.KindDataLoss, store.ReasonDamaged)
	if len(waiting) != 1 || waiting[0].Seq != 1 {
		t.Errorf("before the damage wait %v", waiting)
	}
}
