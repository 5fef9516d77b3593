package pod

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"podd/pkg/item"
)

// maxDepth is how many pods may stand above one: a pod that a person made spawns pods,
// which spawn pods, which spawn pods.
const maxDepth = 3

// ancestors are the pods above one, its parent first.
func (h *Host) ancestors(ctx context.Context, spec item.PodSpec) ([]item.Pod, error) {
	var above []item.Pod
	for spec.Parent != "" && len(above) <= maxDepth {
		p, err := h.Store.Pod(ctx, spec.Parent)
		if err != nil {
			return nil, err
		}
		above = append(above, p)
		spec = p.Spec
	}
	return above, nil
}

// children are the pods that a pod spawned.
func (h *Host) children(ctx context.Context, id string) ([]item.Pod, error) {
	pods, err := h.Store.Pods(ctx)
	return slices.DeleteFunc(pods, func(p item.Pod) bool { return p.Spec.Parent != id }), err
}

// within are the directories that a spawned pod's must lie in: those that a person gave
// the pod at the top. Whatever became of the specs in between, each pod's directories lie
// in its parent's, or it has none.
func within(spec item.PodSpec, above []item.Pod) ([]string, error) {
	var outer []string
	for _, p := range above {
		if dir, ok := narrower(spec, p.Spec); !ok {
			return nil, item.Errorf(item.KindPrecondition, "WIDER_THAN_PARENT",
				"the directory %s lies outside of those of pod %s, which spawned this one: change one of the two with podctl update", dir, p.Name)
		}
		spec, outer = p.Spec, readable(p.Spec)
	}
	return outer, nil
}

// narrower says whether all directories of a spec lie in another's, or which does not.
func narrower(spec, than item.PodSpec) (dir string, ok bool) {
	for _, dir := range writable(spec) {
		if !liesIn(dir, writable(than)) {
			return dir, false
		}
	}
	for _, dir := range spec.Read {
		if !liesIn(dir, readable(than)) {
			return dir, false
		}
	}
	return "", true
}

// spawn makes the pod of a call. Its name is the same for the same call, unless a pod
// that is not the call's has it.
func (h *Host) spawn(ctx context.Context, parent item.Pod, label string, spec item.PodSpec) (item.Pod, error) {
	sum := callSum(spec)
	for _, n := range []int{6, 12, 24} {
		child, err := h.create(ctx, childName(parent.Name, label, sum[:n]), spec)
		if item.KindOf(err) != item.KindExists || err == nil {
			return child, err
		}
	}
	return item.Pod{}, item.Errorf(item.KindExists, "POD_EXISTS", "not run: pods with the names for this one exist already: give it a name")
}

// childName is PARENT-SUM or PARENT-LABEL-SUM, the parent's name cut to fit.
func childName(parent, label, sum string) string {
	rest := "-" + sum
	if label != "" {
		rest = "-" + label + rest
	}
	return parent[:min(len(parent), maxName-len(rest))] + rest
}

// maxName is the longest name of a pod, in bytes.
const maxName = 63

// callSum tells the call that spawned a pod from all others.
func callSum(spec item.PodSpec) string {
	sum := sha256.Sum256([]byte(spec.Parent + "\x00" + spec.ParentCall))
	return hex.EncodeToString(sum[:])
}

// taskID is the request id under which a spawned pod gets its task.
func taskID(spec item.PodSpec) string { return "spawn-" + callSum(spec)[:32] }

// Workspace is the directory that a pod's rules and the configuration of its workspace are
// about: that of the pod at the top of its family.
func (h *Host) Workspace(ctx context.Context, idOrName string) (string, error) {
	rec, err := h.Get(ctx, idOrName)
	if err != nil {
		return "", err
	}
	book, err := h.rulesOf(ctx, rec.Spec, nil)
	if err != nil {
		return "", err
	}
	return book.base, nil
}
