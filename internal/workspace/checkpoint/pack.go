package checkpoint

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/hash"
)

// packer writes objects as git's pack-format(5) says: a few to the journal, many to a new pack.
type packer struct {
	repo *repo
	// all are the objects, buf has the last of them: those that are not in the file yet.
	all []packed
	buf bytes.Buffer
	in  map[plumbing.Hash]bool
	// file is the new pack; nil while all objects may go to the journal.
	file *os.File
	at   int64
	// again writes objects that the repository has, too, and to a pack.
	again bool
}

// packed is an object in a pack, or in the journal.
type packed struct {
	id plumbing.Hash
	at int64
	// size is that of its entry, sum the CRC-32.
	size int
	sum  uint32
}

const (
	packHeader = 12
	// fewBytes is how much goes to the journal at once.
	fewBytes = 256 << 10
)

// packHead begins a pack of n objects.
func packHead(n int) []byte {
	return binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(n))
}

// add writes an object that the repository does not have.
func (p *packer) add(t plumbing.ObjectType, data []byte) (plumbing.Hash, error) {
	id := plumbing.ComputeHash(t, data)
	if p.in[id] || !p.again && p.repo.has(id) {
		return id, nil
	}
	n := uint64(len(data))
	head := []byte{byte(t)<<4 | byte(n&15)}
	for n >>= 4; n > 0; n >>= 7 {
		head[len(head)-1] |= 0x80
		head = append(head, byte(n&0x7f))
	}
	from := p.buf.Len()
	p.buf.Write(head)
	p.repo.zip.Reset(&p.buf)
	if _, err := p.repo.zip.Write(data); err != nil {
		return id, err
	}
	if err := p.repo.zip.Close(); err != nil {
		return id, err
	}
	return id, p.added(id, p.buf.Bytes()[from:])
}

// copy writes an object by its entry in another pack.
func (p *packer) copy(id plumbing.Hash, entry []byte) error {
	p.buf.Write(entry)
	return p.added(id, entry)
}

// added notes an object whose entry is the last one of the buffer.
func (p *packer) added(id plumbing.Hash, entry []byte) error {
	if p.in == nil {
		p.in, p.at = make(map[plumbing.Hash]bool), packHeader
	}
	p.in[id] = true
	p.all = append(p.all, packed{id, p.at, len(entry), crc32.ChecksumIEEE(entry)})
	p.at += int64(len(entry))
	if p.buf.Len() <= fewBytes {
		return nil
	}
	return p.spill()
}

// spill writes the buffer to the file of the new pack.
func (p *packer) spill() (err error) {
	if p.file == nil {
		if p.file, err = os.CreateTemp(p.repo.packDir(), "tmp_pack_"); err != nil {
			return err
		}
		if _, err = p.file.Write(packHead(0)); err != nil {
			return err
		}
	}
	_, err = p.buf.WriteTo(p.file)
	return err
}

// finish syncs the objects; then the repository has them. It says whether they are in a pack.
func (p *packer) finish() (inPack bool, err error) {
	if len(p.all) == 0 {
		return false, nil
	}
	if p.file == nil && !p.again {
		return false, p.repo.journal.append(p.all, p.buf.Bytes())
	}
	if err = p.spill(); err == nil {
		err = p.close()
	}
	if err != nil {
		p.drop()
	}
	p.file = nil
	return true, err
}

func (p *packer) close() error {
	if _, err := p.file.WriteAt(packHead(len(p.all)), 0); err != nil {
		return err
	}
	// The sum covers the number of objects, which is known only now.
	sum := hash.New(hash.CryptoType)
	if _, err := io.Copy(sum, io.NewSectionReader(p.file, 0, p.at)); err != nil {
		return err
	}
	var trailer plumbing.Hash
	copy(trailer[:], sum.Sum(nil))
	if _, err := p.file.WriteAt(trailer[:], p.at); err != nil {
		return err
	}
	if err := errors.Join(p.file.Sync(), p.file.Close()); err != nil {
		return err
	}
	var made idxfile.Writer
	for _, o := range p.all {
		made.Add(o.id, uint64(o.at), o.sum)
	}
	if err := made.OnFooter(trailer); err != nil {
		return err
	}
	index, err := made.Index()
	if err != nil {
		return err
	}
	name := filepath.Join(p.repo.packDir(), "pack-"+trailer.String())
	if err := writeIndex(name+".idx", index); err != nil {
		return err
	}
	if err := os.Rename(p.file.Name(), name+".pack"); err != nil {
		return err
	}
	if err := syncDir(p.repo.packDir()); err != nil {
		return err
	}
	p.repo.packs = append(p.repo.packs, pack{name: name, index: index})
	return nil
}

// write adds the directories that the repository lacks.
func (p *packer) write(n *node) error {
	if !n.known || p.repo.has(n.Hash) {
		return nil
	}
	for _, k := range n.kids {
		if k.isDir() {
			if err := p.write(k); err != nil {
				return err
			}
		}
	}
	_, err := p.add(plumbing.TreeObject, n.encode())
	return err
}

// drop forgets what is not finished.
func (p *packer) drop() {
	if p.file != nil {
		_ = p.file.Close()
		_ = os.Remove(p.file.Name())
	}
	p.file, p.all, p.in = nil, nil, nil
	p.buf.Reset()
}

// writeIndex writes the index before the pack has its name: git reads a pack by its index.
func writeIndex(name string, index *idxfile.MemoryIndex) error {
	var b bytes.Buffer
	if _, err := idxfile.NewEncoder(&b).Encode(index); err != nil {
		return err
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(b.Bytes())
	return errors.Join(err, file.Sync(), file.Close())
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
