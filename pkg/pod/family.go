package pod

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"podd/pkg/item"
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
	above, err := h.ancestors(ctx, rec.Spec)
	if err != nil || len(above) == 0 {
		return rec.Spec.Dir, err
	}
	return above[len(above)-1].Spec.Dir, nil
}
