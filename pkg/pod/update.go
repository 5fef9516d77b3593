package pod

import (
	"context"

	"podd/pkg/hook"
	"podd/pkg/item"
)

// Update gives a pod the spec that change derives from the current one. Fields that
// change does not touch stay, even if they have become invalid: a missing root elsewhere
// in the spec is ignored. change runs twice: once so that podd can check new values
// before the pod has to wait, and once in the pod's goroutine, so that nothing else
// changes the spec meanwhile. Limits, model and instructions apply from the next turn on,
// rules at once. What the tools of a running turn depend on can't change under them: that
// is KindPrecondition, reason BUSY.
func (h *Host) Update(ctx context.Context, idOrName string, change func(item.PodSpec) (item.PodSpec, error)) (item.Pod, error) {
	p, err := h.Store.Pod(ctx, idOrName)
	if err != nil {
		return item.Pod{}, err
	}
	spec, err := change(p.Spec)
	if err != nil {
		return item.Pod{}, err
	}
	if _, err := h.settings().pinned(spec, p.Spec); err != nil {
		return item.Pod{}, err
	}
	resolve, err := h.checked(ctx, spec, p.Spec)
	if err != nil {
		return item.Pod{}, err
	}
	return h.change(ctx, p.ID, func(a *actor) error {
		spec, err := change(a.journal.rec.Spec)
		if err != nil {
			return err
		}
		if spec, err = h.settings().pinned(spec, a.journal.rec.Spec); err != nil {
			return err
		}
		spec = dated(spec, a.journal.rec.Spec, a.journal.time())
		return a.update(ctx, resolve(spec, a.journal.rec.Spec))
	})
}

// pinned is a spec with the endpoint that its model names, if the model is not the old
// spec's: that one keeps its endpoint whatever endpoints there are now. A model of an
// unknown endpoint is refused, and so are new options that it does not take.
func (s *settings) pinned(spec, old item.PodSpec) (item.PodSpec, error) {
	if spec.Endpoint = old.Endpoint; spec.Model != old.Model {
		ref, err := s.Router.Find(spec.Model)
		if err != nil {
			return spec, err
		}
		spec.Endpoint = ref.Endpoint
	}
	if spec.Model == old.Model && spec.Options == old.Options {
		return spec, nil
	}
	return spec, s.checkOptions(spec.Options, spec.ModelRef())
}

func (a *actor) update(ctx context.Context, spec item.PodSpec) error {
	old := a.journal.rec.Spec
	spec.Parent, spec.ParentCall, spec.Checkout = old.Parent, old.ParentCall, old.Checkout
	if old.Checkout.Source != "" && spec.Dir != old.Dir {
		return item.Errorf(item.KindPrecondition, "IN_CHECKOUT", "pod %s works in its checkout %s and stays there: create another pod for another directory", a.journal.rec.Name, old.Dir)
	}
	moves, use, err := a.site.workspace.Follow(spec)
	if err != nil {
		return err
	}
	if moves && a.turns.busy() {
		return a.runs("change its directories and tools")
	}
	if err := a.journal.setSpec(ctx, spec, use); err != nil {
		return err
	}
	a.journal.changed(hook.PodUpdated)
	return nil
}
