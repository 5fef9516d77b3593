package store

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"podd/pkg/item"

	"go.etcd.io/bbolt"
)

const (
	fileMode       fs.FileMode = 0o600
	defaultTimeout             = 500 * time.Millisecond
)

// OpenBolt opens the database, creates a missing one, and migrates an older one. Its errors
// are item.Errors: reason STORE_HELD, STORE_CANNOT_OPEN, STORE_UNREADABLE or STORE_NEWER. It
// does not change a file that it cannot use.
func OpenBolt(cfg BoltConfig) (*Bolt, error) {
	return openBolt(cfg, migrations)
}

func openBolt(cfg BoltConfig, steps []migration) (*Bolt, error) {
	if cfg.Path == "" {
		return nil, item.Errorf(item.KindInvalid, ReasonCannotOpen, "the database needs a path")
	}
	if cfg.MaxBytes != 0 && cfg.MaxBytes < LeastMaxBytes {
		return nil, item.Errorf(item.KindInvalid, ReasonCannotOpen, "a database needs room for at least %d bytes, not %d", LeastMaxBytes, cfg.MaxBytes)
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	known, err := readID(cfg.Path)
	if err != nil {
		return nil, err
	}
	existed, err := checkFile(cfg.Path, known)
	if err != nil {
		return nil, err
	}
	f := &boltFile{path: cfg.Path, maxBytes: cfg.MaxBytes}
	db, err := f.open(cfg.Timeout)
	if err != nil {
		return nil, err
	}
	if err := prepare(db, cfg, existed, known, steps); err != nil {
		f.abandon(db)
		return nil, err
	}
	// Remove what an unfinished compaction left behind.
	_ = os.Remove(compactPath(cfg.Path))
	return start(db, cfg), nil
}

// start creates the store and its writer.
func start(db *bbolt.DB, cfg BoltConfig) *Bolt {
	s := &Bolt{
		db:       db,
		path:     cfg.Path,
		maxBytes: cfg.MaxBytes,
		log:      cfg.Logger,
		queue:    make(chan *pending, groupLen),
		alone:    make(chan func()),
		quit:     make(chan struct{}),
		stopped:  make(chan struct{}),
		failed:   make(chan struct{}),
	}
	go s.write()
	return s
}

// checkFile refuses a file that bbolt would mistake for an empty database, or could not open.
// existed says that the file exists and is not empty.
func checkFile(path, known string) (existed bool, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, cannotOpen(path, err)
	case !info.Mode().IsRegular():
		return false, item.Errorf(item.KindPrecondition, ReasonCannotOpen,
			"%s is not a regular file: move it away, podd needs the path for its database", path)
	case info.Size() == 0 && known != "":
		return false, emptied(path, known)
	}
	return info.Size() > 0, nil
}

// prepare checks that the open file is a complete database of podd, migrates it and updates
// its side file.
func prepare(db *bbolt.DB, cfg BoltConfig, existed bool, known string, steps []migration) error {
	at, err := inspect(db, cfg.Path)
	if err != nil {
		return err
	}
	if existed && at.id == "" && known != "" {
		return emptied(cfg.Path, known)
	}
	newest := steps[len(steps)-1].version
	if at.version > newest {
		return newer(cfg.Path, at.version, newest)
	}
	if at.left != "" {
		return Left(cfg.Path, at.left)
	}
	if err := os.Chmod(cfg.Path, fileMode); err != nil {
		return cannotOpen(cfg.Path, err)
	}
	if at.version > 0 && at.version < newest && cfg.BeforeMigrate != nil {
		copyTo := func(path string) error { return copyDB(db, cfg.Path, path) }
		if err := cfg.BeforeMigrate(at.version, newest, copyTo); err != nil {
			return err
		}
	}
	id, err := migrate(db, cfg.Path, at, steps)
	if err != nil || id == known {
		return err
	}
	if known != "" {
		cfg.Logger.Warn("the database has been replaced by another one", "path", cfg.Path, "id", id, "before", known)
	}
	return writeID(cfg.Path, id)
}
