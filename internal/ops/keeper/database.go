package keeper

import (
	"context"
	"io"
	"log/slog"
	"time"

	"podd/internal/fleet/postgres"
	"podd/pkg/item"
	"podd/pkg/store"
)

// DatabaseConfig says which PostgreSQL database to keep, and how; see postgres.Config.
type DatabaseConfig struct {
	URL         string
	Connections int
	Node        string
	// Join makes podd one of several nodes; nil keeps other podd out.
	Join    *postgres.NodeConfig
	Leaving <-chan struct{}
	// Logger is required.
	Logger *slog.Logger
}

// Database keeps a PostgreSQL database open, which only nodes share.
type Database struct{ store *postgres.Store }

// holdWithin is how long to wait for a database that another podd uses, which may be one that
// was just killed.
const holdWithin = 10 * time.Second

// OpenDatabase opens a PostgreSQL database.
func OpenDatabase(ctx context.Context, c DatabaseConfig) (*Database, error) {
	s, err := postgres.Open(ctx, postgres.Config{URL: c.URL, Connections: c.Connections, Leaving: c.Leaving, Node: c.Node, Logger: c.Logger})
	if err != nil {
		return nil, err
	}
	use := func(ctx context.Context) error { return s.Membership.Hold(ctx, holdWithin) }
	if c.Join != nil {
		use = func(ctx context.Context) error { return s.Membership.Join(ctx, *c.Join) }
	}
	if err := use(ctx); err != nil {
		_ = s.Close()
		return nil, err
	}
	return &Database{s}, nil
}

// Store is the open database.
func (d *Database) Store() store.Store { return d.store }

// Members are the podd that share it.
func (d *Database) Members() *postgres.Membership { return d.store.Membership }

// Where names the server and the database.
func (d *Database) Where() string { return "postgres://" + d.store.Where() }

// Secret is the password of the connections; empty without one.
func (d *Database) Secret() string { return d.store.Secret() }

// Counters count what the store did.
func (d *Database) Counters() store.Counters { return d.store.Counters() }

// Failure says why podd ends when the store has failed.
func (d *Database) Failure() error {
	if _, node := d.store.Membership.Lease(); node {
		return d.store.Membership.LostTo()
	}
	return item.Errorf(item.KindUnavailable, store.ReasonFailed,
		"another podd took the database over while this one could not reach it: this podd stops; start it again once the other is stopped")
}

// ReasonOfDatabase says that the programs of PostgreSQL do what podd does for its file.
const ReasonOfDatabase = "STORE_IS_DATABASE"

func others(what, with string) error {
	return item.Errorf(item.KindPrecondition, ReasonOfDatabase, "podd does not %s of a PostgreSQL database: use %s", what, with)
}

// ErrCompact says what to use instead.
var ErrCompact = others("return the unused space", "VACUUM FULL while podd is stopped; autovacuum makes the space usable again")

// Compact is left to PostgreSQL.
func (d *Database) Compact(context.Context) (before, after int64, err error) {
	return 0, 0, ErrCompact
}

// ErrBackup says what to use instead.
var ErrBackup = others("make a backup", "pg_dump, or a base backup with an archive of the WAL")

// Backup is left to PostgreSQL.
func (d *Database) Backup(context.Context, io.Writer) error { return ErrBackup }

// Check reads what the database has, and returns one sentence per finding; pages are left to PostgreSQL.
func (d *Database) Check(ctx context.Context) (harm, harmless []string, err error) {
	found, err := store.CheckStore(ctx, d.store)
	harm, harmless = sentences(found)
	return harm, harmless, err
}

// WithDatabase opens a database that no podd of this machine uses, for fn to read.
func WithDatabase(ctx context.Context, c DatabaseConfig, fn func(d *Database) error) error {
	s, err := postgres.Open(ctx, postgres.Config{URL: c.URL, Connections: 2, Exists: true, Logger: c.Logger})
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	return fn(&Database{store: s})
}

// Run does nothing: podd makes no snapshots of a database.
func (d *Database) Run(context.Context) {}

// Close closes the connections.
func (d *Database) Close() error { return d.store.Close() }
