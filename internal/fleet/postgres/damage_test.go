package postgres_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"podd/internal/fleet/postgres"
	"podd/pkg/item"
	"podd/pkg/store"

	"github.com/jackc/pgx/v5"
)

// everything fills a database with something of each kind.
func everything(t *testing.T, url string) {
	t.Helper()
	s := open(t, postgres.Config{URL: url})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	pixels := []byte("pixels")
	sum := sha256.Sum256(pixels)
	digest := hex.EncodeToString(sum[:])
	for _, pod := range []string{"p", "gone"} {
		must(s.CreatePod(t.Context(), item.Pod{ID: pod, Name: pod}))
		epoch, err := s.Claim(t.Context(), pod)
		must(err)
		for _, b := range []store.Batch{
			{Entries: []item.Entry{note("one"), note("two"), note("three")}},
			{Entries: []item.Entry{{Kind: item.Submitted{RequestID: "r"}}}, Admit: &store.Request{ID: "r"}, Enqueue: true},
			{Entries: []item.Entry{{Kind: item.AlertRaised{Alert: item.Alert{Level: item.LevelWarn, Text: "look"}}}}},
			{Entries: []item.Entry{{Kind: item.ItemAdded{Item: item.UserMessage{Images: item.NewImages(item.Image{Digest: digest})}}}}, Images: map[string][]byte{digest: pixels}},
			{Base: &store.Base{Seq: 2, Fold: []byte("folded")}},
		} {
			b.Pod, b.Epoch = pod, epoch
			_, err = s.Append(t.Context(), b)
			must(err)
		}
	}
	must(s.Fork(t.Context(), "p", 2, item.Pod{ID: "f", Name: "f"}))
	must(s.TrashPods(t.Context(), []string{"gone"}, item.Entry{}.Time))
	must(s.Close())
}

// A check finds whatever is damaged of what the database shows.
func TestDamageIsFound(t *testing.T) {
	needServer(t)
	const flip = "set_byte(%, 0, 255 - get_byte(%, 0))"
	for i, damage := range []struct{ sql, want string }{
		{"SELECT", ""},
		{"UPDATE entries SET record = " + strings.ReplaceAll(flip, "%", "record") + " WHERE log = 'p' AND seq = 2", "entry 2 of pod p is damaged"},
		{"UPDATE entries SET record = set_byte(record, length(record) - 1, 1) WHERE log = 'p' AND seq = 3", "entry 3 of pod p is damaged"},
		{"DELETE FROM entries WHERE log = 'p' AND seq = 1", "entry 1 of pod p is damaged"},
		{"DELETE FROM entries WHERE log = 'p' AND seq = 1", "entry 1 of pod f is damaged"},
		{"UPDATE pods SET record = " + strings.ReplaceAll(flip, "%", "record") + " WHERE id = 'p'", "the record of pod p is damaged"},
		{"UPDATE heads SET last = last + 1 WHERE pod = 'p'", "entry 7 of pod p is damaged"},
		{"UPDATE heads SET queued = 5 WHERE pod = 'p'", "the inbox of pod p has 1 submits, but the pod counts 5"},
		{"UPDATE heads SET status = '\\xff' WHERE pod = 'p'", "the record of pod p is damaged"},
		{"DELETE FROM inbox WHERE pod = 'p'", "the inbox of pod p has 0 submits"},
		{"UPDATE lineages SET owner = 'nobody' WHERE pod = 'f'", "of pod f is damaged"},
		{"UPDATE alerts SET body = " + strings.ReplaceAll(flip, "%", "body") + " WHERE pod = 'p'", "is damaged and cannot be read"},
		{"UPDATE images SET data = 'other'", "is damaged"},
		{"DELETE FROM image_uses; DELETE FROM images", "which is missing"},
	} {
		url := inSchema(t, fmt.Sprintf("damage_%d", i))
		everything(t, url)
		conn, err := pgx.Connect(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		_, err = conn.Exec(t.Context(), damage.sql)
		if err := errors.Join(err, conn.Close(t.Context())); err != nil {
			t.Fatalf("%s: %v", damage.sql, err)
		}
		found, err := store.CheckStore(t.Context(), open(t, postgres.Config{URL: url}))
		has := slices.ContainsFunc(found, func(f store.Finding) bool { return strings.Contains(f.Text, damage.want) })
		if err != nil || has != (damage.want != "") {
			t.Errorf("%s: found %v, %v; want %q", damage.sql, found, err, damage.want)
		}
	}
}
