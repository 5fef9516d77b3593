package pod

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

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
	if _, err := a.note(a.host.base, item.Note{Text: text}); err != nil {
		return err
	}
	spec.Checkout.Base = began
	return a.journal.setSpec(a.host.base, spec, func() {})
}

// inClone is the spec of a pod whose clone is here. If the clone is not here yet, it is made.
func inClone(ctx context.Context, h *Host, id string) (spec item.PodSpec, err error) {
	a, release, err := h.pods.acquire(ctx, id)
	if err != nil {
		return spec, err
	}
	defer release()
	_, err = visit(ctx, a, func(context.Context) (Ground, error) { return a.site.workspace.Look() })
	if err == nil {
		err = a.mailbox.do(ctx, func() { spec = a.journal.rec.Spec })
	}
	return spec, err
}

// Need says who needs a clone.
type Need int

// A clone is not needed if its pod has another one, unless a fork works in it. Of a pod that is gone, the last
// clone stays: only the source tells it from the earlier ones.
const (
	NeedNot Need = iota
	NeedPod
	NeedIfLast
)

// needs says who needs a clone. Pods in the trash may come back, so they count.
func needs(ctx context.Context, h *Host) (func(c FoundCheckout) Need, error) {
	pods, err := h.Store.Pods(ctx)
	if err != nil {
		return nil, err
	}
	trashed, err := h.Store.TrashedPods(ctx)
	for _, p := range trashed {
		pods = append(pods, p.Pod)
	}
	return func(c FoundCheckout) Need {
		i := slices.IndexFunc(pods, func(p item.Pod) bool { return p.ID == c.Pod })
		// The directories of sub-pods change only when they are loaded.
		forked := slices.ContainsFunc(pods, func(p item.Pod) bool {
			return !p.Spec.Checkout.IsClone() && slices.ContainsFunc(p.Spec.Readable(), c.has)
		})
		switch {
		case forked, i >= 0 && (!pods[i].Spec.Checkout.IsClone() || pods[i].Spec.Checkout.Clone == c.Dir):
			return NeedPod
		case i < 0:
			return NeedIfLast
		}
		return NeedNot
	}, err
}

// earlierClone refuses to take changes back in a clone that the pod does not work in any more: the pod would
// not see it.
func earlierClone(p item.Pod, line []item.Checkpoint) error {
	now := p.Spec.Checkout.Clone
	if now == "" {
		return nil
	}
	// The clones of a pod differ in a number at the end, and in the node's state directory.
	place := filepath.Base(filepath.Dir(now))
	all := "/" + place[:strings.LastIndexByte(place, '.')+1]
	for _, k := range line {
		if c := (FoundCheckout{Dir: now}); strings.Contains(k.Dir, all) && !c.has(k.Dir) {
			return item.Errorf(item.KindPrecondition, "EARLIER_CLONE",
				"pod %s made these changes in an earlier clone, %s: podctl diff %s shows them, and git in %s can take them back", p.Name, k.Dir, p.Name, now)
		}
	}
	return nil
}
