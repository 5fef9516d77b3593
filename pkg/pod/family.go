package pod

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"podd/pkg/item"
	"podd/pkg/scopefs"
)

// MaxDepth is how many pods may stand above one: a pod that a person made spawns pods,
// which spawn pods, which spawn pods.
const MaxDepth = 3

// ancestors are the pods above one, its parent first.
func (h *Host) ancestors(ctx context.Context, spec item.PodSpec) ([]item.Pod, error) {
	var above []item.Pod
	for spec.Parent != "" && len(above) <= MaxDepth {
		p, err := h.Store.Pod(ctx, spec.Parent)
		if err != nil {
			return nil, err
		}
		above = append(above, p)
		spec = p.Spec
	}
	return above, nil
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
		spec, outer = p.Spec, p.Spec.Readable()
	}
	return outer, nil
}

// narrower says whether all directories of a spec lie in another's, or which does not.
func narrower(spec, than item.PodSpec) (dir string, ok bool) {
	for _, dir := range spec.Writable() {
		if !scopefs.LiesIn(dir, than.Writable()) {
			return dir, false
		}
	}
	for _, dir := range spec.Read {
		if !scopefs.LiesIn(dir, than.Readable()) {
			return dir, false
		}
	}
	return "", true
}

// TaskID is the request id under which a spawned pod gets its task: it tells the call that
// spawned the pod from all others.
func TaskID(spec item.PodSpec) string {
	sum := sha256.Sum256([]byte(spec.Parent + "\x00" + spec.ParentCall))
	return "spawn-" + hex.EncodeToString(sum[:16])
}

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
