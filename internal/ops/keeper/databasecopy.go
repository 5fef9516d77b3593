package keeper

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"podd/pkg/store"
	"podd/pkg/store/postgres"
)

// A database is checked and backed up as a file that has what it has: the rules are those of
// the file.

// Check checks a copy of the database as podd checks a file; pages are left to PostgreSQL.
func (d *Database) Check(ctx context.Context) (harm, harmless []string, err error) {
	return checkCopy(ctx, d.cfg, postgres.CopierOf(d.store))
}

// Backup writes a copy of the database to w, as a file.
func (d *Database) Backup(ctx context.Context, w io.Writer) error {
	return d.cfg.withCopy(copiesOf(ctx, postgres.CopierOf(d.store)), func(path string) error { return send(w, path) })
}

// CheckDatabase is Database.Check without a running podd.
func CheckDatabase(ctx context.Context, c DatabaseConfig) (harm, harmless []string, err error) {
	db, err := openCopier(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = db.Close() }()
	return checkCopy(ctx, c.files(), db)
}

// BackupDatabase is Database.Backup without a running podd, to a file that does not exist yet.
func BackupDatabase(ctx context.Context, c DatabaseConfig, path string) error {
	db, err := openCopier(ctx, c)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	temp := path + ".new"
	defer func() { _ = os.Remove(temp) }()
	err = copiesOf(ctx, db)(temp)
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err == nil {
		err = syncDir(filepath.Dir(path))
	}
	return err
}

func openCopier(ctx context.Context, c DatabaseConfig) (*postgres.Copier, error) {
	return postgres.OpenCopier(ctx, postgres.Config{URL: c.URL, Connections: 2, Logger: c.Logger}, false)
}

// copiesOf makes a file of what a database has at one moment.
func copiesOf(ctx context.Context, db *postgres.Copier) func(path string) error {
	return func(path string) error {
		return db.Snapshot(ctx, func(from store.Stored) error { return store.WriteFile(ctx, path, from) })
	}
}

func checkCopy(ctx context.Context, c Config, db *postgres.Copier) (harm, harmless []string, err error) {
	var found []store.Finding
	err = c.withCopy(copiesOf(ctx, db), func(path string) (err error) {
		found, err = c.check(ctx, path, false)
		return err
	})
	harm, harmless = sentences(found)
	return harm, harmless, err
}
