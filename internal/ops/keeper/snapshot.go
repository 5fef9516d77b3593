package keeper

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"podd/pkg/item"
)

// Schedule says when to make snapshots, and which to keep.
type Schedule struct {
	// Every is the time between two snapshots.
	Every time.Duration
	// Keep is how many to keep; 0 means that snapshots are made only before a migration.
	Keep int
	// Age is how long to keep a snapshot; the newest is always kept.
	Age time.Duration
}

// snapshot is an automatic copy.
type snapshot struct {
	path string
	// named is the time in its name: a later snapshot has a later name, whatever the clock
	// did.
	named time.Time
	// made is when it was made, by the clock at that moment.
	made time.Time
}

const snapshotPrefix, snapshotSuffix = "podd-", ".db"

// list returns the snapshots, oldest first.
func (c Config) list() []snapshot {
	names, _ := filepath.Glob(filepath.Join(c.snapshots(), snapshotPrefix+"*"+snapshotSuffix))
	var all []snapshot
	for _, path := range names {
		name := strings.TrimPrefix(filepath.Base(path), snapshotPrefix)
		if len(name) < len(timeForm) {
			continue
		}
		named, err := time.Parse(timeForm, name[:len(timeForm)])
		if err != nil {
			continue
		}
		if info, err := os.Stat(path); err == nil {
			all = append(all, snapshot{path, named, info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b snapshot) int { return a.named.Compare(b.named) })
	return all
}

// newest is the path of the newest snapshot; empty without one.
func (c Config) newest() string {
	all := c.list()
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1].path
}

// makeSnapshot makes a snapshot, whose name sorts after those of all earlier ones.
func (c Config) makeSnapshot(what string, copyTo func(path string) error) (path string, err error) {
	now := c.Now()
	named := now.UTC().Truncate(time.Second)
	if all := c.list(); len(all) > 0 {
		if last := all[len(all)-1].named; !named.After(last) {
			named = last.Add(time.Second)
		}
	}
	path = c.free(filepath.Join(c.snapshots(), snapshotPrefix+named.Format(timeForm)+what+snapshotSuffix))
	if err := copyTo(path); err != nil {
		return "", err
	}
	if err := os.Chtimes(path, now, now); err != nil {
		return "", stateError(path, err)
	}
	return path, nil
}

// beforeMigration makes a snapshot of a database with an older schema. If that fails, the
// database is not migrated.
func (c Config) beforeMigration(from, to uint32, copyTo func(path string) error) error {
	path, err := c.makeSnapshot(fmt.Sprintf("-schema%d", from), copyTo)
	if err != nil {
		return err
	}
	c.Logger.Info("migrating the database; the snapshot has the old schema", "from", from, "to", to, "snapshot", path)
	return nil
}

// lookEvery is how often Run looks at the clock: timers stand still while the machine sleeps.
const lookEvery = 10 * time.Minute

// Run makes snapshots on schedule until ctx ends. A failure is logged and raises an alert.
func (k *Keeper) Run(ctx context.Context) {
	every := k.cfg.Schedule.Every
	if k.cfg.Schedule.Keep == 0 {
		return
	}
	var retry time.Time // after a failure
	for ctx.Err() == nil {
		now := k.cfg.Now().Round(0)
		if retry.Sub(now) > every { // The clock was set back.
			retry = now.Add(every)
		}
		left := max(k.cfg.due().Sub(now), retry.Sub(now))
		if left > 0 {
			pause(ctx, min(left, lookEvery))
			continue
		}
		if err := k.Snapshot(ctx); err != nil && ctx.Err() == nil {
			k.failed(ctx, err)
			retry = now.Add(every)
		}
	}
}

// due is when to make the next snapshot. Without a snapshot, the age of the database's
// identity counts. If the newest snapshot has a time in the future, its age is unknown and
// the next one is due at once.
func (c Config) due() time.Time {
	if all := c.list(); len(all) > 0 {
		made := all[len(all)-1].made
		if now := c.Now(); made.After(now) {
			return now
		}
		return made.Add(c.Schedule.Every)
	}
	info, err := os.Stat(filepath.Join(c.Dir, "podd.id"))
	if err != nil {
		return c.Now().Add(c.Schedule.Every)
	}
	return info.ModTime().Add(c.Schedule.Every)
}

// pause waits.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (k *Keeper) failed(ctx context.Context, cause error) {
	k.cfg.Logger.Error("snapshot failed", "error", cause)
	_, err := k.store.RaiseAlert(ctx, item.Alert{
		Level: item.LevelWarn, Source: "store", Text: fmt.Sprintf("cannot make a snapshot of the store: %v", cause), Time: k.cfg.Now(),
	})
	if err != nil {
		k.cfg.Logger.Error("cannot store an alert", "error", err)
	}
}

// Snapshot makes a snapshot now, and then removes excess and old snapshots.
func (k *Keeper) Snapshot(ctx context.Context) error {
	path, err := k.cfg.makeSnapshot("", func(path string) error { return k.store.CopyTo(ctx, path) })
	if err != nil {
		return err
	}
	k.cfg.Logger.Info("snapshot made", "path", path)
	return k.cfg.prune()
}

// prune removes excess and old snapshots, but never the newest.
func (c Config) prune() error {
	all := c.list()
	for i, s := range all {
		left := len(all) - i
		if left == 1 || left <= c.Schedule.Keep && c.Now().Sub(s.made) <= c.Schedule.Age {
			continue
		}
		if err := os.Remove(s.path); err != nil {
			return stateError(s.path, err)
		}
	}
	return nil
}
