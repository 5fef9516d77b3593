package postgres_test

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/store/postgres"

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

// damaged are the findings after a statement, which is then undone.
func damaged(t *testing.T, conn *pgx.Conn, sql string) []store.Finding {
	t.Helper()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	if _, err := tx.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	path := filepath.Join(t.TempDir(), "podd.db")
	if err := store.WriteFile(t.Context(), path, postgres.StoredIn(t.Context(), tx)); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	found, err := store.CheckFile(t.Context(), path, false)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// A copy of a sound database is sound; whatever is damaged in one is found in its copy.
func TestDamageIsFound(t *testing.T) {
	needServer(t)
	url := inSchema(t, "damage_is_found")
	everything(t, url)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if found := damaged(t, conn, "SELECT"); len(found) > 0 {
		t.Fatalf("a sound database: %v", found)
	}
	const flip = "set_byte(%, 0, 255 - get_byte(%, 0))"
	for _, damage := range []struct{ sql, want string }{
		{"UPDATE entries SET record = " + strings.ReplaceAll(flip, "%", "record") + " WHERE log = 'p' AND seq = 2", "entry 2 of pod p is damaged"},
		{"UPDATE entries SET record = set_byte(record, length(record) - 1, 1) WHERE log = 'p' AND seq = 3", "entry 3 of pod p is damaged"},
		{"DELETE FROM entries WHERE log = 'p' AND seq = 1", "entry 1 of pod p is damaged"},
		{"INSERT INTO entries SELECT log, 99, record FROM entries WHERE log = 'p' AND seq = 1", "has records up to 99"},
		{"UPDATE entries SET seq = 40 WHERE log = 'gone' AND seq = 2", "entry 2 of pod gone is damaged"},
		{"INSERT INTO entries SELECT 'nobody', seq, record FROM entries WHERE log = 'p' AND seq = 1", "entries of pod nobody are left over"},
		{"UPDATE pods SET record = " + strings.ReplaceAll(flip, "%", "record") + " WHERE id = 'p'", "the record of pod p is damaged"},
		{"UPDATE pods SET name = 'other' WHERE id = 'p'", `pod p is named "p"`},
		{"UPDATE heads SET last = last + 1 WHERE pod = 'p'", "entry 7 of pod p is damaged"},
		{"UPDATE heads SET queued = 5 WHERE pod = 'p'", "the inbox of pod p has 1 submits, but the pod counts 5"},
		{"UPDATE heads SET queued = -1 WHERE pod = 'p'", "the inbox of pod p has 1 submits"},
		{"UPDATE heads SET status = '\\xff' WHERE pod = 'p'", "the record of pod p is damaged"},
		{"UPDATE heads SET trashed = true WHERE pod = 'f'", "the trash has a part of pod f"},
		{"UPDATE inbox SET seq = 1 WHERE pod = 'p'", "is in the inbox, but is not a submit"},
		{"DELETE FROM inbox WHERE pod = 'p'", "the inbox of pod p has 0 submits"},
		{"UPDATE requests SET digest = '\\x01' WHERE pod = 'p'", "pod p has 1 request ids"},
		{"UPDATE lineages SET owner = 'nobody' WHERE pod = 'f'", "of pod f is damaged"},
		{"UPDATE bases SET fold = '\\x0102030405' WHERE pod = 'p'", "the base of pod p is damaged"},
		{"UPDATE bases SET seq = 77 WHERE pod = 'p'", "the base of pod p ends at 77"},
		{"UPDATE alerts SET body = " + strings.ReplaceAll(flip, "%", "body") + " WHERE pod = 'p'", "is damaged and cannot be read"},
		{"UPDATE alerts SET pod = 'f' WHERE pod = 'p'", "is missing from the alerts of its pod p"},
		{"UPDATE alert_head SET last = 1", "alert 2 is above the last one, 1"},
		{"UPDATE images SET data = 'other'", "is damaged"},
		{"DELETE FROM image_uses", "which is missing"},
		{"DELETE FROM trash", "the trash has a part of pod gone"},
	} {
		found := damaged(t, conn, damage.sql)
		if !slices.ContainsFunc(found, func(f store.Finding) bool { return strings.Contains(f.Text, damage.want) }) {
			t.Errorf("%s: found %v, want %q", damage.sql, found, damage.want)
		}
	}
}
