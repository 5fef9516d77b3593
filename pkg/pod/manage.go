package pod

import (
	"context"
	"crypto/rand"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"podd/internal/wire"
	"podd/pkg/hook"
	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/worker"
)

var validName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)

// Create makes a new pod. Its workspace must be an existing directory. Parent and
// ParentCall of its spec are podd's to set.
func (h *Host) Create(ctx context.Context, name string, spec item.PodSpec) (item.Pod, error) {
	if spec.Parent != "" || spec.ParentCall != "" {
		return item.Pod{}, item.Errorf(item.KindInvalid, "PARENT", "parent and parent_call are set by podd, for pods that a pod spawns: leave them out")
	}
	return h.create(ctx, name, spec)
}

func (h *Host) create(ctx context.Context, name string, spec item.PodSpec) (item.Pod, error) {
	p, err := h.newPod(name, spec)
	if err != nil {
		return item.Pod{}, err
	}
	if err := h.Store.CreatePod(ctx, p); err != nil {
		return item.Pod{}, err
	}
	h.hooks.Load().Pod(hook.PodEvent{Change: hook.PodCreated, ID: p.ID, Name: p.Name})
	return h.Store.Pod(ctx, p.ID)
}

// newPod is the record of a pod that is not stored yet.
func (h *Host) newPod(name string, spec item.PodSpec) (item.Pod, error) {
	if !validName.MatchString(name) {
		return item.Pod{}, item.Errorf(item.KindInvalid, "BAD_NAME",
			"%q is no pod name: use up to 63 lower-case letters, digits and dashes, a letter or digit first", name)
	}
	resolve, err := h.Workspaces.Check(spec, item.PodSpec{})
	if err != nil {
		return item.Pod{}, err
	}
	spec = resolve(spec, item.PodSpec{})
	if h.isClosing() {
		return item.Pod{}, errStopping
	}
	now := h.Now().UTC()
	return item.Pod{
		ID: "pod_" + strings.ToLower(rand.Text())[:16], Name: name, Spec: spec, CreatedAt: now,
		Status: item.PodStatus{State: item.StateIdle, LastActivity: now},
	}, nil
}

// Get finds a pod by name or id.
func (h *Host) Get(ctx context.Context, idOrName string) (item.Pod, error) {
	p, err := h.Store.Pod(ctx, idOrName)
	if err != nil {
		return p, err
	}
	return h.asShown(p), nil
}

// asShown is a stored pod with the state that it could not store.
func (h *Host) asShown(p item.Pod) item.Pod {
	if status := h.shown(p.ID); status != nil {
		p.Status.State, p.Status.Reason = status.State, status.Reason
	}
	return p
}

// shown is the status of a pod that could not store it; nil for most.
func (h *Host) shown(id string) *item.PodStatus {
	h.mu.Lock()
	defer h.mu.Unlock()
	if a := h.actors[id]; a != nil {
		return a.shown.Load()
	}
	if err := h.late[id]; err != nil {
		return &item.PodStatus{State: item.StateWaiting, Reason: cantGoOn(err)}
	}
	return nil
}

// List gives all pods in the order of their names; when dir is set, those that people
// made for that workspace. A pod that was spawned stands there on behalf of another.
func (h *Host) List(ctx context.Context, dir string) ([]store.PodRecord, error) {
	pods, err := h.Store.PodRecords(ctx)
	if err != nil {
		return nil, err
	}
	for i, r := range pods {
		if h.shown(r.ID) == nil {
			continue
		}
		if pods[i].Body, err = wire.EncodePod(h.asShown(r.Decode())); err != nil {
			return nil, err
		}
	}
	if dir == "" {
		return pods, nil
	}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	dir = filepath.Clean(dir)
	return slices.DeleteFunc(pods, func(r store.PodRecord) bool {
		spec := r.Decode().Spec
		return spec.Dir != dir || spec.Parent != ""
	}), nil
}

// Delete removes a pod for good, and all that it spawned; a running turn is cancelled
// first.
func (h *Host) Delete(ctx context.Context, idOrName string) error {
	rec, err := h.Store.Pod(ctx, idOrName)
	if err != nil {
		return err
	}
	h.mu.Lock()
	a := h.actors[rec.ID]
	h.deleting[rec.ID]++
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.deleting[rec.ID]--; h.deleting[rec.ID] == 0 {
			delete(h.deleting, rec.ID)
		}
	}()
	if a != nil {
		gone := item.Errorf(item.KindNotFound, "POD_NOT_FOUND", "pod %q was deleted", rec.Name)
		now := make(chan struct{})
		close(now)
		a.end(now, gone, &worker.Cancelled{Reason: "the pod was deleted"})
		select {
		case <-a.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if err := h.deleteChildren(ctx, rec.ID); err != nil {
		return err
	}
	if err := h.Store.DeletePod(ctx, rec.ID); err != nil {
		return err
	}
	h.hooks.Load().Pod(hook.PodEvent{Change: hook.PodDeleted, ID: rec.ID, Name: rec.Name})
	if err := h.Workspaces.Remove(rec.ID); err != nil {
		return fmt.Errorf("the pod is deleted, but its spooled output is not: %w", err)
	}
	return nil
}

func (h *Host) isClosing() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.closing
}
