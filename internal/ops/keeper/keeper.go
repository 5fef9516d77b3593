package keeper

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"podd/internal/paths"
	"podd/pkg/item"
	"podd/pkg/store"
)

// Config says which database to look after, and how.
type Config struct {
	// Dir is the state directory; it exists, and the caller holds its lock.
	Dir string
	// MaxBytes is how large the database may grow; 0 means no limit.
	MaxBytes int64
	// Schedule says when copies are made by themselves.
	Schedule Schedule
	// Checker is the command that checks a database: the path is appended, and before
	// it --quick for a quick check. It prints what store.CheckFile found as JSON. Empty
	// means that checks run in this process, which a damaged file may end.
	Checker []string
	// Logger is required.
	Logger *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Keeper has the database open. Its methods may be called from any goroutine.
type Keeper struct {
	cfg   Config
	store *store.Bolt
}

// The files beside the database.
func (c Config) database() string  { return filepath.Join(c.Dir, "podd.db") }
func (c Config) snapshots() string { return filepath.Join(c.Dir, "snapshots") }

// marker is there while podd has the database open, and says what to do when it is there
// at a start.
func (c Config) marker() string { return filepath.Join(c.Dir, "podd.open") }

// The texts of a marker.
const (
	markedOpen    = "podd has the database open, or did not close it\n"
	markedDamaged = "podd met damaged pages in the database, and reads all of it at its next start\n"
)

// note is there after a damaged database was moved aside, and says so.
func (c Config) note() string { return filepath.Join(c.Dir, "podd.damaged") }

// Open opens the database. After a podd that did not close it the file is checked
// first. A damaged one is moved aside: that is an error of kind KindDataLoss that says
// where it is and what to do; podd does not start empty by itself after that.
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

// MustExist is an error when there is no database to look after.
func MustExist(c Config) error {
	if err := c.refuseAfterDamage(); err != nil || exists(c.database()) {
		return err
	}
	return item.Errorf(item.KindNotFound, store.ReasonCannotOpen, "there is no database at %s", c.database())
}

// checkUnclean looks for damage when the database was not closed: everywhere, when podd met
// some.
func (c Config) checkUnclean(ctx context.Context) error {
	if !exists(c.marker()) || !exists(c.database()) {
		return nil
	}
	marked, err := os.ReadFile(c.marker())
	if err != nil {
		return stateError(c.marker(), err)
	}
	quick := string(marked) != markedDamaged
	c.Logger.Info("podd did not end in order: the database is checked", "path", c.database(), "quick", quick)
	found, err := c.check(ctx, c.database(), quick)
	if err != nil {
		return err
	}
	for _, f := range found {
		if f.Fatal {
			return c.setAside(f.Text)
		}
		if f.Harmless {
			c.Logger.Info("database is sound but for this", "finding", f.Text)
			continue
		}
		c.Logger.Warn("database is damaged in part", "finding", f.Text)
	}
	return nil
}

// unopened decides what becomes of a database that could not be opened.
func (c Config) unopened(err error) error {
	if item.ReasonOf(err) != store.ReasonUnreadable || store.IsForeign(err) {
		return err
	}
	if size := fileSize(c.database()); size == 0 || !store.HasIdentity(c.database()) {
		return c.offer(err)
	}
	return c.setAside(err.Error())
}

// opened notes that the database is in use, and sound.
func (c Config) opened() error {
	if err := os.Remove(c.note()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return stateError(c.note(), err)
	}
	return writeFile(c.marker(), markedOpen)
}

// Store is the open database.
func (k *Keeper) Store() *store.Bolt { return k.store }

// Close closes the database.
func (k *Keeper) Close() error {
	err := k.store.Close()
	select {
	case <-k.store.Failed():
		// What is true is found at the next start, also of a file that did not close.
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

// Compact gives unused space of the database back to the disk.
func (k *Keeper) Compact(ctx context.Context) (before, after int64, err error) {
	before, after, err = k.store.Compact(ctx)
	if err == nil {
		k.cfg.Logger.Info("store compacted", "bytes_before", before, "bytes_after", after)
	}
	return before, after, err
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
