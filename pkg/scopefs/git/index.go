package git

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// maxIndex bounds the bytes of an index that is read. Of a larger one nothing is known.
const maxIndex = 64 << 20

// Tracked are the files that the index of a working tree names: those that git has, whatever its rules
// for other files say. Nil has none.
type Tracked struct {
	at    string
	stamp indexStamp
	// files are their paths in the tree, dirs those of the directories above them.
	files, dirs map[string]bool
}

// indexStamp tells whether an index is the one that was read.
type indexStamp struct {
	info fs.FileInfo
	size int64
	time time.Time
}

// ReadTracked reads the index of the working tree in a directory. before is what an earlier call
// returned, or nil; it is returned again if the index is the same.
func ReadTracked(tree string, before *Tracked) *Tracked {
	_, dirs, ok := dirsOf(tree)
	if !ok || len(dirs) == 0 {
		return nil
	}
	at := filepath.Join(dirs[0], "index")
	info, err := os.Stat(at)
	if err != nil {
		return nil
	}
	stamp := indexStamp{info, info.Size(), info.ModTime()}
	if before != nil && before.at == at && os.SameFile(before.stamp.info, info) && before.stamp.size == stamp.size && before.stamp.time.Equal(stamp.time) {
		return before
	}
	t := &Tracked{at: at, stamp: stamp, files: make(map[string]bool), dirs: make(map[string]bool)}
	t.read(at)
	// A split index has most files in another one.
	shared, _ := filepath.Glob(filepath.Join(dirs[0], "sharedindex.*"))
	for _, file := range shared[:min(len(shared), maxIncludes)] {
		t.read(file)
	}
	return t
}

// Has says whether git has a file at a path of the tree, or one below it.
func (t *Tracked) Has(rel string, dir bool) bool {
	switch {
	case t == nil:
		return false
	case dir:
		return t.dirs[rel]
	}
	return t.files[rel]
}

// Same says whether two have the same files.
func (t *Tracked) Same(other *Tracked) bool {
	if t == nil || other == nil {
		return t == other
	}
	return t == other || maps.Equal(t.files, other.files)
}

// read adds the files of an index; of one that it does not understand, none.
func (t *Tracked) read(file string) {
	data := []byte(readUpTo(file, maxIndex))
	// The format does not say how long its hashes are.
	for _, hash := range []int{20, 32} {
		if entries, ok := indexEntries(data, hash); ok {
			for _, e := range entries {
				t.add(e.name)
			}
			return
		}
	}
}

func (t *Tracked) add(name string) {
	t.files[name] = true
	for dir := path.Dir(name); dir != "." && !t.dirs[dir]; dir = path.Dir(dir) {
		t.dirs[dir] = true
	}
}

// The parts of an entry of an index (gitformat-index(5)): its fixed fields before the hash, and the
// type in its mode that says that the path is a file, not a submodule or a directory of a sparse index.
const (
	indexFields  = 40
	indexMode    = 24
	indexRegular = 0o100000
	indexLink    = 0o120000
)

// indexEntry is a file of an index: its path, and the name of its content.
type indexEntry struct{ name, hash string }

// indexEntries are the files of an index, in the order of their paths.
func indexEntries(data []byte, hash int) (entries []indexEntry, ok bool) {
	if len(data) < 12 || string(data[:4]) != "DIRC" {
		return nil, false
	}
	version, count := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	if version < 2 || version > 4 {
		return nil, false
	}
	last := ""
	for data = data[12:]; count > 0; count-- {
		fixed := indexFields + hash + 2
		if len(data) < fixed {
			return nil, false
		}
		mode, flags := binary.BigEndian.Uint32(data[indexMode:])&0o170000, binary.BigEndian.Uint16(data[fixed-2:])
		if flags&0x4000 != 0 && version >= 3 {
			fixed += 2
		}
		name, size, ok := indexName(data, fixed, version, last)
		if !ok || name < last {
			return nil, false
		}
		// In a split index, an entry without a name changes one of the other index.
		if name != "" && (mode == indexRegular || mode == indexLink) {
			entries = append(entries, indexEntry{name, string(data[indexFields : indexFields+hash])})
		}
		data, last = data[size:], name
	}
	return entries, true
}

// indexName is the path of the entry at the beginning of data, and the size of the entry.
func indexName(data []byte, fixed int, version uint32, last string) (name string, size int, ok bool) {
	if fixed > len(data) {
		return "", 0, false
	}
	kept := ""
	if version == 4 {
		// The name begins like the last one, without so many bytes of its end.
		cut, n := 0, 0
		for {
			if fixed+n >= len(data) || n > 4 {
				return "", 0, false
			}
			c := data[fixed+n]
			cut = cut<<7 | int(c&0x7f)
			if n++; c&0x80 == 0 {
				break
			}
			cut++
		}
		if fixed += n; cut > len(last) {
			return "", 0, false
		}
		kept = last[:len(last)-cut]
	}
	end := bytes.IndexByte(data[fixed:], 0)
	if end < 0 {
		return "", 0, false
	}
	name, size = kept+string(data[fixed:fixed+end]), fixed+end+1
	if version < 4 {
		size = (fixed+end)/8*8 + 8
	}
	return name, size, size <= len(data) && !strings.HasPrefix(name, "/")
}
