package search_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"podd/internal/search"
	"podd/pkg/item"
	"podd/pkg/store"
)

// twoLogs has the pods whole and broken, with three notes each, in turn.
func twoLogs(t *testing.T) *store.Bolt {
	t.Helper()
	s, err := store.OpenBolt(store.BoltConfig{Path: filepath.Join(t.TempDir(), "podd.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for i, id := range []string{"whole", "broken"} {
		if err := s.CreatePod(t.Context(), item.Pod{ID: id, Name: id}); err != nil {
			t.Fatal(err)
		}
		epoch, err := s.Claim(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		var notes []item.Entry
		for n := range 3 {
			notes = append(notes, item.Entry{Time: time.Unix(int64(2*n+i+1), 0), Kind: item.Note{Text: "a note"}})
		}
		if _, err := s.Append(t.Context(), store.Batch{Pod: id, Epoch: epoch, Entries: notes}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// damagedLog is a store in which a record of one pod is damaged.
type damagedLog struct{ store.Store }

func (s damagedLog) Scan(ctx context.Context, p store.Part, want func([]byte) bool) ([]store.Record, item.Seq, error) {
	if p.Owner != "broken" || p.To < 3 {
		return s.Store.Scan(ctx, p, want)
	}
	p.To = 2
	found, _, err := s.Store.Scan(ctx, p, want)
	if err == nil {
		err = item.Errorf(item.KindDataLoss, store.ReasonDamaged, "entry 3 is damaged")
	}
	return found, 4, err
}

// What is damaged is left out with a warning; the rest is found.
func TestDamagedRecordsAreLeftOut(t *testing.T) {
	var warned, found []string
	q := search.Query{Text: "NOTE", Warn: func(text string) { warned = append(warned, text) }}
	for h, err := range search.New(damagedLog{twoLogs(t)}).Search(t.Context(), q) {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, h.Name)
	}
	if got := strings.Join(found, " "); got != "whole broken whole broken whole" {
		t.Errorf("found %s", got)
	}
	if len(warned) != 1 || warned[0] != "entry 3 is damaged" {
		t.Errorf("warned %q", warned)
	}
}

// A search ends with its caller, and when the caller has enough.
func TestSearchIsCancelled(t *testing.T) {
	searcher := search.New(twoLogs(t))
	for range searcher.Search(t.Context(), search.Query{Text: "note"}) {
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range searcher.Search(ctx, search.Query{Text: "note"}) {
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("a cancelled search gives %v", err)
		}
	}
}

// A wrong query is refused, and names what is wrong.
func TestWrongQueries(t *testing.T) {
	searcher := search.New(twoLogs(t))
	for reason, q := range map[string]search.Query{
		"EMPTY_TEXT":    {},
		"LONG_TEXT":     {Text: strings.Repeat("x", 1025)},
		"BAD_LIMIT":     {Text: "x", Limit: search.MaxLimit + 1},
		"UNKNOWN_KIND":  {Text: "x", Kinds: []search.Kind{"poem"}},
		"POD_NOT_FOUND": {Text: "x", Pod: "nobody"},
	} {
		n := 0
		for _, err := range searcher.Search(t.Context(), q) {
			if n++; item.ReasonOf(err) != reason {
				t.Errorf("%+v gives %v, want %s", q, err, reason)
			}
		}
		if n != 1 {
			t.Errorf("%+v gives %d results", q, n)
		}
	}
}
