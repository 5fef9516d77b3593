package daemon

import (
	"context"

	"podd/internal/ops/keeper"
	"podd/internal/server"
	"podd/pkg/store"
)

// storeKeeper keeps a store open and sound: a keeper.Keeper its file, a keeper.Database one of
// PostgreSQL.
type storeKeeper interface {
	Store() store.Store
	// Where names the file or the database.
	Where() string
	Counters() store.Counters
	// Failure says why podd ends when the store has failed.
	Failure() error
	server.Keeper
	// Run does what is due from time to time, until ctx ends.
	Run(ctx context.Context)
	Close() error
}

// KeeperConfig is the part of c for the store's file.
func KeeperConfig(c Config) keeper.Config {
	s := c.Settings
	return keeper.Config{
		Dir:      c.StateDir,
		MaxBytes: s.Store.Bytes,
		Schedule: keeper.Schedule(s.Snapshots),
		Checker:  c.Checker,
		Logger:   c.Logger,
	}
}

// DatabaseConfig is the part of c for a database.
func DatabaseConfig(c Config) keeper.DatabaseConfig {
	s := c.Settings.Store
	return keeper.DatabaseConfig{URL: s.URL, Connections: s.Connections, Logger: c.Logger}
}

// openStore opens the file in the state directory or, if the configuration names one, a
// PostgreSQL database.
func (d *Daemon) openStore(ctx context.Context) error {
	if d.Settings.Store.URL != "" {
		db, err := openDatabase(ctx, d)
		if err != nil {
			return err
		}
		d.secrets.Add(db.Secret())
		d.keeper = db
	} else {
		file, err := keeper.Open(ctx, KeeperConfig(d.Config))
		if err != nil {
			return err
		}
		file.Shrink(ctx, keeper.MostAtStart)
		d.keeper = file
	}
	d.undo = append(d.undo, func() {
		if err := d.keeper.Close(); err != nil {
			d.Logger.Error("store did not close cleanly", "error", err)
		}
	})
	return nil
}
