package checkpoint

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// journalFile has the objects that no pack has yet: a pack without an end and without an index,
// so that a checkpoint costs one write and one sync. git rescues its objects with
// `git unpack-objects -r`.
const journalFile = "journal"

const (
	// fullJournal is the size from which the journal gets a pack in the middle of a turn.
	fullJournal = 1 << 20
	// journalStep is by how much the file grows. What is written into it later changes nothing
	// about the file but its bytes, which makes the sync cheap.
	journalStep = 256 << 10
)

// journal is the file with what was read of it.
type journal struct {
	path string
	// file is nil while there is none.
	file *os.File
	// at is where the next object goes, size the file's.
	at, size int64
	in       map[plumbing.Hash]packed
	// heads are the last commits by their branches.
	heads map[string]plumbing.Hash
}

// openJournal reads a journal up to the first object that is not whole: no log names a
// checkpoint of what follows.
func openJournal(path string) (*journal, error) {
	j := &journal{path: path, at: packHeader, in: make(map[plumbing.Hash]packed), heads: make(map[string]plumbing.Hash)}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return j, nil
	}
	if err != nil {
		return nil, err
	}
	j.file = file
	data, err := io.ReadAll(file)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	j.size = int64(len(data))
	for r := bytes.NewReader(data[min(packHeader, len(data)):]); ; {
		kind, object, err := decodeEntry(r)
		if err != nil {
			return j, nil
		}
		id, end := plumbing.ComputeHash(kind, object), j.size-int64(r.Len())
		j.in[id] = packed{id: id, at: j.at, size: int(end - j.at)}
		if kind == plumbing.CommitObject {
			j.heads[branchOf(object)] = id
		}
		j.at = end
	}
}

// decodeEntry reads an object as a pack has it.
func decodeEntry(r *bytes.Reader) (kind plumbing.ObjectType, data []byte, err error) {
	b, err := r.ReadByte()
	if err != nil {
		return kind, nil, err
	}
	kind = plumbing.ObjectType(b >> 4 & 7)
	size := int64(b & 15)
	for shift := 4; b&0x80 != 0 && shift < 32; shift += 7 {
		if b, err = r.ReadByte(); err != nil {
			return kind, nil, err
		}
		size |= int64(b&0x7f) << shift
	}
	if kind != plumbing.CommitObject && kind != plumbing.TreeObject && kind != plumbing.BlobObject {
		return kind, nil, errObject
	}
	z, err := zlib.NewReader(r)
	if err != nil {
		return kind, nil, err
	}
	data, err = io.ReadAll(io.LimitReader(z, size+1))
	if err == nil && int64(len(data)) != size {
		err = errObject
	}
	return kind, data, err
}

func (j *journal) has(id plumbing.Hash) bool {
	_, ok := j.in[id]
	return ok
}

// read returns an object, and its entry as a pack has it.
func (j *journal) read(id plumbing.Hash) (kind plumbing.ObjectType, data, entry []byte, err error) {
	o := j.in[id]
	entry = make([]byte, o.size)
	if _, err := j.file.ReadAt(entry, o.at); err != nil {
		return kind, nil, nil, err
	}
	kind, data, err = decodeEntry(bytes.NewReader(entry))
	if err != nil || plumbing.ComputeHash(kind, data) != id {
		return kind, nil, nil, cmp.Or(err, fmt.Errorf("%w: %s has other bytes", errObject, id))
	}
	return kind, data, entry, nil
}

// append writes and syncs objects, whose places are those in a new pack.
func (j *journal) append(all []packed, data []byte) error {
	if err := j.grow(j.at + int64(len(data))); err != nil {
		return err
	}
	if _, err := j.file.WriteAt(data, j.at); err != nil {
		return err
	}
	if _, err := j.file.WriteAt(packHead(len(j.in)+len(all)), 0); err != nil {
		return err
	}
	if err := syncData(j.file); err != nil {
		return err
	}
	for _, o := range all {
		o.at += j.at - packHeader
		j.in[o.id] = o
	}
	j.at += int64(len(data))
	return nil
}

// grow makes the file so large.
func (j *journal) grow(size int64) (err error) {
	if j.file == nil {
		if j.file, err = os.OpenFile(j.path, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
			return err
		}
		if err := syncDir(filepath.Dir(j.path)); err != nil {
			return err
		}
	}
	for j.size < size {
		n, err := j.file.WriteAt(make([]byte, journalStep), j.size)
		j.size += int64(n)
		if err != nil {
			return err
		}
	}
	return nil
}

// empty forgets everything, which packs have.
func (j *journal) empty() error {
	// The file stays as large: the next checkpoints cost less. Old objects that a power failure
	// leaves do no harm.
	if _, err := j.file.WriteAt(make([]byte, j.at), 0); err != nil {
		return err
	}
	j.at = packHeader
	clear(j.in)
	clear(j.heads)
	return nil
}

func (j *journal) close() error {
	if j.file == nil {
		return nil
	}
	return j.file.Close()
}

// store makes the objects of a checkpoint last.
func (r *repo) store(p *packer, branch string, id plumbing.Hash) error {
	inPack, err := p.finish()
	switch {
	case err != nil:
		return err
	case !inPack:
		r.journal.heads[branch] = id
		if r.journal.at > fullJournal {
			_ = r.flush() // What did not work is tried again later.
		}
	default:
		if err := r.flush(); err != nil {
			return err
		}
		if err := r.point(branch, id); err != nil {
			return err
		}
		r.gatherMany()
	}
	return nil
}

// flush makes a pack of the journal, and sets the branches, which git shows, to its commits.
func (r *repo) flush() error {
	if len(r.journal.in) == 0 {
		return nil
	}
	p := &packer{repo: r, again: true}
	defer p.drop()
	for _, o := range slices.SortedFunc(maps.Values(r.journal.in), func(a, b packed) int { return cmp.Compare(a.at, b.at) }) {
		_, _, entry, err := r.journal.read(o.id)
		if err != nil {
			return err
		}
		if !r.inPack(o.id) {
			if err := p.copy(o.id, entry); err != nil {
				return err
			}
		}
	}
	if _, err := p.finish(); err != nil {
		return err
	}
	for branch, id := range r.journal.heads {
		if err := r.point(branch, id); err != nil {
			return err
		}
	}
	if err := r.journal.empty(); err != nil {
		return err
	}
	r.gatherMany()
	return nil
}

// branchOf is the branch of a commit.
func branchOf(commit []byte) string {
	_, rest, _ := strings.Cut(string(commit), "\ncommitter ")
	name, _, _ := strings.Cut(rest, " <")
	return name
}
