package plugin

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// The bounds of a plugin.
const (
	maxFiles = 20_000
	maxBytes = 256 << 20
)

// digest is the SHA-256 of all files of a plugin in hexadecimal, with their names and whether they
// can be run, except for those of git. With signature it is that of their states: it changes at
// least as often, and reads no file.
func digest(root string, signature bool) (string, error) {
	h, files, size := sha256.New(), 0, int64(0)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		if d.IsDir() {
			if rel == ".git" {
				return filepath.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if files, size = files+1, size+info.Size(); files > maxFiles || size > maxBytes {
			return fmt.Errorf("it has more than %d files or %d bytes", maxFiles, maxBytes)
		}
		fmt.Fprintf(h, "%s\x00%v\x00%d\x00", rel, info.Mode()&(fs.ModeType|0o100), info.Size())
		if signature {
			var st unix.Stat_t
			err := unix.Lstat(path, &st)
			fmt.Fprintf(h, "%d %d %d\x00", st.Ino, st.Ctim.Nano(), st.Mtim.Nano())
			return err
		}
		return add(h, root, path, info.Mode())
	})
	return hex.EncodeToString(h.Sum(nil)), err
}

// add adds the content of a file, or where a link leads.
func add(h hash.Hash, root, path string, mode fs.FileMode) error {
	switch {
	case mode&fs.ModeSymlink != 0:
		to, err := os.Readlink(path)
		target := filepath.Join(filepath.Dir(path), to)
		if rel, bad := filepath.Rel(root, target); err == nil && (filepath.IsAbs(to) || bad != nil || !filepath.IsLocal(rel)) {
			err = fmt.Errorf("the link %s leads out of it", path)
		}
		fmt.Fprint(h, to)
		return err
	case !mode.IsRegular():
		return fmt.Errorf("%s is neither a file nor a link", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(h, file)
	return err
}
