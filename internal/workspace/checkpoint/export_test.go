package checkpoint

// Tree names the tree of a checkpoint.
func (w *Workspace) Tree(commit string) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.begin(); err != nil {
		return "", err
	}
	root, err := w.repo.root(hashOf(commit))
	if err != nil {
		return "", err
	}
	return root.Hash.String(), nil
}
