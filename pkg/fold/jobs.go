package fold

import (
	"slices"
	"strconv"
	"time"

	"podd/pkg/item"
)

// Jobs are the background commands of a pod.
type Jobs struct {
	// Known are the running jobs and the last endedJobs ended ones, in the order of their
	// start.
	Known []Job
	// Last is the highest number that a job has had as its id.
	Last int
	// Wakes are the times of the last maxWakes turns that ends of jobs started.
	Wakes []time.Time
}

// Job is the state of a job according to its last entry.
type Job struct {
	item.Job
	// Turn is the turn that started it; 0 if that entry was removed.
	Turn int64
	// Cancelled says that its turn was cancelled, so the job has to end.
	Cancelled bool
}

const (
	// endedJobs is how many ended jobs are kept.
	endedJobs = 16
	// maxWakes bounds the turns that ends of jobs start within wakeWindow.
	maxWakes   = 6
	wakeWindow = time.Hour
)

// Running are the jobs that have not ended.
func (j Jobs) Running() []Job {
	var all []Job
	for _, job := range j.Known {
		if job.State == item.JobRunning {
			all = append(all, job)
		}
	}
	return all
}

// WakeAt is the earliest time at which the end of a job may start a turn: at most
// maxWakes turns within wakeWindow.
func (j Jobs) WakeAt(now time.Time) time.Time {
	if len(j.Wakes) < maxWakes {
		return now
	}
	if free := j.Wakes[0].Add(wakeWindow); free.After(now) {
		return free
	}
	return now
}

// add applies an entry.
func (j *Jobs) add(turn int64, k item.Job) {
	if n, err := strconv.Atoi(k.ID); err == nil {
		j.Last = max(j.Last, n)
	}
	known := slices.Clone(j.Known)
	i := slices.IndexFunc(known, func(job Job) bool { return job.ID == k.ID })
	switch {
	case i < 0:
		known = append(known, Job{Job: k, Turn: turn})
	default:
		known[i].State, known[i].Status = k.State, k.Status
	}
	for ended := len(known) - len((Jobs{Known: known}).Running()); ended > endedJobs; ended-- {
		i := slices.IndexFunc(known, func(job Job) bool { return job.State != item.JobRunning })
		known = slices.Delete(known, i, i+1)
	}
	j.Known = known
}

// cancel marks the jobs of a turn that was cancelled.
func (j *Jobs) cancel(turn int64) {
	j.Known = slices.Clone(j.Known)
	for i := range j.Known {
		job := &j.Known[i]
		job.Cancelled = job.Cancelled || job.Turn == turn && job.State == item.JobRunning
	}
}

// woke records a turn that the end of a job started.
func (j *Jobs) woke(at time.Time) {
	j.Wakes = append(slices.Clip(j.Wakes), at)
	j.Wakes = j.Wakes[max(len(j.Wakes)-maxWakes, 0):]
}

// entries are the jobs in the form that a purge keeps.
func (j Jobs) entries() []item.Job {
	var all []item.Job
	for _, job := range j.Known {
		all = append(all, job.Job)
	}
	return all
}
