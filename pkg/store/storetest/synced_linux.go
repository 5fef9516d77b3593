package storetest

import (
	"os"
	"syscall"
	"unsafe"
)

// sysCachestat is cachestat(2), since Linux 6.5; its number is the same everywhere.
const sysCachestat = 451

// dirtyPages is how many pages of a file the system has not written yet.
func dirtyPages(path string) (uint64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	// A range of length 0 is the whole file.
	var whole struct{ offset, length uint64 }
	var stat struct{ cache, dirty, writeback, evicted, recentlyEvicted uint64 }
	_, _, errno := syscall.Syscall6(sysCachestat, f.Fd(),
		uintptr(unsafe.Pointer(&whole)), uintptr(unsafe.Pointer(&stat)), 0, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return stat.dirty + stat.writeback, nil
}
