package pod

import (
	"context"
	"slices"

	"podd/pkg/hook"
	"podd/pkg/item"
)

// Update gives a pod the spec that change makes of the one that it has. change runs in
// the pod's goroutine, so that nothing else changes the spec meanwhile. Its limits, model and instructions count from the next
// turn on, its rules at once. What the tools of a running turn stand on can't be changed
// under them: that is KindPrecondition, reason BUSY.
func (h *Host) Update(ctx context.Context, idOrName string, change func(item.PodSpec) (item.PodSpec, error)) (item.Pod, error) {
	return h.change(ctx, idOrName, func(a *actor) error {
		spec, err := change(a.rec.Spec)
		if err == nil {
			err = h.checkSpec(&spec)
		}
		if err != nil {
			return err
		}
		return a.update(ctx, spec)
	})
}

func (a *actor) update(ctx context.Context, spec item.PodSpec) error {
	old := a.rec.Spec
	spec.Parent, spec.ParentCall = old.Parent, old.ParentCall
	above, err := a.host.ancestors(ctx, spec)
	if err != nil {
		return err
	}
	if _, err := within(spec, above); err != nil {
		return err
	}
	moves := spec.Dir != old.Dir || !slices.Equal(spec.Read, old.Read) || !slices.Equal(spec.Write, old.Write) ||
		!slices.Equal(spec.Tools, old.Tools) || spec.SubPods != old.SubPods
	if moves && a.busy() {
		return item.Errorf(item.KindPrecondition, "BUSY",
			"pod %s runs a turn, and its directories and tools can't change under it: try again when the turn has ended, or cancel it", a.rec.Name)
	}
	if err := a.setSpec(ctx, spec); err != nil {
		return err
	}
	if moves && a.work != nil {
		a.work.close()
		a.work = nil
	}
	a.tellHooks(hook.PodUpdated)
	return nil
}
