package files

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/hash"
)

// packer writes objects to a new pack, as git's pack-format(5) says. Once it has finished, the repository has them.
// go-git's own encoder takes five times as long: it compresses more, and reads each pack again for its index.
type packer struct {
	repo *repo
	// again writes objects that the repository has, too.
	again bool
	// file is the new pack; nil before its first object.
	file  *os.File
	out   *bufio.Writer
	entry bytes.Buffer
	index idxfile.Writer
	in    map[plumbing.Hash]bool
	at    int64
}

// packHead begins a pack of n objects.
func packHead(n int) []byte {
	return binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(n))
}

// begin makes the file. The number of objects is known only at the end.
func (p *packer) begin() (err error) {
	if p.file, err = os.CreateTemp(p.repo.packDir(), unfinished); err != nil {
		return err
	}
	p.out, p.in, p.index = bufio.NewWriterSize(p.file, 64<<10), make(map[plumbing.Hash]bool), idxfile.Writer{}
	n, err := p.out.Write(packHead(0))
	p.at = int64(n)
	return err
}

// add writes an object that the repository does not have.
func (p *packer) add(t plumbing.ObjectType, data []byte) (plumbing.Hash, error) {
	id := plumbing.ComputeHash(t, data)
	if p.in[id] || !p.again && p.repo.has(id) {
		return id, nil
	}
	if p.file == nil {
		if err := p.begin(); err != nil {
			return id, err
		}
	}
	n := uint64(len(data))
	head := []byte{byte(t)<<4 | byte(n&15)}
	for n >>= 4; n > 0; n >>= 7 {
		head[len(head)-1] |= 0x80
		head = append(head, byte(n&0x7f))
	}
	p.entry.Reset()
	p.entry.Write(head)
	p.repo.zip.Reset(&p.entry)
	if _, err := p.repo.zip.Write(data); err != nil {
		return id, err
	}
	if err := p.repo.zip.Close(); err != nil {
		return id, err
	}
	p.index.Add(id, uint64(p.at), crc32.ChecksumIEEE(p.entry.Bytes()))
	p.in[id] = true
	wrote, err := p.entry.WriteTo(p.out)
	p.at += wrote
	return id, err
}

// copy adds what a pack has that is live.
func (p *packer) copy(ctx context.Context, from pack, live func(plumbing.Hash) bool) error {
	entries, err := from.index.EntriesByOffset()
	if err != nil {
		return err
	}
	in, err := from.open()
	if err != nil {
		return judge(plumbing.ZeroHash, plumbing.InvalidObject, nil, err)
	}
	defer in.Close()
	for {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err = cmp.Or(err, context.Cause(ctx)); err != nil {
			return err
		}
		if !live(entry.Hash) {
			continue
		}
		kind, data, err := read(in, entry.Hash)
		if err := judge(entry.Hash, kind, data, err); err != nil {
			return err
		}
		if _, err := p.add(kind, data); err != nil {
			return err
		}
	}
}

// finish makes the objects last: after it, a power failure does not lose them.
func (p *packer) finish() error {
	if p.file == nil {
		return nil
	}
	defer p.drop()
	if err := p.out.Flush(); err != nil {
		return err
	}
	if _, err := p.file.WriteAt(packHead(len(p.in)), 0); err != nil {
		return err
	}
	sum := hash.New(hash.CryptoType)
	if _, err := io.Copy(sum, io.NewSectionReader(p.file, 0, p.at)); err != nil {
		return err
	}
	trailer := plumbing.Hash(sum.Sum(nil))
	if _, err := p.file.WriteAt(trailer[:], p.at); err != nil {
		return err
	}
	if err := p.index.OnFooter(trailer); err != nil {
		return err
	}
	index, err := p.index.Index()
	if err != nil {
		return err
	}
	var other [len(trailer)]byte // No pack is replaced before its successor is on disk.
	_, _ = rand.Read(other[:])
	made := pack{filepath.Join(p.repo.packDir(), "pack-"+hex.EncodeToString(other[:])), index}
	if err := p.keep(made); err != nil {
		_ = os.Remove(made.name + ".pack")
		return err
	}
	p.repo.packs = append(p.repo.packs, made)
	return nil
}

// keep names the pack and syncs it. The index comes last, without a sync: podd can make it again from the pack.
func (p *packer) keep(made pack) error {
	if err := os.Rename(p.file.Name(), made.name+".pack"); err != nil {
		return err
	}
	synced := make(chan error, 1)
	go func() { synced <- syncDir(p.repo.packDir()) }() // Both at once take as long as one.
	if err := errors.Join(p.file.Sync(), <-synced); err != nil {
		return err
	}
	return made.writeIndex()
}

// write adds the directories that the repository lacks. It may lack one in a directory that it has: a pack can be lost.
func (p *packer) write(n *node) error {
	if !n.known {
		return nil
	}
	for _, k := range n.kids {
		if k.isDir() {
			if err := p.write(k); err != nil {
				return err
			}
		}
	}
	if p.repo.has(n.Hash) {
		return nil
	}
	_, err := p.add(plumbing.TreeObject, n.encode())
	return err
}

// commit adds a commit with its files, which have the directories of a tree.
func (p *packer) commit(root *node, c commit) (plumbing.Hash, error) {
	if err := p.write(root); err != nil {
		return plumbing.ZeroHash, err
	}
	c.tree = root.Hash
	return p.add(plumbing.CommitObject, c.encode())
}

// drop forgets what is not finished.
func (p *packer) drop() {
	if p.file != nil {
		_ = p.file.Close()
		_ = os.Remove(p.file.Name()) // A finished pack has another name.
	}
	p.file, p.in = nil, nil
}

// writeIndex writes the index, as a whole or not at all.
func (p pack) writeIndex() error {
	var data bytes.Buffer
	if _, err := idxfile.NewEncoder(&data).Encode(p.index); err != nil {
		return err
	}
	whole := filepath.Join(filepath.Dir(p.name), unfinished+"idx")
	if err := os.WriteFile(whole, data.Bytes(), 0o600); err != nil {
		return err
	}
	return os.Rename(whole, p.name+".idx")
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
