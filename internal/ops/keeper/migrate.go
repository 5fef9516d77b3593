package keeper

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/store/postgres"
)

// Migration says which store to copy where. The caller has locked the state directory.
type Migration struct {
	// From and To are URLs of PostgreSQL databases or paths of files. To must have nothing.
	From, To string
	// Keep leaves From as it is; else no podd opens it afterwards.
	Keep bool
	// Checker is that of Config.
	Checker []string
	// Logger is required.
	Logger *slog.Logger
}

// Migrated is what was copied.
type Migrated struct {
	// From and To name the stores.
	From, To string
	// How many rows there are of each.
	Pods, Entries, Images, Alerts int64
	// Before: an earlier migration copied it, so nothing was done, and nothing is counted.
	Before bool
}

// Reasons of Migrate.
const (
	// ReasonNotEmpty: the target has something already.
	ReasonNotEmpty = "STORE_NOT_EMPTY"
	// ReasonBadTarget: the target is not a store that can be written.
	ReasonBadTarget = "STORE_BAD_TARGET"
)

// IsURL says whether a store is a database, not a file.
func IsURL(place string) bool { return strings.Contains(place, "://") }

// Migrate copies a store into an empty one, compares the two, and marks the first as left. If
// it ends early, the first stays as it is, and podd refuses the second.
func Migrate(ctx context.Context, m Migration) (Migrated, error) {
	if IsURL(m.From) == IsURL(m.To) {
		return Migrated{}, item.Errorf(item.KindInvalid, ReasonBadTarget,
			"podd migrates from a file to PostgreSQL or back: for a copy of the same kind use podd backup, or pg_dump")
	}
	if IsURL(m.From) {
		return m.toFile(ctx)
	}
	return m.toDatabase(ctx)
}

// database opens one, and keeps podd from it.
func (m *Migration) database(ctx context.Context, url string, create bool) (*postgres.Copier, error) {
	db, err := postgres.OpenCopier(ctx, postgres.Config{URL: url, Connections: 2, Logger: m.Logger}, create)
	if err != nil {
		return nil, err
	}
	if err := db.Hold(ctx, holdWithin); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func named(db *postgres.Copier) string { return "postgres://" + db.Where() }

// checked refuses a file that is damaged.
func (m *Migration) checked(ctx context.Context, path, what string) error {
	found, err := Config{Checker: m.Checker, Logger: m.Logger}.check(ctx, path, false)
	if err != nil {
		return err
	}
	if harm, _ := sentences(found); len(harm) > 0 {
		return item.Errorf(item.KindDataLoss, store.ReasonDamaged,
			"%s is damaged (problems found: %d), and nothing was migrated: run podd check, and restore a backup or delete these pods", what, len(harm))
	}
	return nil
}

func notEmpty(where, remedy string) error {
	return item.Errorf(item.KindExists, ReasonNotEmpty, "%s is not empty, and nothing was migrated: %s", where, remedy)
}

// toDatabase copies a file into a database. Until the copy is compared, no podd opens it.
func (m *Migration) toDatabase(ctx context.Context) (Migrated, error) {
	out := Migrated{From: m.From}
	if err := store.ReadFile(m.From, func(store.Stored) error { return nil }); err != nil {
		return out, err
	}
	left, err := store.LeftFor(m.From)
	if err != nil {
		return out, err
	}
	if err := m.checked(ctx, m.From, m.From); err != nil {
		return out, err
	}
	db, err := m.database(ctx, m.To, true)
	if err != nil {
		return out, err
	}
	defer func() { _ = db.Close() }()
	out.To = named(db)
	if left != "" && left != out.To {
		return out, store.Left(m.From, left)
	}
	st, err := db.State(ctx)
	if err != nil {
		return out, err
	}
	full := !st.Empty && st.Filling == "" && st.Left == ""
	if full && left == out.To {
		out.Before = true
		return out, nil
	}
	if full || st.Left != "" {
		return out, notEmpty(out.To, "name an empty database or schema")
	}
	if err := db.SetState(ctx, postgres.State{Filling: m.From}); err != nil {
		return out, err
	}
	read := func(fn func(store.Stored) error) error { return store.ReadFile(m.From, fn) }
	if err := read(func(from store.Stored) error { return db.Fill(ctx, from) }); err != nil {
		return out, err
	}
	if err := out.compare(ctx, read, func(fn func(store.Stored) error) error { return db.Snapshot(ctx, fn) }); err != nil {
		return out, err
	}
	if !m.Keep {
		if err := store.LeaveFile(m.From, out.To); err != nil {
			return out, err
		}
	}
	return out, db.SetState(ctx, postgres.State{})
}

// toFile copies a database into a file, which gets its name when the copy is compared.
func (m *Migration) toFile(ctx context.Context) (out Migrated, err error) {
	out.To, err = filepath.Abs(m.To)
	if err != nil {
		return out, err
	}
	_, missing := os.Lstat(out.To)
	db, err := m.database(ctx, m.From, false)
	if err != nil {
		return out, err
	}
	defer func() { _ = db.Close() }()
	out.From = named(db)
	st, err := db.State(ctx)
	switch {
	case err != nil:
		return out, err
	case st.Left != "" && st.Left != out.To:
		return out, store.Left("the database at "+db.Where(), st.Left)
	case missing == nil && st.Left == out.To:
		out.Before = true
		return out, nil
	case missing == nil:
		return out, notEmpty(out.To, "move the file away, or name another one")
	case st.Filling != "":
		return out, item.Errorf(item.KindPrecondition, store.ReasonLeft,
			"the copy of %s in the database at %s is incomplete: migrate that store again", st.Filling, db.Where())
	}
	temp := out.To + ".new"
	defer func() { _ = os.Remove(temp) }()
	snapshot := func(fn func(store.Stored) error) error { return db.Snapshot(ctx, fn) }
	if err := copiesOf(ctx, db)(temp); err != nil {
		return out, err
	}
	// What is damaged in the database is damaged in the copy.
	if err := m.checked(ctx, temp, "the database at "+db.Where()); err != nil {
		return out, err
	}
	if err := out.compare(ctx, snapshot, func(fn func(store.Stored) error) error { return store.ReadFile(temp, fn) }); err != nil {
		return out, err
	}
	if !m.Keep {
		if err := db.SetState(ctx, postgres.State{Left: out.To}); err != nil {
			return out, err
		}
	}
	if err := os.Rename(temp, out.To); err != nil {
		return out, stateError(out.To, err)
	}
	return out, syncDir(filepath.Dir(out.To))
}

// compare reads both stores and counts what they have.
func (out *Migrated) compare(ctx context.Context, from, to func(func(store.Stored) error) error) error {
	var sums [2]map[string]store.Sum
	for i, read := range []func(func(store.Stored) error) error{from, to} {
		err := read(func(s store.Stored) (err error) {
			sums[i], err = store.SumUp(ctx, s)
			return err
		})
		if err != nil {
			return err
		}
	}
	for _, bucket := range store.Buckets() {
		if sums[0][bucket] != sums[1][bucket] {
			return item.Errorf(item.KindInternal, "INTERNAL",
				"the copy at %s differs from %s (%s), and podd goes on with the latter: report this", out.To, out.From, bucket)
		}
	}
	rows := func(bucket string) int64 { return sums[0][bucket].Rows }
	out.Pods, out.Entries, out.Images, out.Alerts = rows("pods"), rows("logs"), rows("images"), rows("alerts")
	return nil
}

// String is what was copied, in one line.
func (out Migrated) String() string {
	if out.Before {
		return fmt.Sprintf("%s has been copied to %s before, and nothing was done now", out.From, out.To)
	}
	return fmt.Sprintf("copied %d pods, %d entries, %d images and %d alerts from %s to %s, and compared them",
		out.Pods, out.Entries, out.Images, out.Alerts, out.From, out.To)
}
