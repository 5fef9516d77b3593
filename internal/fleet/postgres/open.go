package postgres

import (
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"log/slog"
	"net"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/store/rules"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Config says which database to open, and how.
type Config struct {
	// URL is a connection string of libpq: a URL or keywords with values. Its parts may
	// come from libpq's environment variables and files instead.
	URL string
	// Connections is how many connections are open at most; 0 means 8.
	Connections int
	// Leaving, if set, is closed when podd ends: from then on no call waits for a database
	// that does not answer.
	Leaving <-chan struct{}
	// Exists refuses a database without podd's tables, instead of creating them.
	Exists bool
	// Node is the id of this podd: it has the pods whose place is that.
	Node string
	// Logger gets errors that no call returns; nil drops them.
	Logger *slog.Logger
}

// answerWithin bounds one round trip. The server ends a statement earlier.
var answerWithin = 5 * time.Second

const (
	// connections is the default of Config.Connections.
	connections = 8
	// oldest is the first version of PostgreSQL that has all that is used.
	oldest = 140000
	// longWithin bounds a change of many records.
	longWithin = 10 * time.Minute
	// openWithin bounds the first connection and the migrations.
	openWithin = 30 * time.Second
	// version is the newest version of the schema.
	version = 2
	// lockMigrate and lockPods are the advisory locks: of migrations, and of changes that
	// concern several pods.
	lockMigrate, lockPods = 0x706f6464_01, 0x706f6464_02
)

//go:embed schema.sql
var schema string

//go:embed migrate2.sql
var migrate2 string

// migrations are the steps from each version to the next one, the first from version 1.
var migrations = []string{migrate2}

// Open opens the database, creates missing tables and migrates older ones. Its errors are
// item.Errors: reason STORE_CANNOT_OPEN or STORE_NEWER. It does not change a database that it
// cannot use.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	return connect(ctx, cfg, func(m *meta) error {
		if m.id == "" && cfg.Exists {
			return item.Errorf(item.KindNotFound, store.ReasonCannotOpen, "the database has no tables of podd: check store.url, or start podd once")
		}
		return m.usable()
	})
}

// connect opens a database that check, which sees it as it was found, does not refuse.
func connect(ctx context.Context, cfg Config, check func(m *meta) error) (*Store, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	pc, err := poolConfig(cfg)
	if err != nil {
		return nil, cannotOpen("the URL of the database is not valid", err)
	}
	ctx, cancel := context.WithTimeout(ctx, openWithin)
	defer cancel()
	pool, err := pgxpool.NewWithConfig(ctx, pc)
	if err != nil {
		return nil, cannotOpen("cannot open the database", err)
	}
	db := &database{pool: pool, log: cfg.Logger, where: place(pc.ConnConfig), leaving: cfg.Leaving, node: cfg.Node}
	s := &Store{database: db, Membership: &Membership{database: db, failed: make(chan struct{})}, writers: map[string]*writer{}}
	if s.id, err = prepare(ctx, pool, &meta{where: s.where}, check); err != nil {
		pool.Close()
		if _, ok := errors.AsType[*item.Error](err); ok {
			return nil, err
		}
		return nil, cannotOpen("cannot open the database at "+s.where, err)
	}
	return s, nil
}

func poolConfig(cfg Config) (*pgxpool.Config, error) {
	pc, err := pgxpool.ParseConfig(cfg.URL)
	if err != nil {
		return nil, err
	}
	pc.MaxConns = int32(cfg.Connections)
	if cfg.Connections <= 0 {
		pc.MaxConns = connections
	}
	dialer := net.Dialer{Timeout: answerWithin, KeepAliveConfig: net.KeepAliveConfig{
		Enable: true, Idle: time.Second, Interval: time.Second, Count: 3,
	}}
	pc.ConnConfig.DialFunc = dialer.DialContext
	pc.ConnConfig.ConnectTimeout = answerWithin
	for name, value := range map[string]string{
		"application_name":                    "podd",
		"lock_timeout":                        "1s",
		"statement_timeout":                   "2s",
		"idle_in_transaction_session_timeout": "5s",
		"timezone":                            "UTC",
	} {
		if pc.ConnConfig.RuntimeParams[name] == "" {
			pc.ConnConfig.RuntimeParams[name] = value
		}
	}
	pc.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error { return durable(ctx, conn) }
	return pc, nil
}

// place names a server without the secrets of its URL.
func place(c *pgx.ConnConfig) string {
	return net.JoinHostPort(c.Host, port(c.Port)) + "/" + c.Database
}

// durable refuses a connection on which a commit does not mean that it is on disk, or that
// cannot write.
func durable(ctx context.Context, conn *pgx.Conn) error {
	var number int
	var fsync, fullPages, synchronous, readOnly string
	err := conn.QueryRow(ctx, `SELECT current_setting('server_version_num')::int, current_setting('fsync'),
		current_setting('full_page_writes'), current_setting('synchronous_commit'), current_setting('transaction_read_only')`).
		Scan(&number, &fsync, &fullPages, &synchronous, &readOnly)
	switch {
	case err != nil:
		return err
	case number < oldest:
		return refused("podd needs PostgreSQL %d or newer", oldest/10000)
	case fsync != "on":
		return refused("the setting fsync of PostgreSQL is %s: podd keeps its promises only with fsync = on", fsync)
	case fullPages != "on":
		return refused("the setting full_page_writes of PostgreSQL is %s: podd keeps its promises only with full_page_writes = on", fullPages)
	case synchronous == "off":
		return refused("the setting synchronous_commit of PostgreSQL is off: podd keeps its promises only with synchronous_commit = on")
	case readOnly == "on":
		return refused("PostgreSQL allows podd only to read: connect to the primary, as a user who may write")
	}
	return nil
}

func refused(format string, args ...any) error {
	return item.Errorf(item.KindPrecondition, store.ReasonCannotOpen, format, args...)
}

func cannotOpen(what string, err error) error {
	e := item.Errorf(item.KindPrecondition, store.ReasonCannotOpen, "%s: %s", what, oneLine(err))
	e.Cause = err
	return e
}

// meta is what a database says of itself; the id is empty if it has no tables.
type meta struct {
	where, id, leftFor, filling string
	version                     int
}

// prepare creates the tables, or checks their version, and returns the id of the database.
func prepare(ctx context.Context, pool *pgxpool.Pool, m *meta, check func(m *meta) error) (id string, err error) {
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL lock_timeout = 0"); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(lockMigrate)); err != nil {
			return err
		}
		var exists bool
		if err := tx.QueryRow(ctx, "SELECT to_regclass('meta') IS NOT NULL").Scan(&exists); err != nil {
			return err
		}
		if !exists {
			if err := check(m); err != nil {
				return err
			}
			id = rand.Text()
			return create(ctx, tx, id)
		}
		err := tx.QueryRow(ctx, "SELECT version, id, coalesce(left_for, ''), coalesce(filled_from, '') FROM meta").Scan(&m.version, &m.id, &m.leftFor, &m.filling)
		if err != nil {
			return err
		}
		if id = m.id; m.version > version {
			return item.Errorf(item.KindPrecondition, store.ReasonNewer,
				"a newer podd wrote the database (version %d, this podd knows %d): install that podd", m.version, version)
		}
		if err := check(m); err != nil {
			return err
		}
		return migrate(ctx, tx, m.version)
	})
	return id, err
}

// migrate makes the tables of an older version those of the newest one.
func migrate(ctx context.Context, tx pgx.Tx, from int) error {
	for _, step := range migrations[from-1:] {
		if _, err := tx.Exec(ctx, step); err != nil {
			return err
		}
	}
	return nil
}

// create creates the tables.
func create(ctx context.Context, tx pgx.Tx, id string) error {
	if _, err := tx.Exec(ctx, schema); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, "INSERT INTO meta (version, id) VALUES ($1, $2)", version, id)
	return err
}

// checkKeys refuses text that cannot be part of a key.
func checkKeys(id, name string) error {
	if err := rules.KeyText("pod id", id); err != nil {
		return err
	}
	return rules.KeyText("pod name", name)
}
