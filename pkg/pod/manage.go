package pod

import (
	"context"
	"crypto/rand"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"podd/pkg/hook"
	"podd/pkg/item"
	"podd/pkg/store"
)

// Create creates a pod. Its workspace must be an existing directory. podd itself sets
// Parent, ParentCall, Endpoint and Checkout of its spec.
func (h *Host) Create(ctx context.Context, name string, spec item.PodSpec) (item.Pod, error) {
	return h.CreateIn(ctx, name, spec, nil)
}

// CreateIn creates a pod as Create does, in directories that move makes for it; nil moves nothing. move gets the pod as
// it would be, and returns its spec.
func (h *Host) CreateIn(ctx context.Context, name string, spec item.PodSpec, move func(item.Pod) (item.PodSpec, error)) (item.Pod, error) {
	if spec.Parent != "" || spec.ParentCall != "" {
		return item.Pod{}, item.Errorf(item.KindInvalid, "PARENT", "podd sets parent and parent_call for sub-pods: leave them out")
	}
	spec.Checkout = item.Checkout{}
	spec, err := h.settings().pinned(spec, item.PodSpec{})
	if err != nil {
		return item.Pod{}, err
	}
	return h.create(ctx, name, dated(spec, item.PodSpec{}, h.Now().UTC()), move)
}

func (h *Host) create(ctx context.Context, name string, spec item.PodSpec, move func(item.Pod) (item.PodSpec, error)) (item.Pod, error) {
	p, err := h.newPod(ctx, name, spec)
	if err != nil {
		return item.Pod{}, err
	}
	if move != nil {
		if _, err := h.Store.Pod(ctx, name); err == nil {
			return item.Pod{}, item.Errorf(item.KindExists, store.ReasonPodExists, "pod %q already exists", name)
		}
		if p.Spec, err = move(p); err != nil {
			return item.Pod{}, err
		}
	}
	if err := h.Store.CreatePod(ctx, p); err != nil {
		return item.Pod{}, err
	}
	h.listeners.changed(hook.PodCreated, p.ID, p.Name)
	return h.Store.Pod(ctx, p.ID)
}

// newPod is the record of a pod that is not stored yet.
func (h *Host) newPod(ctx context.Context, name string, spec item.PodSpec) (item.Pod, error) {
	if err := CheckName(name); err != nil {
		return item.Pod{}, err
	}
	resolve, err := h.checked(ctx, spec, item.PodSpec{})
	if err != nil {
		return item.Pod{}, err
	}
	spec = resolve(spec, item.PodSpec{})
	if err := h.pods.unlessClosing(func() {}); err != nil {
		return item.Pod{}, err
	}
	now := h.Now().UTC()
	return item.Pod{
		ID: item.PodIDPrefix + strings.ToLower(rand.Text())[:16], Name: name, Spec: spec, CreatedAt: now,
		Status: item.PodStatus{State: item.StateIdle, LastActivity: now},
	}, nil
}

// checked is [Workspaces.Check] for a client's call.
func (h *Host) checked(ctx context.Context, spec, before item.PodSpec) (resolve func(spec, before item.PodSpec) item.PodSpec, err error) {
	return Visit(ctx, h, spec.Dir, func() (func(spec, before item.PodSpec) item.PodSpec, error) { return h.Workspaces.Check(spec, before) })
}

// CheckName refuses a name that no pod can have.
func CheckName(name string) error {
	if item.ValidPodName(name) {
		return nil
	}
	return item.Errorf(item.KindInvalid, "BAD_NAME",
		"%q is not a valid pod name: use 1 to 63 lower-case letters, digits and dashes, with at least one letter and no dash first", name)
}

// Rename gives a pod another name. All that refers to the pod does so by its id.
func (h *Host) Rename(ctx context.Context, idOrName, name string) (item.Pod, error) {
	if err := CheckName(name); err != nil {
		return item.Pod{}, err
	}
	return h.change(ctx, idOrName, func(a *actor) error { return a.journal.rename(ctx, name) })
}

// Get finds a pod by name or id.
func (h *Host) Get(ctx context.Context, idOrName string) (item.Pod, error) {
	p, err := h.Store.Pod(ctx, idOrName)
	if err != nil {
		return p, err
	}
	return h.pods.asShown(p), nil
}

// SelectPods returns one pod, or all for an empty name, as they are stored.
func (h *Host) SelectPods(ctx context.Context, idOrName string) ([]item.Pod, error) {
	if idOrName == "" {
		return h.Store.Pods(ctx)
	}
	p, err := h.Store.Pod(ctx, idOrName)
	return []item.Pod{p}, err
}

// List returns all pods in the order of their names. If dir is set, it returns those with
// that workspace, without sub-pods, which work there for another pod.
func (h *Host) List(ctx context.Context, dir string) ([]item.Pod, error) {
	pods, err := h.Store.Pods(ctx)
	if err != nil {
		return nil, err
	}
	for i, p := range pods {
		pods[i] = h.pods.asShown(p)
	}
	if dir == "" {
		return pods, nil
	}
	where, err := Visit(ctx, h, dir, func() (string, error) {
		if resolved, err := filepath.EvalSymlinks(dir); err == nil {
			return resolved, nil
		}
		return filepath.Clean(dir), nil
	})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(pods, func(p item.Pod) bool { return p.Spec.Dir != where || p.Spec.Parent != "" }), nil
}

// Delete removes a pod permanently, and all its sub-pods; a running turn is cancelled
// first.
func (h *Host) Delete(ctx context.Context, idOrName string) error {
	rec, err := h.Store.Pod(ctx, idOrName)
	if err != nil {
		return err
	}
	done, err := h.end(ctx, rec)
	if err != nil {
		return err
	}
	defer done()
	if err := h.deleteChildren(ctx, rec.ID); err != nil {
		return err
	}
	if err := h.Store.DeletePod(ctx, rec.ID); err != nil {
		return err
	}
	h.listeners.changed(hook.PodDeleted, rec.ID, rec.Name)
	if err := h.Workspaces.Remove(rec.ID); err != nil {
		return fmt.Errorf("the pod is deleted, but its spooled output remains: %w", err)
	}
	return nil
}
