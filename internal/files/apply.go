package files

import (
	"context"

	"github.com/go-git/go-git/v5/plumbing"

	"podd/pkg/item"
)

// Between are the steps that make the changes between two checkpoints in another directory: Left is
// what that has, Want what it gets.
func (w *Workspace) Between(from, to string) (steps []Step, err error) {
	err = w.use(func() error {
		changes, err := w.repo.diff(from, to)
		for _, c := range changes {
			steps = append(steps, Step{Path: c.Path, Left: c.Old, Want: c.New})
		}
		return err
	})
	return steps, err
}

// Bring stores the bytes that steps want, which the repository of another directory has.
func (w *Workspace) Bring(from *Workspace, steps []Step) error {
	return w.use(func() error {
		p := &packer{repo: w.repo}
		defer p.drop()
		for _, s := range steps {
			if !s.Want.Exists() || s.Want.IsDir() {
				continue
			}
			data, err := from.Read(s.Want)
			if err != nil {
				return err
			}
			if _, err := p.add(plumbing.BlobObject, data); err != nil {
				return err
			}
		}
		return p.finish()
	})
}

// Except is a checkpoint like another one in which steps were not made.
func (w *Workspace) Except(ctx context.Context, to, branch string, steps []Step) (id string, err error) {
	if len(steps) == 0 {
		return to, nil
	}
	var changes []change
	for _, s := range steps {
		changes = append(changes, change{Path: s.Path, Old: s.Left, New: s.Want})
	}
	err = w.use(func() error {
		was, err := w.repo.commit(hashOf(to))
		if err != nil {
			return err
		}
		root, err := w.repo.without(was.root(), changes)
		if err != nil {
			return err
		}
		p := &packer{repo: w.repo}
		defer p.drop()
		made, err := p.commit(root, commit{parent: hashOf(to), author: string(item.ByPerson), branch: branch, at: w.all.Now(), message: "applied"})
		if err != nil {
			return err
		}
		id = made.String()
		return w.repo.store(ctx, p, branch, made)
	})
	return id, err
}
