package process

import "time"

// watchPoll is how often the end of a leader that is no child is looked for.
const watchPoll = 20 * time.Millisecond

// ID tells a tree from all others, those of another boot included. It can be stored.
type ID struct {
	// PID is the leader's.
	PID int `json:"pid"`
	// Born is when the leader started, in a form of the system's own; empty when that
	// could not be found out, and then Find finds no leader.
	Born string `json:"born"`
	// Mark is in the environment of the tree's processes.
	Mark string `json:"mark"`
}

// ID is the tree's.
func (t *Tree) ID() ID { return t.id }

// gone says whether the leader has ended.
func (id ID) gone() bool {
	born, runs := look(id.PID)
	return !runs || born != id.Born
}

// Await waits for the end of a leader that is no child, or until leave is closed.
func (id ID) Await(leave <-chan struct{}) {
	poll := time.NewTicker(watchPoll)
	defer poll.Stop()
	for !id.gone() {
		select {
		case <-leave:
			return
		case <-poll.C:
		}
	}
}
