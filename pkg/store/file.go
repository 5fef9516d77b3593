package store

import (
	"os"
	"strconv"
	"time"

	"go.etcd.io/bbolt"
)

// boltFile opens a database and can let go of it when bbolt could not.
type boltFile struct {
	path string
	file *os.File
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
			OpenFile:        f.openFile,
		})
		return err
	})
	if err == nil {
		return db, nil
	}
	if f.file != nil {
		// After a panic bbolt still holds the file and its lock.
		_ = f.file.Close()
	}
	return nil, openError(f.path, err)
}

func (f *boltFile) openFile(path string, flag int, mode os.FileMode) (*os.File, error) {
	file, err := os.OpenFile(path, flag, mode)
	f.file = file
	return file, err
}

// abandon closes a database that is not used. Closing one that is damaged may
// fail as well; the file's lock must go in any case.
func (f *boltFile) abandon(db *bbolt.DB) {
	_ = guard(db.Close)
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
