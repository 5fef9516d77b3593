package scopefs

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
)

// maxDirEntries bounds the memory for one directory.
const maxDirEntries = 1 << 17

// ReadDir is the entries of a directory, sorted by name. A directory with more
// than 131,072 entries is TooLarge.
func (f *FS) ReadDir(path string) ([]fs.DirEntry, error) {
	dir, err := f.openDir(path)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := readSorted(dir, path)
	return entries, f.wrap(path, err)
}

// openDir opens a directory for reading its entries.
func (f *FS) openDir(path string) (*os.File, error) {
	p, err := f.locate(path)
	if err != nil {
		return nil, err
	}
	info, err := f.stat(p)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, sayf(NotFound, path, nil, "is not a directory: read it as a file")
	}
	dir, err := f.dirAt(p)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	file, err := dir.Open(".")
	return file, f.wrap(path, err)
}

// readSorted reads an open directory.
func readSorted(dir *os.File, path string) ([]fs.DirEntry, error) {
	entries, err := dir.ReadDir(maxDirEntries + 1)
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if len(entries) > maxDirEntries {
		return nil, sayf(TooLarge, path, nil, "has more than %d entries: name a file in it", maxDirEntries)
	}
	slices.SortFunc(entries, byName)
	return entries, nil
}

func byName(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) }
