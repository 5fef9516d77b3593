package files

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// repo is a bare git repository with objects in packs: one a checkpoint, until there are many.
type repo struct {
	path string
	// packs are those that were read, the newest last.
	packs []pack
	// many is how many packs there are before they are gathered.
	many int
	zip  *zlib.Writer
}

const (
	// manyPacks is how many packs smaller than smallPack there are at most: a turn begins by reading the index of
	// each pack, and a look searches all of them.
	manyPacks, smallPack = 64, 8 << 20
	// unfinished begins the name of a pack that is being written, as git's own do.
	unfinished = "tmp_pack_"
)

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
	r := &repo{path: path, many: manyPacks}
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
	if err := r.sweep(); err != nil {
		return nil, err
	}
	var err error
	if r.zip, err = zlib.NewWriterLevel(io.Discard, zlib.BestSpeed); err != nil {
		return nil, err
	}
	return r, r.load()
}

// sweep removes what nothing reads: unfinished packs, indexes whose pack is gone, and the journal of an earlier podd.
func (r *repo) sweep() error {
	left, err := filepath.Glob(filepath.Join(r.packDir(), unfinished+"*"))
	if err != nil {
		return err
	}
	indexes, err := filepath.Glob(filepath.Join(r.packDir(), "*.idx"))
	if err != nil {
		return err
	}
	for _, name := range indexes {
		if _, err := os.Lstat(strings.TrimSuffix(name, ".idx") + ".pack"); errors.Is(err, fs.ErrNotExist) {
			left = append(left, name)
		}
	}
	for _, name := range append(left, filepath.Join(r.path, "journal")) {
		if err := gone(os.Remove(name)); err != nil {
			return err
		}
	}
	return nil
}

// replace writes a file of the repository as a whole or not at all.
func replace(name string, data []byte) error {
	if err := os.WriteFile(name+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

func (r *repo) packDir() string { return filepath.Join(r.path, "objects", "pack") }

// load reads the indexes of packs that are new, and forgets packs that are gone.
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
		p := pack{name: name}
		if p.index, err = readIndex(name + ".idx"); err != nil && p.reindex() != nil {
			continue // What the pack has is unknown, and written again.
		}
		r.packs = append(r.packs, p)
	}
	return nil
}

// readIndex reads the index of a pack. It removes one that is damaged, about which git would complain.
func readIndex(path string) (*idxfile.MemoryIndex, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	index := idxfile.NewMemoryIndex()
	if err := idxfile.NewDecoder(bytes.NewReader(data)).Decode(index); err != nil {
		return nil, errors.Join(err, os.Remove(path))
	}
	return index, nil
}

// reindex makes an index that a power failure lost. It renames a pack that the failure cut off to .damaged.
func (p *pack) reindex() error {
	file, err := os.Open(p.name + ".pack")
	if err != nil {
		return err
	}
	defer file.Close()
	var index idxfile.Writer
	parser, err := packfile.NewParser(packfile.NewScanner(file), &index)
	if err != nil {
		return err
	}
	if _, err := parser.Parse(); err != nil {
		if _, refused := errors.AsType[*fs.PathError](err); refused {
			return err
		}
		return errors.Join(err, os.Rename(p.name+".pack", p.name+".damaged"))
	}
	if p.index, err = index.Index(); err != nil {
		return err
	}
	return p.writeIndex()
}

// has says whether a pack has an object.
func (r *repo) has(id plumbing.Hash) bool {
	return slices.ContainsFunc(r.packs, func(p pack) bool { return p.has(id) })
}

func (p pack) has(id plumbing.Hash) bool {
	found, err := p.index.Contains(id)
	return err == nil && found
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

// size is the bytes of all packs.
func (r *repo) size() (all int64, err error) {
	for _, p := range r.packs {
		n, err := p.size()
		if err != nil {
			return 0, err
		}
		all += n
	}
	return all, nil
}

func (p pack) size() (int64, error) {
	info, err := os.Stat(p.name + ".pack")
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// read returns the content of an object.
func (r *repo) read(id plumbing.Hash) ([]byte, error) {
	_, data, err := r.object(id)
	return data, err
}

// object is read with its kind. It is errObject if it is missing or damaged; what the system refuses now may work later.
func (r *repo) object(id plumbing.Hash) (kind plumbing.ObjectType, data []byte, err error) {
	kind, data, err = r.find(id)
	if errors.Is(err, fs.ErrNotExist) && r.load() == nil {
		// A person's git has moved it to another pack, or it is lost.
		kind, data, err = r.find(id)
	}
	return kind, data, judge(id, kind, data, err)
}

// judge says whether what was read of an object, or why it was not, is a missing or damaged one.
func judge(id plumbing.Hash, kind plumbing.ObjectType, data []byte, err error) error {
	var refused *fs.PathError
	switch {
	case err == nil && plumbing.ComputeHash(kind, data) != id:
		err = fmt.Errorf("%w: %s has other bytes", errObject, id)
	case err != nil && (errors.Is(err, fs.ErrNotExist) || !errors.As(err, &refused)):
		err = fmt.Errorf("%w: %s: %w", errObject, id, err)
	}
	return err
}

// find reads an object from the first pack that has it.
func (r *repo) find(id plumbing.Hash) (kind plumbing.ObjectType, data []byte, err error) {
	i := slices.IndexFunc(r.packs, func(p pack) bool { return p.has(id) })
	if i < 0 {
		return kind, nil, errors.New("it is missing")
	}
	from, err := r.packs[i].open()
	if err != nil {
		return kind, nil, err
	}
	defer from.Close()
	return read(from, id)
}

// open opens the pack. The caller closes it.
func (p pack) open() (*packfile.Packfile, error) {
	dir := osfs.New(filepath.Dir(p.name))
	file, err := dir.Open(filepath.Base(p.name) + ".pack")
	if err != nil {
		return nil, err
	}
	return packfile.NewPackfile(p.index, dir, file, 0), nil
}

// read reads an object of a pack.
func read(from *packfile.Packfile, id plumbing.Hash) (kind plumbing.ObjectType, data []byte, err error) {
	object, err := from.Get(id)
	if err != nil {
		return kind, nil, err
	}
	in, err := object.Reader()
	if err != nil {
		return kind, nil, err
	}
	data, err = io.ReadAll(in)
	return object.Type(), data, errors.Join(err, in.Close())
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

// commit reads a checkpoint; the zero commit for none.
func (r *repo) commit(id plumbing.Hash) (c commit, err error) {
	if id.IsZero() {
		return c, nil
	}
	data, err := r.read(id)
	if err != nil {
		return c, err
	}
	return decodeCommit(data)
}

// root is the directory of a commit; nil for no commit.
func (c commit) root() *node {
	if c.tree.IsZero() {
		return nil
	}
	return &node{File: File{Mode: typeDir, Hash: c.tree}}
}

// store makes the objects of a checkpoint last, and shows git its commit.
func (r *repo) store(ctx context.Context, p *packer, branch string, id plumbing.Hash) error {
	if err := p.finish(); err != nil {
		return err
	}
	if err := r.point(branch, id); err != nil {
		return err
	}
	if len(r.packs) >= r.many {
		_ = r.gather(ctx) // It saves time alone: what does not work is tried again later.
		r.many = manyPacks
		if len(r.packs) >= manyPacks {
			r.many += len(r.packs)
		}
	}
	return nil
}

// gather makes one pack of the small ones, if there are many.
func (r *repo) gather(ctx context.Context) error {
	var small []pack
	for _, p := range r.packs {
		if n, err := p.size(); err == nil && n < smallPack {
			small = append(small, p)
		}
	}
	if len(small) < manyPacks {
		return nil
	}
	return r.repack(ctx, small, func(plumbing.Hash) bool { return true })
}

// repack makes one pack of what packs have that is live. It removes them when that one is on disk. A pack that cannot be
// read stays.
func (r *repo) repack(ctx context.Context, packs []pack, live func(plumbing.Hash) bool) error {
	made := &packer{repo: r, again: true}
	defer made.drop()
	var copied []pack
	for _, p := range slices.Clone(packs) {
		switch err := made.copy(ctx, p, live); {
		case err == nil:
			copied = append(copied, p)
		case !errors.Is(err, errObject):
			return err
		}
	}
	if err := made.finish(); err != nil {
		return err
	}
	var err error
	for _, p := range copied {
		err = errors.Join(err, gone(os.Remove(p.name+".pack")), gone(os.Remove(p.name+".idx")))
	}
	return errors.Join(err, r.load())
}

// point sets a branch to a commit: for people who look with git. All commits have the same length. To replace the file
// would make ext4 write it to the disk.
func (r *repo) point(branch string, id plumbing.Hash) error {
	file, err := os.OpenFile(r.ref(branch), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(id.String() + "\n")
	return errors.Join(err, file.Close())
}

// ref is the file of a branch.
func (r *repo) ref(branch string) string { return filepath.Join(r.path, "refs", "heads", branch) }

// heads are the commits of the branches.
func (r *repo) heads() (map[string]plumbing.Hash, error) {
	names, err := os.ReadDir(r.ref(""))
	if err != nil {
		return nil, err
	}
	heads := make(map[string]plumbing.Hash)
	for _, name := range names {
		data, err := os.ReadFile(r.ref(name.Name()))
		if err != nil {
			return nil, err
		}
		heads[name.Name()] = hashOf(strings.TrimSpace(string(data)))
	}
	return heads, nil
}
