package keeper

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"podd/pkg/item"
	"podd/pkg/paths"
	"podd/pkg/store"
)

// Config says which database to maintain, and how.
type Config struct {
	// Dir is the state directory, which exists and which the caller has locked.
	Dir string
	// MaxBytes is how large the database may grow; 0 means no limit.
	MaxBytes int64
	// Schedule says when to make snapshots.
	Schedule Schedule
	// Checker is the command that checks a database by PrintCheck; the path is appended, after
	// --quick for a quick check. If empty, checks run in this process, which a damaged file may
	// crash.
	Checker []string
	// Logger is required.
	Logger *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Keeper keeps the database open. Its methods may be called from any goroutine.
type Keeper struct {
	cfg   Config
	store *store.Bolt
}

// The files next to the database.
func (c Config) database() string  { return filepath.Join(c.Dir, "podd.db") }
func (c Config) snapshots() string { return filepath.Join(c.Dir, "snapshots") }

// marker exists while podd has the database open. Its text says how to check the database
// if the marker exists at start.
func (c Config) marker() string { return filepath.Join(c.Dir, "podd.open") }

// The texts of a marker.
const (
	markedOpen    = "podd has the database open, or did not close it\n"
	markedDamaged = "podd met damaged pages in the database, and reads all of it at its next start\n"
)

// note exists after a damaged database was moved aside, and says so.
func (c Config) note() string { return filepath.Join(c.Dir, "podd.damaged") }

// Open opens the database, after a check if podd did not close it. It moves a damaged
// database aside and returns an error of kind KindDataLoss that says where the file is and
// what to do; after that, podd does not start with an empty store by itself.
func Open(ctx context.Context, c Config) (*Keeper, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	if err := paths.EnsurePrivateDir(c.snapshots()); err != nil {
		return nil, err
	}
	c.removeTemps()
	if err := c.refuseAfterDamage(); err != nil {
		return nil, err
	}
	if err := c.checkUnclean(ctx); err != nil {
		return nil, err
	}
	s, err := store.OpenBolt(store.BoltConfig{
		Path: c.database(), MaxBytes: c.MaxBytes, Logger: c.Logger, BeforeMigrate: c.beforeMigration,
	})
	if err != nil {
		return nil, c.unopened(err)
	}
	if err := c.opened(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &Keeper{cfg: c, store: s}, nil
}

// MustExist returns an error if the database does not exist.
func MustExist(c Config) error {
	if err := c.refuseAfterDamage(); err != nil || exists(c.database()) {
		return err
	}
	return item.Errorf(item.KindNotFound, store.ReasonCannotOpen, "no database at %s: name podd's state directory with --state-dir", c.database())
}

// checkUnclean checks a database that was not closed: completely if podd had found damage.
func (c Config) checkUnclean(ctx context.Context) error {
	if !exists(c.marker()) || !exists(c.database()) {
		return nil
	}
	marked, err := os.ReadFile(c.marker())
	if err != nil {
		return stateError(c.marker(), err)
	}
	quick := string(marked) != markedDamaged
	c.Logger.Info("podd was not shut down cleanly; checking the database", "path", c.database(), "quick", quick)
	found, err := c.check(ctx, c.database(), quick)
	if item.KindOf(err) == item.KindDataLoss {
		return nil // To open it fails too, and says what else there is.
	}
	if err != nil {
		return err
	}
	for _, f := range found {
		if f.Fatal {
			return c.setAside(f.Text)
		}
		if f.Harmless {
			c.Logger.Info("harmless finding in the database", "finding", f.Text)
			continue
		}
		c.Logger.Warn("the database is partly damaged", "finding", f.Text)
	}
	return nil
}

// unopened handles a database that could not be opened.
func (c Config) unopened(err error) error {
	if item.ReasonOf(err) != store.ReasonUnreadable || store.IsForeign(err) {
		return err
	}
	if size := fileSize(c.database()); size == 0 || !store.HasIdentity(c.database()) {
		return c.offer(err)
	}
	return c.setAside(err.Error())
}

// opened records that the database is in use, and sound.
func (c Config) opened() error {
	if err := os.Remove(c.note()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return stateError(c.note(), err)
	}
	return writeFile(c.marker(), markedOpen)
}

// Store is the open database.
func (k *Keeper) Store() store.Store { return k.store }

// Where is the path of the database.
func (k *Keeper) Where() string { return k.cfg.database() }

// Counters count what the store did.
func (k *Keeper) Counters() store.Counters { return k.store.Counters() }

// Failure says why podd ends when the store has failed.
func (k *Keeper) Failure() error {
	if k.store.Damaged() {
		return item.Errorf(item.KindUnavailable, store.ReasonFailed,
			"the database file has damaged pages: podd stops, and checks the whole file at its next start")
	}
	return item.Errorf(item.KindUnavailable, store.ReasonFailed,
		"the store failed, and its last write is uncertain: podd stops and reads the file again at its next start; if this repeats, run podd check")
}

// Close closes the database.
func (k *Keeper) Close() error {
	err := k.store.Close()
	select {
	case <-k.store.Failed():
		// The next start checks a file that was not closed.
		if k.store.Damaged() {
			err = errors.Join(err, writeFile(k.cfg.marker(), markedDamaged))
		}
		return err
	default:
	}
	if err != nil {
		return err
	}
	if err := os.Remove(k.cfg.marker()); err != nil {
		return stateError(k.cfg.marker(), err)
	}
	return nil
}

// Compact returns unused space of the database to the disk.
func (k *Keeper) Compact(ctx context.Context) (before, after int64, err error) {
	return k.compact(ctx, nil)
}

func (k *Keeper) compact(ctx context.Context, worth func(unused, size int64) bool) (before, after int64, err error) {
	before, after, err = k.store.Compact(ctx, worth)
	if err == nil && after < before {
		k.cfg.Logger.Info("store compacted", "bytes_before", before, "bytes_after", after)
	}
	return before, after, err
}

// leastUnused is what Shrink must gain, in bytes.
const leastUnused = 16 << 20

// The most that Shrink copies, in bytes: at the start some seconds' work, at rest less than a
// second's.
const (
	MostAtStart = 1 << 30
	MostAtRest  = 64 << 20
)

// Shrink compacts a database whose file is mostly unused, unless it has to copy more than most.
// It is for moments when no writes wait.
func (k *Keeper) Shrink(ctx context.Context, most int64) {
	_, _, err := k.compact(ctx, func(unused, size int64) bool {
		return unused >= max(leastUnused, size/2) && size-unused <= most
	})
	if err != nil && ctx.Err() == nil {
		k.cfg.Logger.Warn("cannot return the store's unused space to the disk", "error", err)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
