package process

import "time"

// watchPoll is how often Await checks whether a leader that is not a child has ended.
const watchPoll = 20 * time.Millisecond

// ID distinguishes a tree from all others, including those of another boot. It can be
// stored.
type ID struct {
	// PID is the leader's; 0 while it is unknown, and then only the mark shows what belongs to
	// the tree.
	PID int `json:"pid"`
	// Born is when the leader started, in a form specific to the system; empty when unknown,
	// and then Find finds no leader.
	Born string `json:"born"`
	// Mark is in the environment of the tree's processes.
	Mark string `json:"mark"`
}

// Named is a tree that StartNamed started, by its name alone. It finds processes only on Linux.
func Named(name string) ID { return ID{Mark: markVariable + "=" + name} }

// ID is the tree's id.
func (t *Tree) ID() ID { return t.id }

// gone says whether the leader has ended.
func (id ID) gone() bool {
	born, runs := inspect(id.PID)
	return !runs || born != id.Born
}

// Await waits until a leader that is not a child has ended, or leave is closed.
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
