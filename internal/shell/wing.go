package shell

import (
	"context"
	"time"

	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/store"
)

// jobsRetry is the delay before podd tries again to store the end of a job.
const jobsRetry = 5 * time.Second

// WingConfig is what the wing of jobs needs.
type WingConfig struct {
	Host *pod.Host
	Jobs *Jobs
	// Redact removes secrets from what clients read about jobs; nil removes nothing.
	Redact func(string) string
}

// Wing keeps the logs of pods and their jobs together, and serves JobService. What runs is in the log of its pod; how it
// runs, Jobs know.
type Wing struct{ WingConfig }

// Open lets pods have jobs.
func Open(c WingConfig) *Wing {
	w := &Wing{c}
	c.Host.Attach(pod.Wing{Settled: w.settled, Ending: w.ending})
	return w
}

// settled adopts the jobs that run according to the log, and ends those that have no reason to run any longer.
func (w *Wing) settled(p *pod.Hosted) {
	jobs, turn := w.Jobs.Of(p.Pod.ID), &p.State.Turn
	known := make([]item.Job, 0, len(p.State.Jobs.Known))
	for _, j := range p.State.Jobs.Known {
		known = append(known, j.Job)
	}
	jobs.Keep(known, p.State.Jobs.Last, func() { w.storeAll(p, jobs) })
	if !turn.Open {
		jobs.StopUntold()
	}
	for _, j := range p.State.Jobs.Running() {
		switch {
		case j.Cancelled:
			jobs.Stop(j.ID, "the turn that started it was cancelled")
		case p.Pod.Spec.Parent != "" && !turn.Open:
			jobs.Stop(j.ID, "the task of its pod is done")
		}
	}
}

// ending ends the jobs of a pod that leaves memory for good, or goes on in another podd.
func (w *Wing) ending(id string, cause error) {
	reason := "podd stopped"
	switch {
	case item.KindOf(cause) == item.KindNotFound:
		reason = "the pod was deleted"
	case item.ReasonOf(cause) == store.ReasonMoving:
		reason = "the pod moved to another node"
	}
	w.Jobs.Of(id).StopAll(reason)
}

// storeAll stores the ends of jobs, and tries again until that is done or the pod has left memory: it learns of them when
// it is loaded again.
func (w *Wing) storeAll(p *pod.Hosted, jobs *PodJobs) {
	for {
		err := w.store(p.Life(), p, jobs)
		if err == nil || p.Life().Err() != nil {
			return
		}
		w.Host.Logger.Warn("the ends of jobs could not be stored yet", "pod", p.Pod.ID, "error", err)
		select {
		case <-time.After(jobsRetry):
		case <-p.Life().Done():
			return
		}
	}
}

// store stores the ends of jobs, with notes for the model.
func (w *Wing) store(ctx context.Context, p *pod.Hosted, jobs *PodJobs) error {
	select {
	case jobs.storing <- struct{}{}:
		defer func() { <-jobs.storing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	ends := jobs.Ended()
	if len(ends) == 0 {
		return nil
	}
	_, err := p.Record(ctx, func(now time.Time, s fold.State) (entries []item.Kind) {
		for _, end := range ends {
			entries = append(entries, end.Job)
			if end.Note == "" {
				continue
			}
			// A pod that works for another tells it nothing more about its jobs once that has the answer.
			note := item.Note{Text: end.Note, Wake: end.Wake && p.Pod.Spec.Parent == "", Job: end.ID}
			if at := s.Jobs.WakeAt(now); note.Wake && at.After(now) {
				note.NotBefore = at
			}
			entries = append(entries, note)
		}
		return entries
	})
	if err != nil {
		return err
	}
	for _, end := range ends {
		jobs.Stored(end.ID)
	}
	return nil
}
