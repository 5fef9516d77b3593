package pod

import (
	"time"

	"podd/pkg/item"
	"podd/pkg/store"
)

const (
	// jobsPatience limits how long a pod that ends waits for its jobs to end.
	jobsPatience = 5 * time.Second
	// jobsRetry is the delay before podd tries again to store the end of a job.
	jobsRetry = 5 * time.Second
)

// jobs are the background commands of a loaded pod. Only the pod's goroutine uses it.
type jobs struct {
	actor *actor
	// commands is nil until the log is read.
	commands Jobs
	// unstored fires when the end of a job is to be stored again, wake when a note may start
	// a turn, late when a pod that ends stops waiting.
	unstored, wake, late <-chan time.Time
}

// adopt takes over the jobs that run according to the log.
func (k *jobs) adopt() {
	a := k.actor
	k.commands = a.host.Workspaces.Jobs(a.id)
	state := a.journal.state.Jobs
	known := make([]item.Job, 0, len(state.Known))
	for _, j := range state.Known {
		known = append(known, j.Job)
	}
	k.commands.Keep(known, state.Last, func() {
		// If the pod has ended, it learns of the end when it is loaded.
		_ = a.mailbox.do(a.host.base, k.ended)
	})
	k.end()
}

// end ends the jobs that have no reason to run any longer.
func (k *jobs) end() {
	state := &k.actor.journal.state
	if !state.Turn.Open {
		k.commands.StopUntold()
	}
	for _, j := range state.Jobs.Running() {
		switch {
		case j.Cancelled:
			k.commands.Stop(j.ID, "the turn that started it was cancelled")
		case k.spawned() && !state.Turn.Open:
			k.commands.Stop(j.ID, "the task of its pod is done")
		}
	}
}

// spawned says whether the pod works for another pod, which learns nothing more about its
// jobs once it has the answer.
func (k *jobs) spawned() bool { return k.actor.journal.rec.Spec.Parent != "" }

// ended stores the ends of jobs and notes for the model. If an end can't be stored, it
// tries again later.
func (k *jobs) ended() {
	k.unstored = nil
	j := k.actor.journal
	for _, end := range k.commands.Ended() {
		entries := []item.Entry{{Kind: end.Job}}
		if end.Note != "" {
			note := item.Note{Text: end.Note, Wake: end.Wake && !k.spawned(), Job: end.ID}
			now := j.time()
			if at := j.state.Jobs.WakeAt(now); note.Wake && at.After(now) {
				note.NotBefore = at
			}
			entries = append(entries, item.Entry{Kind: note})
		}
		if _, _, err := j.commit(k.actor.host.base, store.Batch{Entries: entries}); err != nil {
			j.log.Warn("the end of a job could not be stored yet", "job", end.ID, "error", err)
			k.unstored = time.After(jobsRetry)
			return
		}
		k.commands.Stored(end.ID)
	}
	k.actor.next()
}

// run says whether the pod has jobs whose end is not stored.
func (k *jobs) run() bool { return len(k.actor.journal.state.Jobs.Running()) > 0 }

// stop ends the jobs of a pod that ends, and says whether to wait for their end. The jobs
// of a pod that failed because of a defect keep running.
func (k *jobs) stop() (wait bool) {
	closing := k.actor.closing
	if closing == nil || k.commands == nil || !k.run() || item.ReasonOf(closing) == ReasonFailed || item.KindOf(closing) == item.KindDataLoss {
		return false
	}
	if k.late == nil {
		reason := "podd stopped"
		if item.KindOf(closing) == item.KindNotFound {
			reason = "the pod was deleted"
		}
		if item.ReasonOf(closing) == store.ReasonMoving {
			reason = "the pod moved to another node"
		}
		k.late = time.After(jobsPatience)
		k.commands.StopAll(reason)
	}
	return true
}

// wakes says whether a note starts a turn now. If one may do so later, the pod checks
// again then.
func (k *jobs) wakes() bool {
	k.wake = nil
	from, wakes := k.actor.journal.state.Wakes()
	if wait := from.Sub(k.actor.host.Now()); wakes && wait > 0 {
		k.wake = time.After(wait)
		return false
	}
	return wakes
}
