package pod

import "context"

// CompletePath completes the text after an @ with paths of a pod's scope, also by those that only
// have its characters in their order. A directory that cannot be read is an [item.Error] with
// reason BAD_PATH.
func (h *Host) CompletePath(ctx context.Context, idOrName, prefix string, limit int) ([]string, error) {
	a, release, err := h.pods.acquire(ctx, idOrName)
	if err != nil {
		return nil, err
	}
	defer release()
	return visit(ctx, a, func(ctx context.Context) ([]string, error) {
		return a.site.workspace.Complete(ctx, prefix, limit)
	})
}

// Prompts are what text that is typed for a pod may begin with.
func (h *Host) Prompts(ctx context.Context, idOrName string) ([]Prompt, error) {
	a, release, err := h.pods.acquire(ctx, idOrName)
	if err != nil {
		return nil, err
	}
	defer release()
	return visit(ctx, a, func(context.Context) ([]Prompt, error) {
		g, err := a.site.workspace.Look()
		if err != nil {
			return nil, err
		}
		return g.Prompts(), nil
	})
}
