package files

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/index"
)

// stampsFile is git's index: what the files were at the last look, so that the next one reads
// only those that changed. It is a cache, and may be lost.
const stampsFile = "index"

// saveStamps writes the file.
func (w *Workspace) saveStamps() error {
	if w.now == nil || !w.moved {
		return nil
	}
	var ix index.Index
	ix.Version = 2
	collect(&ix, "", w.now)
	var b bytes.Buffer
	if err := index.NewEncoder(&b).Encode(&ix); err != nil {
		return err
	}
	w.moved = false
	return replace(filepath.Join(w.path, stampsFile), b.Bytes())
}

func collect(ix *index.Index, rel string, n *node) {
	for _, k := range n.kids {
		at := path.Join(rel, k.name)
		if k.isDir() {
			collect(ix, at, k)
			continue
		}
		if k.stamp == (stamp{}) {
			continue
		}
		ix.Entries = append(ix.Entries, &index.Entry{
			Name: at, Hash: k.Hash, Mode: filemode.FileMode(k.Mode), Size: uint32(k.stamp.size),
			CreatedAt: time.Unix(0, k.stamp.changed), ModifiedAt: time.Unix(0, k.stamp.written),
			Dev: uint32(k.stamp.inode >> 32), Inode: uint32(k.stamp.inode),
		})
	}
}

// loadStamps reads the file: files with their stamps, and directories without hashes. It is nil
// if the file is missing or of no use.
func (w *Workspace) loadStamps() *node {
	data, err := os.ReadFile(filepath.Join(w.path, stampsFile))
	if err != nil {
		return nil
	}
	var ix index.Index
	if err := index.NewDecoder(bytes.NewReader(data)).Decode(&ix); err != nil {
		return nil
	}
	root := &node{File: File{Mode: typeDir}, known: true}
	// The entries come in the order of their paths, so that the directories on the way to one
	// are the last ones.
	for _, e := range ix.Entries {
		at := root
		names := strings.Split(e.Name, "/")
		for _, name := range names[:len(names)-1] {
			if n := len(at.kids); n == 0 || at.kids[n-1].name != name {
				at.kids = append(at.kids, &node{name: name, File: File{Mode: typeDir}, known: true})
			}
			at = at.kids[len(at.kids)-1]
		}
		at.kids = append(at.kids, &node{
			name: names[len(names)-1], File: File{Mode: uint32(e.Mode), Hash: e.Hash},
			stamp: stamp{
				inode: uint64(e.Dev)<<32 | uint64(e.Inode), size: int64(e.Size),
				changed: e.CreatedAt.UnixNano(), written: e.ModifiedAt.UnixNano(),
			},
		})
	}
	root.sort()
	return root
}

// sort orders the entries by name: git orders paths, in which a directory's name ends in a slash.
func (n *node) sort() {
	sortKids(n.kids)
	for _, k := range n.kids {
		if k.isDir() {
			k.sort()
		}
	}
}
