package hook

import "podd/pkg/item"

// Hook observes pods. Its methods are called one after the other from a goroutine
// of its own, after what they tell is on disk. Embed Base to watch only some.
type Hook interface {
	// Name is shown when the hook fails.
	Name() string
	// Entry tells of an entry that was committed to a pod's log. The entries of a
	// pod come in order.
	Entry(pod string, e item.Entry)
	// Alert tells of a stored alert, of a pod or of the daemon.
	Alert(a item.Alert)
}

// Base watches nothing. Hooks embed it.
type Base struct{}

// Entry does nothing.
func (Base) Entry(string, item.Entry) {}

// Alert does nothing.
func (Base) Alert(item.Alert) {}
