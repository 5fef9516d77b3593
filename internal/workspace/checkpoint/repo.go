package checkpoint

import (
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// repo is a bare git repository with objects in packs. The newest are in a journal.
type repo struct {
	path string
	// packs are those that were read, the newest last.
	packs   []pack
	journal *journal
	zip     *zlib.Writer
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
	if r.zip, err = zlib.NewWriterLevel(io.Discard, zlib.BestSpeed); err != nil {
		return nil, err
	}
	if err := r.load(); err != nil {
		return nil, err
	}
	r.journal, err = openJournal(filepath.Join(path, journalFile))
	return r, err
}

// close closes the journal's file. What is in the journal gets a pack, which git reads, first.
func (r *repo) close() error { return errors.Join(r.flush(), r.journal.close()) }

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

func (r *repo) has(id plumbing.Hash) bool { return r.journal.has(id) || r.inPack(id) }

// inPack says whether a pack has an object.
func (r *repo) inPack(id plumbing.Hash) bool {
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

// size is the bytes of all packs.
func (r *repo) size() (n int64, err error) {
	for _, p := range r.packs {
		info, err := os.Stat(p.name + ".pack")
		if err != nil {
			return 0, err
		}
		n += info.Size()
	}
	return n, nil
}

// read returns the content of an object.
func (r *repo) read(id plumbing.Hash) ([]byte, error) {
	if r.journal.has(id) {
		_, data, _, err := r.journal.read(id)
		return data, err
	}
	if !r.inPack(id) {
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

// point sets a branch to a commit: for people who look with git.
func (r *repo) point(branch string, id plumbing.Hash) error {
	return replace(r.ref(branch), []byte(id.String()+"\n"))
}

// ref is the file of a branch.
func (r *repo) ref(branch string) string { return filepath.Join(r.path, "refs", "heads", branch) }
