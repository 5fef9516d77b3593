package hook

import "podd/pkg/item"

// Hook observes pods. Its methods are called one at a time from the hook's own goroutine:
// Entry and Alert after their subject is on disk. A hook gets copies. Embed Base to
// implement only some methods.
type Hook interface {
	// Name is shown when the hook fails.
	Name() string
	// Entry reports an entry committed to a pod's log; a usage is an entry, too. The entries
	// of a pod come in order.
	Entry(pod string, e item.Entry)
	// Alert reports a stored alert, of a pod or of the daemon.
	Alert(a item.Alert)
	// Edge reports that a turn passed a point at which interceptors decide, and their
	// decision.
	Edge(e Edge)
	// Pod reports a change of a pod's life.
	Pod(e PodEvent)
}

// EdgeName names a point of a turn at which interceptors decide.
type EdgeName string

// The edges.
const (
	EdgePromptSubmit  EdgeName = "prompt_submit"
	EdgeBeforeRequest EdgeName = "before_request"
	EdgeBeforeTool    EdgeName = "before_tool"
	EdgeAfterTool     EdgeName = "after_tool"
	EdgeTurnEnd       EdgeName = "turn_end"
	EdgeAborted       EdgeName = "aborted"
)

// Edge is what happened at an edge. Fields that its edge does not have are empty.
type Edge struct {
	Name EdgeName
	// Pod is the pod's id, Turn the turn's number, Step its model request from 1.
	Pod  string
	Turn int64
	Step int
	// RequestID is that of the submit.
	RequestID string
	// CallID, Key, Tool and Arguments are those of the call; see [item.ToolCall.Key].
	CallID, Key, Tool, Arguments string
	// Text is the user's message, a result's summary, the last answer or the cause of an
	// abort.
	Text string
	// Decision says in one sentence what interceptors did; empty when they changed nothing.
	Decision string
}

// PodChange names what happened to a pod.
type PodChange string

// The changes of a pod's life.
const (
	PodCreated  PodChange = "created"
	PodUpdated  PodChange = "updated"
	PodRenamed  PodChange = "renamed"
	PodLoaded   PodChange = "loaded"
	PodUnloaded PodChange = "unloaded"
	PodPaused   PodChange = "paused"
	PodResumed  PodChange = "resumed"
	PodDeleted  PodChange = "deleted"
)

// PodEvent is a change of a pod's life.
type PodEvent struct {
	Change PodChange
	// ID and Name are the pod's.
	ID, Name string
}

// Base observes nothing. Hooks embed it.
type Base struct{}

// Entry does nothing.
func (Base) Entry(string, item.Entry) {}

// Alert does nothing.
func (Base) Alert(item.Alert) {}

// Edge does nothing.
func (Base) Edge(Edge) {}

// Pod does nothing.
func (Base) Pod(PodEvent) {}
