package files

import (
	"context"

	"github.com/go-git/go-git/v5/plumbing"

	"podd/pkg/item"
)

// Between are the steps that make the changes between two checkpoints in another directory: Left is
// what that has, Want what it gets.
func (w *Workspace) Between(from, to string) (steps []Step, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.begin(); err != nil {
		return nil, w.failed(err)
	}
	changes, err := w.repo.diff(from, to)
	if err != nil {
		return nil, w.failed(err)
	}
	for _, c := range changes {
		steps = append(steps, Step{Path: c.Path, Left: c.Old, Want: c.New})
	}
	return steps, nil
}

// Bring stores the bytes that steps want, which the repository of another directory has.
func (w *Workspace) Bring(from *Workspace, steps []Step) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.begin(); err != nil {
		return w.failed(err)
	}
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
			return w.failed(err)
		}
	}
	return w.failed(p.finish())
}

// Except is a checkpoint like another one in which steps were not made.
func (w *Workspace) Except(ctx context.Context, to, branch string, steps []Step) (string, error) {
	if len(steps) == 0 {
		return to, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.begin(); err != nil {
		return "", w.failed(err)
	}
	id, err := w.except(ctx, to, branch, steps)
	if err != nil {
		return "", w.failed(err)
	}
	return id, nil
}

func (w *Workspace) except(ctx context.Context, to, branch string, steps []Step) (string, error) {
	was, err := w.repo.commit(hashOf(to))
	if err != nil {
		return "", err
	}
	var changes []change
	for _, s := range steps {
		changes = append(changes, change{Path: s.Path, Old: s.Left, New: s.Want})
	}
	root, err := w.repo.without(was.root(), changes)
	if err != nil {
		return "", err
	}
	p := &packer{repo: w.repo}
	defer p.drop()
	if err := p.write(root); err != nil {
		return "", err
	}
	c := commit{tree: root.Hash, parent: hashOf(to), author: string(item.ByPerson), branch: branch, at: w.all.Now(), message: "applied"}
	id, err := p.add(plumbing.CommitObject, c.encode())
	if err != nil {
		return "", err
	}
	return id.String(), w.repo.store(ctx, p, branch, id)
}
