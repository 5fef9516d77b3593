package pod

import (
	"context"
	"iter"
	"slices"
	"strings"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/tool"
)

const (
	// jobPart bounds one part of a job's output, in bytes.
	jobPart = 64 << 10
	// jobLast bounds the end of the output of a stopped job, in bytes.
	jobLast = 1 << 10
	// jobPoll is the interval between two looks at the output of a job that is followed.
	jobPoll = 100 * time.Millisecond
)

// Background shows and ends the background commands of all pods. Its methods may be called
// from any goroutine.
type Background struct {
	store      store.Store
	pods       *loaded
	workspaces Workspaces
}

// Job is a background command of a pod.
type Job struct {
	tool.JobInfo
	// Pod and Name are the pod's id and name.
	Pod, Name string
}

// StoppedJob is a job that has ended.
type StoppedJob struct {
	Job
	// Before says that it had ended before Stop was called.
	Before bool
	// Output is the end of its output.
	Output string
}

// JobQuery says what to read of a job's output.
type JobQuery struct {
	// Pod is a name or an id.
	Pod, ID string
	// After is a mark: where to begin, in bytes.
	After int64
	// Follow continues with new output until the job ends.
	Follow bool
}

// JobPart is a part of a job's output.
type JobPart struct {
	tool.JobOutput
	// Last says that no part follows.
	Last bool
}

// List returns the running jobs of a pod and the last ones that ended; without a pod, the
// running jobs of all pods that podd can load.
func (b *Background) List(ctx context.Context, idOrName string) ([]Job, error) {
	if idOrName != "" {
		p, err := b.load(ctx, idOrName)
		if err != nil {
			return nil, err
		}
		defer p.release()
		return p.list(), nil
	}
	pods, err := b.store.Pods(ctx)
	if err != nil {
		return nil, err
	}
	var all []Job
	for _, p := range pods {
		if p.Status.Jobs == 0 {
			continue
		}
		loaded, err := b.load(ctx, p.ID)
		if Stopping(err) || ctx.Err() != nil {
			return nil, err
		}
		if err != nil {
			continue
		}
		all = append(all, slices.DeleteFunc(loaded.list(), func(j Job) bool { return j.State != item.JobRunning })...)
		loaded.release()
	}
	return all, nil
}

// Stop ends jobs of a pod, and returns them when they have ended and that is stored. If an
// id is unknown, it ends none: KindNotFound, reason JOB_NOT_FOUND.
func (b *Background) Stop(ctx context.Context, idOrName string, ids []string) ([]StoppedJob, error) {
	if len(ids) == 0 {
		return nil, item.Errorf(item.KindInvalid, "NO_JOB", "name the jobs to stop: podctl jobs lists them")
	}
	p, err := b.load(ctx, idOrName)
	if err != nil {
		return nil, err
	}
	defer p.release()
	known := p.list()
	stopped := make([]StoppedJob, len(ids))
	for i, id := range ids {
		at := slices.IndexFunc(known, func(j Job) bool { return j.ID == id })
		if at < 0 {
			return nil, unknownJob(id, known)
		}
		stopped[i] = StoppedJob{Job: known[at], Before: known[at].State != item.JobRunning}
	}
	ended := make([]<-chan struct{}, len(ids))
	for i, s := range stopped {
		if !s.Before {
			ended[i] = p.jobs.Stop(s.ID, "a person stopped it")
		}
	}
	for i := range stopped {
		if ended[i] != nil {
			select {
			case <-ended[i]:
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
		stopped[i].update(p.jobs)
	}
	// The answer comes after the entries.
	return stopped, p.actor.mailbox.do(ctx, p.actor.jobs.ended)
}

// update reads how the job ended.
func (s *StoppedJob) update(jobs Jobs) {
	if out, ok := jobs.Read(s.ID, -1, jobLast); ok {
		s.JobInfo.Job, s.Output, s.Bytes = out.Job, out.Text, max(out.End, s.Bytes)
	}
}

// Read returns a job's output from a mark on, in parts, at least one. It ends with an error
// when ctx or the pod ends.
func (b *Background) Read(ctx context.Context, q JobQuery) iter.Seq2[JobPart, error] {
	return func(yield func(JobPart, error) bool) {
		if err := b.read(ctx, q, yield); err != nil {
			yield(JobPart{}, err)
		}
	}
}

func (b *Background) read(ctx context.Context, q JobQuery, yield func(JobPart, error) bool) error {
	if q.After < 0 {
		return item.Errorf(item.KindInvalid, "BAD_RANGE", "the mark is %d: use 0 or more", q.After)
	}
	p, err := b.load(ctx, q.Pod)
	if err != nil {
		return err
	}
	defer p.release()
	poll := time.NewTicker(jobPoll)
	defer poll.Stop()
	upTo := int64(-1)
	for first := true; ; first = false {
		out, err := p.read(q)
		if err != nil {
			return err
		}
		if q.Follow || first {
			upTo = out.End
		}
		// What is left at the end of a running job's output may be half a character.
		atEnd := out.Mark >= upTo || out.Mark == q.After
		part := JobPart{JobOutput: out, Last: atEnd && (!q.Follow || out.Job.State == item.JobEnded)}
		if (first || part.Last || out.Text != "") && !yield(part, nil) || part.Last {
			return nil
		}
		q.After = out.Mark
		if !atEnd {
			continue
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-p.actor.mailbox.done:
			return p.actor.mailbox.do(ctx, func() {})
		case <-b.pods.ending:
			return errStopping
		}
	}
}

// read reads the next part of a job's output.
func (p *podJobs) read(q JobQuery) (tool.JobOutput, error) {
	out, ok := p.jobs.Read(q.ID, q.After, jobPart)
	switch {
	case !ok:
		return out, unknownJob(q.ID, p.list())
	case out.Gone && out.Job.State == item.JobEnded:
		return out, item.Errorf(item.KindPrecondition, "JOB_OUTPUT_GONE",
			"job %s of pod %s has ended (%s), and its output is no longer kept", q.ID, p.name, out.Job.Status)
	}
	return out, nil
}

// podJobs are the jobs of a loaded pod, which stays loaded until release is called.
type podJobs struct {
	actor   *actor
	name    string
	jobs    Jobs
	release func()
}

// load loads a pod with its jobs.
func (b *Background) load(ctx context.Context, idOrName string) (*podJobs, error) {
	a, release, err := b.pods.acquire(ctx, idOrName)
	if err != nil {
		return nil, err
	}
	p := &podJobs{actor: a, jobs: b.workspaces.Jobs(a.id), release: release}
	// The pod adopts its jobs before its first message.
	if err := a.mailbox.do(ctx, func() { p.name = a.journal.rec.Name }); err != nil {
		release()
		return nil, err
	}
	return p, nil
}

func (p *podJobs) list() []Job {
	var all []Job
	for _, j := range p.jobs.List() {
		all = append(all, Job{JobInfo: j, Pod: p.actor.id, Name: p.name})
	}
	return all
}

// unknownJob is the error for an id that no known job has.
func unknownJob(id string, known []Job) error {
	var run []string
	for _, j := range known {
		if j.State == item.JobRunning {
			run = append(run, j.ID)
		}
	}
	says := "no job of the pod runs"
	switch len(run) {
	case 0:
	case 1:
		says = "job " + run[0] + " runs"
	default:
		says = "jobs " + strings.Join(run, ", ") + " run"
	}
	return item.Errorf(item.KindNotFound, "JOB_NOT_FOUND", "the pod has no job %q: %s", id, says)
}
