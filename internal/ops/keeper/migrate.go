package keeper

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"podd/internal/fleet/postgres"
	"podd/pkg/item"
	"podd/pkg/store"
)

// Migration says which file to copy to which database. The caller has locked the state directory.
type Migration struct {
	// From is the path of a file, To the URL of a PostgreSQL database, which must have nothing.
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
	postgres.Filled
	// From and To name the stores.
	From, To string
	// Before: an earlier migration copied it, so nothing was done, and nothing is counted.
	Before bool
}

// Reasons of Migrate.
const (
	// ReasonNotEmpty: the target has something already.
	ReasonNotEmpty = "STORE_NOT_EMPTY"
	// ReasonBadSource: podd does not migrate from there.
	ReasonBadSource = "STORE_BAD_SOURCE"
)

// Migrate copies a file into an empty database, and marks the file as left. If it ends early, the file
// stays as it is, and podd refuses the database.
func Migrate(ctx context.Context, m Migration) (Migrated, error) {
	out := Migrated{From: m.From}
	if strings.Contains(m.From, "://") {
		return out, item.Errorf(item.KindInvalid, ReasonBadSource,
			"podd migrates from a file to PostgreSQL only, and store.url names a database: copy that with pg_dump, or name a file with --from")
	}
	left, err := m.checked(ctx)
	if err != nil {
		return out, err
	}
	db, err := postgres.OpenCopier(ctx, postgres.Config{URL: m.To, Connections: 2, Logger: m.Logger}, holdWithin)
	if err != nil {
		return out, err
	}
	defer func() { _ = db.Close() }()
	out.To = "postgres://" + db.Where()
	if left != "" && left != out.To {
		return out, store.Left(m.From, left)
	}
	filling, empty, err := db.State(ctx)
	if err != nil {
		return out, err
	}
	if !empty && filling == "" {
		if out.Before = left == out.To; out.Before {
			return out, nil
		}
		return out, item.Errorf(item.KindExists, ReasonNotEmpty, "%s is not empty, and nothing was migrated: name an empty database or schema", out.To)
	}
	return out, m.fill(ctx, db, &out)
}

// checked refuses a file that is damaged. left is where its pods are; empty if podd may open it.
func (m *Migration) checked(ctx context.Context) (left string, err error) {
	if err := store.ReadFile(m.From, func(store.FileRows) error { return nil }); err != nil {
		return "", err
	}
	found, err := Config{Checker: m.Checker, Logger: m.Logger}.check(ctx, m.From, false)
	if err != nil {
		return "", err
	}
	if harm, _ := sentences(found); len(harm) > 0 {
		return "", item.Errorf(item.KindDataLoss, store.ReasonDamaged,
			"%s is damaged (problems found: %d), and nothing was migrated: run podd check, and restore a backup or delete these pods", m.From, len(harm))
	}
	return store.LeftFor(m.From)
}

// fill copies the file. Until the file is left, no podd opens the database; from then on, none opens the file.
func (m *Migration) fill(ctx context.Context, db *postgres.Copier, out *Migrated) error {
	if err := db.SetFilling(ctx, m.From); err != nil {
		return err
	}
	err := store.ReadFile(m.From, func(from store.FileRows) (err error) {
		out.Filled, err = db.Fill(ctx, from)
		return err
	})
	if err == nil && !m.Keep {
		err = store.LeaveFile(m.From, out.To)
	}
	if err != nil {
		return err
	}
	return db.SetFilling(ctx, "")
}

// String is what was copied, in one line.
func (out Migrated) String() string {
	if out.Before {
		return fmt.Sprintf("%s has been copied to %s before, and nothing was done now", out.From, out.To)
	}
	return fmt.Sprintf("copied %d pods, %d entries, %d images and %d alerts from %s to %s",
		out.Pods, out.Entries, out.Images, out.Alerts, out.From, out.To)
}
