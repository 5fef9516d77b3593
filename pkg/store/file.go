package store

import (
	"os"
	"strconv"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
)

// boltFile opens a database and can let go of it when bbolt could not.
type boltFile struct {
	path string
	// maxBytes is how large it may grow; 0 means no limit.
	maxBytes int64
	// readOnly changes nothing, and can be had by several.
	readOnly bool
	file     *os.File
}

func (f *boltFile) open(timeout time.Duration) (db *bbolt.DB, err error) {
	if timeout <= 0 {
		timeout = defaultTimeout
	}
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
	if err == nil {
		return db, nil
	}
	f.release()
	return nil, openError(f.path, err)
}

func (f *boltFile) openFile(path string, flag int, mode os.FileMode) (*os.File, error) {
	file, err := os.OpenFile(path, flag, mode)
	f.file = file
	return file, err
}

// abandon closes a database that is not used. When it is damaged closing may fail
// as well; the lock must go in any case.
func (f *boltFile) abandon(db *bbolt.DB) {
	_ = guard(db.Close)
	f.release()
}

// release lets go of the file and its lock, if bbolt did not: after a panic it
// holds both. The lock is taken off by hand because the mapping, which stays until
// the process ends, would keep it.
func (f *boltFile) release() {
	if f.file == nil {
		return
	}
	if raw, err := f.file.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _ = syscall.Flock(int(fd), syscall.LOCK_UN) })
	}
	_ = f.file.Close()
}

// initialMmapSize spares remapping, which waits for every reader, until the file
// is this large. Address space is free where there are 64 bits of it.
func initialMmapSize() int {
	if strconv.IntSize == 64 {
		return 256 << 20
	}
	return 0
}
