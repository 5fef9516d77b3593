package checkpoint

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/hash"
)

// repo is a bare git repository with objects in packs.
type repo struct {
	path string
	// packs are those that were read, the newest last.
	packs []pack
}

// pack is a file of objects with its index.
type pack struct {
	name  string
	index *idxfile.MemoryIndex
}

// config is the repository's. Its trees have what fsck otherwise warns about: real permission
// bits, and the names that a person gave.
const config = `[core]
	repositoryformatversion = 0
	bare = true
[gc]
	auto = 0
[fsck]
	badFilemode = ignore
	hasDotgit = ignore
	gitmodulesBlob = ignore
	gitmodulesParse = ignore
	gitmodulesName = ignore
	gitmodulesPath = ignore
	gitmodulesUrl = ignore
	gitmodulesUpdate = ignore
	gitmodulesSymlink = ignore
	gitmodulesLarge = ignore
	gitattributesLarge = ignore
	gitattributesLineLength = ignore
	gitattributesBlob = ignore
	gitattributesSymlink = ignore
	gitignoreSymlink = ignore
	mailmapSymlink = ignore
`

// openRepo opens a repository, and makes it if it is missing.
func openRepo(path string) (*repo, error) {
	r := &repo{path: path}
	for _, dir := range []string{"objects/pack", "refs/heads"} {
		if err := os.MkdirAll(filepath.Join(path, dir), 0o700); err != nil {
			return nil, err
		}
	}
	// HEAD comes last: with it, git knows the repository.
	for _, file := range [][2]string{{"config", config}, {"HEAD", "ref: refs/heads/none\n"}} {
		name := filepath.Join(path, file[0])
		if _, err := os.Lstat(name); err == nil {
			continue
		}
		if err := replace(name, []byte(file[1])); err != nil {
			return nil, err
		}
	}
	unfinished, err := filepath.Glob(filepath.Join(r.packDir(), "tmp_pack_*"))
	if err != nil {
		return nil, err
	}
	for _, name := range unfinished {
		if err := os.Remove(name); err != nil {
			return nil, err
		}
	}
	return r, r.load()
}

// replace writes a file of the repository as a whole or not at all.
func replace(name string, data []byte) error {
	if err := os.WriteFile(name+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

func (r *repo) packDir() string { return filepath.Join(r.path, "objects", "pack") }

// load reads the indexes of packs that are new, and forgets those that are gone.
func (r *repo) load() error {
	names, err := filepath.Glob(filepath.Join(r.packDir(), "*.pack"))
	if err != nil {
		return err
	}
	r.packs = slices.DeleteFunc(r.packs, func(p pack) bool { return !slices.Contains(names, p.name+".pack") })
	for _, name := range names {
		name = strings.TrimSuffix(name, ".pack")
		if slices.ContainsFunc(r.packs, func(p pack) bool { return p.name == name }) {
			continue
		}
		index, err := readIndex(name + ".idx")
		if err != nil {
			return fmt.Errorf("%s.idx: %w", name, err)
		}
		r.packs = append(r.packs, pack{name: name, index: index})
	}
	return nil
}

func readIndex(path string) (*idxfile.MemoryIndex, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	index := idxfile.NewMemoryIndex()
	return index, idxfile.NewDecoder(file).Decode(index)
}

func (r *repo) has(id plumbing.Hash) bool {
	return slices.ContainsFunc(r.packs, func(p pack) bool {
		found, err := p.index.Contains(id)
		return err == nil && found
	})
}

// objects counts the objects of all packs.
func (r *repo) objects() (n int64, err error) {
	for _, p := range r.packs {
		count, err := p.index.Count()
		if err != nil {
			return 0, err
		}
		n += count
	}
	return n, nil
}

// read returns the content of an object.
func (r *repo) read(id plumbing.Hash) ([]byte, error) {
	if !r.has(id) {
		if err := r.load(); err != nil {
			return nil, err
		}
	}
	for _, p := range slices.Backward(r.packs) {
		if found, err := p.index.Contains(id); err != nil || !found {
			continue
		}
		return p.read(id)
	}
	return nil, fmt.Errorf("%w: %s is missing", errObject, id)
}

func (p pack) read(id plumbing.Hash) (data []byte, err error) {
	dir := osfs.New(filepath.Dir(p.name))
	file, err := dir.Open(filepath.Base(p.name) + ".pack")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	object, err := packfile.NewPackfile(p.index, dir, file, 0).Get(id)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", id, err)
	}
	kind, data, err := content(object)
	if err == nil && plumbing.ComputeHash(kind, data) != id {
		err = fmt.Errorf("%w: %s has other bytes", errObject, id)
	}
	return data, err
}

// tree reads the entries of a directory that is not read yet.
func (r *repo) tree(n *node) ([]*node, error) {
	if n == nil || !n.isDir() || n.known {
		if n == nil {
			return nil, nil
		}
		return n.kids, nil
	}
	data, err := r.read(n.Hash)
	if err != nil {
		return nil, err
	}
	return decodeTree(data)
}

// root is the directory of a commit; nil for no commit.
func (r *repo) root(id plumbing.Hash) (*node, error) {
	if id.IsZero() {
		return nil, nil
	}
	data, err := r.read(id)
	if err != nil {
		return nil, err
	}
	tree, err := treeOf(data)
	return &node{File: File{Mode: typeDir, Hash: tree}}, err
}

// point sets a branch to a commit, for people who look with git. Nothing in podd reads it.
func (r *repo) point(branch string, id plumbing.Hash) error {
	return replace(filepath.Join(r.path, "refs", "heads", branch), []byte(id.String()+"\n"))
}

// packer writes objects to a new pack, as git's pack-format(5) says.
type packer struct {
	repo *repo
	file *os.File
	out  *bufio.Writer
	zip  *zlib.Writer
	at   int64
	in   map[plumbing.Hash]bool
	made idxfile.Writer
	// again writes objects that other packs have, too.
	again bool
}

const packHeader = 12

// add writes an object that the repository does not have.
func (p *packer) add(t plumbing.ObjectType, data []byte) (plumbing.Hash, error) {
	id := plumbing.ComputeHash(t, data)
	if p.in[id] || !p.again && p.repo.has(id) {
		return id, nil
	}
	if err := p.begin(); err != nil {
		return id, err
	}
	sum := crc32.NewIEEE()
	count := &counter{to: io.MultiWriter(p.out, sum)}
	n := uint64(len(data))
	head := []byte{byte(t)<<4 | byte(n&15)}
	for n >>= 4; n > 0; n >>= 7 {
		head[len(head)-1] |= 0x80
		head = append(head, byte(n&0x7f))
	}
	if _, err := count.Write(head); err != nil {
		return id, err
	}
	p.zip.Reset(count)
	if _, err := p.zip.Write(data); err != nil {
		return id, err
	}
	if err := p.zip.Close(); err != nil {
		return id, err
	}
	p.made.Add(id, uint64(p.at), sum.Sum32())
	p.in[id] = true
	p.at += count.n
	return id, nil
}

// counter counts what is written.
type counter struct {
	to io.Writer
	n  int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.to.Write(b)
	c.n += int64(n)
	return n, err
}

// begin makes the file when the first object comes.
func (p *packer) begin() (err error) {
	if p.file != nil {
		return nil
	}
	if p.file, err = os.CreateTemp(p.repo.packDir(), "tmp_pack_"); err != nil {
		return err
	}
	p.out, p.in, p.at = bufio.NewWriterSize(p.file, 64<<10), make(map[plumbing.Hash]bool), packHeader
	if p.zip, err = zlib.NewWriterLevel(io.Discard, zlib.BestSpeed); err != nil {
		return err
	}
	_, err = p.out.Write(make([]byte, packHeader))
	return err
}

// finish syncs the pack and its index; then the repository has the objects.
func (p *packer) finish() error {
	if p.file == nil {
		return nil
	}
	err := p.close()
	if err != nil {
		p.drop()
	}
	p.file = nil
	return err
}

func (p *packer) close() error {
	if err := p.out.Flush(); err != nil {
		return err
	}
	head := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(len(p.in)))
	if _, err := p.file.WriteAt(head, 0); err != nil {
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
	if err := p.made.OnFooter(trailer); err != nil {
		return err
	}
	index, err := p.made.Index()
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

// drop removes an unfinished pack.
func (p *packer) drop() {
	if p.file != nil {
		_ = p.file.Close()
		_ = os.Remove(p.file.Name())
		p.file = nil
	}
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
