package pod

import (
	"fmt"

	"podd/pkg/item"
)

// Clones are the repositories that podd cloned for pods. Package workspace has them.
type Clones interface {
	// Placed is where this podd has the clone of a pod, or will have it once a turn needs it: c,
	// unless that is another node's.
	Placed(c item.Checkout, pod string) item.Checkout
	// Refuses says why this podd makes no clones.
	Refuses() error
}

// placed is the spec of a pod with the clone that it has here. Sub-pods work in that of the pod at the
// top.
func placed(h *Host, p item.Pod) (item.PodSpec, error) {
	spec := p.Spec
	if !spec.Checkout.IsClone() || h.Clones == nil {
		return spec, nil
	}
	above, err := h.Family.Ancestors(h.base, spec)
	if err != nil {
		return spec, err
	}
	top := p
	if len(above) > 0 {
		top = above[len(above)-1]
	}
	c := h.Clones.Placed(top.Spec.Checkout, top.ID)
	// A turn that begins compares it with that of the clone.
	c.Base = spec.Checkout.Base
	spec = inDir(spec, spec.Checkout.Clone, c.Clone)
	spec.Checkout = c
	return spec, nil
}

// settle stores where the clone of a pod is here.
func settle(a *actor) error {
	spec, err := placed(a.host, a.journal.rec)
	if err != nil || spec.Checkout == a.journal.rec.Spec.Checkout {
		return err
	}
	return a.journal.setSpec(a.host.base, spec, func() {})
}

// entered tells the model and the person that the pod goes on in another clone, which began with a
// commit; empty for a pod in no clone.
func entered(a *actor, began string) error {
	spec := a.journal.rec.Spec
	if began == "" || began == spec.Checkout.Base {
		return nil
	}
	where := ""
	if spec.Checkout.Node != "" {
		where = " on node " + spec.Checkout.Node
	}
	text := fmt.Sprintf("This pod goes on in a new clone of %s%s, in %s, with the files of commit %.12s. podd pushes at the end of each turn. What was not pushed is lost: later changes, and files that git ignores. Look at the files before you go on.",
		spec.Checkout.Source, where, spec.Dir, began)
	if _, err := a.note(a.host.base, text, false); err != nil {
		return err
	}
	spec.Checkout.Base = began
	return a.journal.setSpec(a.host.base, spec, func() {})
}
