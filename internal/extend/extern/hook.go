package extern

import (
	"fmt"
	"slices"
	"sync"

	"podd/pkg/hook"
	"podd/pkg/item"
	"podd/pkg/wire"
)

// The events of a hook that are neither an edge nor a kind of entry. An alert is reported as
// EventAlert and not as its entry in the pod's log, except to EventEntry, which is every
// entry.
const (
	EventEntry = "entry"
	EventAlert = "alert"
	EventPod   = "pod"
)

// Events are what a hook's command may run for: the edges, "pod", "alert", "entry" and
// the kinds of entries.
func Events() []string {
	events := append(Edges(), EventPod, EventAlert, EventEntry)
	for _, kind := range wire.KindNames() {
		if kind != EventAlert {
			events = append(events, kind)
		}
	}
	return events
}

// Hook runs a command for events, one after the other. Each failure of the command is
// logged; the first one raises an alert.
type Hook struct {
	runner  *Runner
	command Command
	alert   sync.Once
}

// Hook creates a hook from a command, with the default timeout DefaultHookTimeout. An error
// is of kind KindInvalid, reason EXTENSION.
func (r *Runner) Hook(c Command) (*Hook, error) {
	if err := c.check(Events()); err != nil {
		return nil, err
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultHookTimeout
	}
	return &Hook{runner: r, command: c}, nil
}

// Name is the command's name.
func (h *Hook) Name() string { return h.command.Name }

// Entry reports an entry.
func (h *Hook) Entry(pod string, e item.Entry) {
	kind := wire.KindName(e.Kind)
	switch {
	case h.wants(EventEntry) && kind == "":
		kind = EventEntry
	case !h.wants(EventEntry) && (kind == EventAlert || !h.wants(kind)):
		return
	}
	body, err := wire.EntryJSON(e)
	if err != nil {
		h.fail(kind, pod, answer{}, fmt.Errorf("could not deliver entry %d: %w", e.Seq, err))
		return
	}
	h.send(pod, event{Event: kind, Turn: e.Turn, Entry: body})
}

// Alert reports an alert.
func (h *Hook) Alert(a item.Alert) {
	if !h.wants(EventAlert) {
		return
	}
	body, err := wire.AlertJSON(a)
	if err != nil {
		h.fail(EventAlert, a.Pod, answer{}, fmt.Errorf("could not deliver alert %d: %w", a.Seq, err))
		return
	}
	h.send(a.Pod, event{Event: EventAlert, Alert: body})
}

// Edge reports an edge.
func (h *Hook) Edge(e hook.Edge) {
	if h.wants(string(e.Name)) {
		h.send(e.Pod, describeEdge(e))
	}
}

// Pod reports a change of a pod's lifecycle.
func (h *Hook) Pod(e hook.PodEvent) {
	if h.wants(EventPod) {
		h.send(e.ID, event{Event: EventPod, Change: string(e.Change), Pod: podInfo{Name: e.Name}})
	}
}

func (h *Hook) wants(event string) bool { return slices.Contains(h.command.On, event) }

// send runs the command and drops its answer.
func (h *Hook) send(pod string, e event) {
	ctx := h.runner.base
	name := e.Pod.Name
	e.Version, e.Name = Version, h.Name()
	// A pod that was deleted meanwhile is reported by its id.
	e.Pod = h.runner.pod(ctx, pod)
	if e.Pod.Name == "" {
		e.Pod.Name = name
	}
	a, err := h.runner.run(ctx, h.command, e, 0)
	if err == nil && a.status != 0 {
		err = fmt.Errorf("ended with exit status %d%s", a.status, lastLine(a.stderr))
	}
	if err != nil {
		h.fail(e.Event, pod, a, err)
	}
}

func (h *Hook) fail(event, pod string, a answer, why error) {
	if h.runner.base.Err() != nil {
		return // podd is stopping.
	}
	h.runner.Logger.Warn("hook failed", "hook", h.Name(), "event", event, "pod", pod, "error", why, "stderr", cut(a.stderr, maxReasonBytes))
	h.alert.Do(func() {
		h.runner.Alert(fmt.Sprintf("hook %s %v at %s; see podd's log for further failures", h.Name(), why, event))
	})
}
