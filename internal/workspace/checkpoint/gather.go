package checkpoint

import (
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// gatherMany gathers when there are many packs. It saves time alone: what did not work is tried
// again later.
func (r *repo) gatherMany() {
	if len(r.packs) > 0 && len(r.packs)%manyPacks == 0 {
		_ = r.gather()
	}
}

// gather makes one pack of the smaller packs, so that each that is left has as many objects as all
// smaller ones together (git-repack(1), --geometric). An object is written again a few times in
// the life of a repository, however many checkpoints there are.
func (r *repo) gather() error {
	sizes := make(map[string]int64)
	for _, p := range r.packs {
		n, err := p.index.Count()
		if err != nil {
			return err
		}
		sizes[p.name] = n
	}
	small := slices.SortedFunc(slices.Values(r.packs), func(a, b pack) int { return cmp.Compare(sizes[a.name], sizes[b.name]) })
	last, below := 0, int64(0)
	for i, p := range small {
		if sizes[p.name] < below {
			last = i
		}
		below += sizes[p.name]
	}
	return r.join(small[:last+1])
}

// join makes one pack of several. It removes them when that one is on disk.
func (r *repo) join(packs []pack) error {
	out := &packer{repo: r, again: true}
	defer out.drop()
	for _, p := range packs {
		if err := p.each(out.add); err != nil {
			return err
		}
	}
	if _, err := out.finish(); err != nil {
		return err
	}
	made := r.packs[len(r.packs)-1].name
	for _, p := range packs {
		if p.name == made {
			continue
		}
		if err := errors.Join(os.Remove(p.name+".pack"), os.Remove(p.name+".idx")); err != nil {
			return err
		}
	}
	return r.load()
}

// each passes every object of a pack.
func (p pack) each(to func(plumbing.ObjectType, []byte) (plumbing.Hash, error)) (err error) {
	dir := osfs.New(filepath.Dir(p.name))
	file, err := dir.Open(filepath.Base(p.name) + ".pack")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	objects := packfile.NewPackfile(p.index, dir, file, 0)
	entries, err := p.index.EntriesByOffset()
	if err != nil {
		return err
	}
	for {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		object, err := objects.Get(entry.Hash)
		if err != nil {
			return err
		}
		kind, data, err := content(object)
		if err != nil {
			return err
		}
		if id, err := to(kind, data); err != nil || id != entry.Hash {
			return cmp.Or(err, errObject)
		}
	}
}

func content(object plumbing.EncodedObject) (kind plumbing.ObjectType, data []byte, err error) {
	in, err := object.Reader()
	if err != nil {
		return kind, nil, err
	}
	data, err = io.ReadAll(in)
	return object.Type(), data, errors.Join(err, in.Close())
}
