package store

import (
	"os"
	"strconv"
	"syscall"
	"time"

	"podd/pkg/item"

	"go.etcd.io/bbolt"
)

// boltFile opens a database and can release it when bbolt could not.
type boltFile struct {
	path string
	// maxBytes limits its size; 0 means no limit.
	maxBytes int64
	// readOnly opens it for reading; several processes may do so.
	readOnly bool
	file     *os.File
}

func (f *boltFile) open(timeout time.Duration) (db *bbolt.DB, err error) {
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	for try := range openTries {
		db, err = f.tryOpen(timeout)
		if err == nil {
			return db, nil
		}
		f.release()
		if err = openError(f.path, err); item.ReasonOf(err) != ReasonUnreadable || try == openTries-1 {
			break
		}
	}
	return nil, err
}

// openTries is how often podd tries a file before it reports damage: a disk may fail to read it
// once, which bbolt does not tell.
const openTries = 2

func (f *boltFile) tryOpen(timeout time.Duration) (db *bbolt.DB, err error) {
	err = guard(func() error {
		db, err = bbolt.Open(f.path, fileMode, &bbolt.Options{
			Timeout:         timeout,
			InitialMmapSize: initialMmapSize(),
			FreelistType:    bbolt.FreelistMapType,
			MaxSize:         int(f.maxBytes),
			ReadOnly:        f.readOnly,
			OpenFile:        f.openFile,
		})
		return err
	})
	return db, err
}

func (f *boltFile) openFile(path string, flag int, mode os.FileMode) (*os.File, error) {
	file, err := os.OpenFile(path, flag, mode)
	f.file = file
	return file, err
}

// abandon closes an unused database. Closing a damaged one may fail as well, but the lock
// must be released in any case.
func (f *boltFile) abandon(db *bbolt.DB) {
	_ = guard(db.Close)
	f.release()
}

// release releases the file and its lock if bbolt did not, as after a panic. It releases
// the lock explicitly because the mapping, which stays until the process ends, would keep
// it.
func (f *boltFile) release() {
	if f.file == nil {
		return
	}
	if raw, err := f.file.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _ = syscall.Flock(int(fd), syscall.LOCK_UN) })
	}
	_ = f.file.Close()
}

// initialMmapSize avoids remapping, which waits for all readers, until the file is this
// large. Address space costs nothing on 64-bit systems.
func initialMmapSize() int {
	if strconv.IntSize == 64 {
		return 256 << 20
	}
	return 0
}
