package store

import (
	"os"

	"go.etcd.io/bbolt"
)

// A file is preallocated by this many bytes at a time, as soon as fewer than preallocateAt are left.
const (
	preallocateBytes = 256 << 10
	preallocateAt    = 64 << 10
)

// preallocated is how much of a database's file is written. A commit that writes a block for the
// first time makes the file system allocate it and commit its journal, which takes about as long
// again as the sync itself. Zeros behind the last page pay for that once in many commits, as
// PostgreSQL does with its log (wal_init_zero). It belongs to the writer.
type preallocated struct {
	file *os.File
	end  int64
	most int64 // 0 means no limit
}

// extend preallocates more if needed. Call it while no transaction writes: it overwrites what is
// behind the last committed page. If it fails, so will the commit that needs the space, with an
// error that says why.
func (p *preallocated) extend(db *bbolt.DB) {
	var used int64
	if err := db.View(func(tx *bbolt.Tx) error { used = tx.Size(); return nil }); err != nil || used+preallocateAt <= p.end {
		return
	}
	from := max(used, p.end)
	p.end = from + preallocateBytes
	if p.most > 0 && p.end > p.most {
		return
	}
	_, _ = p.file.WriteAt(make([]byte, preallocateBytes), from)
}
