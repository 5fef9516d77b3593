package process

import (
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// Deleted returns what removed files use on a device that a process of the tree still has
// open: their bytes and their number. It does not see files that are only mapped or in
// flight through a socket.
func (t *Tree) Deleted(device uint64) (bytes, files int64) {
	seen := map[uint64]bool{}
	for _, pid := range t.family() {
		dir := filepath.Join("/proc", strconv.Itoa(pid), "fd")
		open, err := os.Open(dir)
		if err != nil {
			continue
		}
		names, _ := open.Readdirnames(-1)
		_ = open.Close()
		for _, name := range names {
			var stat unix.Stat_t
			if unix.Stat(filepath.Join(dir, name), &stat) != nil || stat.Nlink > 0 || stat.Dev != device || seen[stat.Ino] {
				continue
			}
			const sector = 512
			seen[stat.Ino] = true
			bytes, files = bytes+stat.Blocks*sector, files+1
		}
	}
	return bytes, files
}
