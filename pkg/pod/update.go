package pod

import (
	"context"

	"podd/pkg/hook"
	"podd/pkg/item"
)

// Update gives a pod the spec that change makes of the one that it has. What change leaves as
// it is stays, whatever became of it: a root that is gone is in nobody's way. change runs
// twice: so that what is new is looked for before the pod has to wait, and in the pod's
// goroutine, so that nothing else changes the spec meanwhile. Limits, model and
// instructions count from the next turn on, rules at once. What the tools of a running turn
// stand on can't be changed under them: that is KindPrecondition, reason BUSY.
func (h *Host) Update(ctx context.Context, idOrName string, change func(item.PodSpec) (item.PodSpec, error)) (item.Pod, error) {
	p, err := h.Store.Pod(ctx, idOrName)
	if err != nil {
		return item.Pod{}, err
	}
	spec, err := change(p.Spec)
	if err != nil {
		return item.Pod{}, err
	}
	resolve, err := h.Workspaces.Check(spec, p.Spec)
	if err != nil {
		return item.Pod{}, err
	}
	return h.change(ctx, p.ID, func(a *actor) error {
		spec, err := change(a.journal.rec.Spec)
		if err != nil {
			return err
		}
		return a.update(ctx, resolve(spec, a.journal.rec.Spec))
	})
}

func (a *actor) update(ctx context.Context, spec item.PodSpec) error {
	old := a.journal.rec.Spec
	spec.Parent, spec.ParentCall = old.Parent, old.ParentCall
	moves, use, err := a.site.workspace.Follow(spec)
	if err != nil {
		return err
	}
	if moves && a.turns.busy() {
		return item.Errorf(item.KindPrecondition, "BUSY",
			"pod %s runs a turn, and its directories and tools can't change under it: try again when the turn has ended, or cancel it", a.journal.rec.Name)
	}
	if err := a.journal.setSpec(ctx, spec, use); err != nil {
		return err
	}
	a.journal.changed(hook.PodUpdated)
	return nil
}
