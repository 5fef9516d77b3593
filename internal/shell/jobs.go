package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"podd/pkg/item"
	"podd/pkg/tool"
)

// Defaults and bounds of jobs.
const (
	DefaultMaxJobs    = 8
	DefaultMaxJobTime = 24 * time.Hour
	// MaxAllJobs bounds the running jobs of all pods together.
	MaxAllJobs = 32
	// endedJobs is how many ended jobs of a pod can be queried.
	endedJobs = 16
)

// JobsConfig bounds jobs. A zero field is its default.
type JobsConfig struct {
	// Max bounds the running jobs of one pod, 8 by default; MaxAllJobs bounds all.
	Max int `toml:"max" range:"1 32"`
	// MaxTime bounds the time that a job runs, 24 hours by default.
	MaxTime time.Duration `toml:"max_time" least:"1s"`
	// Dir has the sockets by which the next podd reaches what keeps the network and the
	// terminals of jobs. Commands must not reach it. Without it there are neither.
	Dir string
	// Runner is that of a pod, for commands that an earlier podd started; it needs no FS.
	Runner func(pod string) (*Runner, error)
}

// Jobs are the background commands of all pods. The caller must call Close.
type Jobs struct {
	JobsConfig
	mu   sync.Mutex
	pods map[string]*PodJobs
	// running counts the jobs of all pods.
	running int
	closed  bool
	work    sync.WaitGroup
}

// NewJobs has no jobs yet: PodJobs.Keep finds those of an earlier podd.
func NewJobs(c JobsConfig) *Jobs {
	c.Max = cmp.Or(c.Max, DefaultMaxJobs)
	c.MaxTime = cmp.Or(c.MaxTime, DefaultMaxJobTime)
	return &Jobs{JobsConfig: c, pods: make(map[string]*PodJobs)}
}

// Of are the jobs of a pod.
func (a *Jobs) Of(pod string) *PodJobs {
	a.mu.Lock()
	defer a.mu.Unlock()
	p := a.pods[pod]
	if p == nil {
		p = &PodJobs{all: a, pod: pod, storing: make(chan struct{}, 1)}
		a.pods[pod] = p
	}
	return p
}

// Abandon ends the commands of a pod whose log isn't read here, including those that an
// earlier podd started. It does not wait for their end.
func (a *Jobs) Abandon(pod string) {
	a.Of(pod).abandon("the pod's log is damaged, or another node has the pod", "shell", checkFiles)
}

// EndChecks ends the checks that an earlier podd started. It does not wait for their end.
func (a *Jobs) EndChecks(pod string) { a.Of(pod).abandon("podd was killed while it ran", checkFiles) }

// Forget ends the jobs of a deleted pod and waits until they have ended.
func (a *Jobs) Forget(pod string) {
	p := a.Of(pod)
	p.abandon("the pod was deleted", "shell", checkFiles)
	for _, j := range p.list() {
		<-j.done
	}
	if a.Dir != "" {
		for _, keeps := range []string{keepsNetwork, keepsBoxed, keepsHost} {
			_ = os.Remove(p.keeper(keeps).Path)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.pods, pod)
}

// Close ends the running jobs and waits until they have ended. The next podd finds out
// how they ended.
func (a *Jobs) Close() { a.close(&jobStop{reason: "podd stopped"}) }

// Leave lets the running jobs run on until the next podd adopts them. Close must follow.
func (a *Jobs) Leave() { a.close(tool.ErrLeave) }

func (a *Jobs) close(why error) {
	a.mu.Lock()
	a.closed = true
	pods := make([]*PodJobs, 0, len(a.pods))
	for _, p := range a.pods {
		pods = append(pods, p)
	}
	a.mu.Unlock()
	for _, p := range pods {
		for _, j := range p.list() {
			if j.runs() {
				j.cancel(why)
			}
		}
	}
	a.work.Wait()
}

// PodJobs are the background commands of one pod. Any goroutine may call its methods.
type PodJobs struct {
	all *Jobs
	pod string
	// storing is full while ends of jobs are stored.
	storing chan struct{}

	mu sync.Mutex
	// jobs are the running jobs and the last ended ones, in order.
	jobs []*job
	// last is the highest number that a job has had.
	last int
	// changed is called when Ended may have something new; nil until Keep sets it.
	changed func()
}

// Keep adopts the jobs of the pod that the log records, and the last number that was
// given. It follows the running ones until they end. It calls changed when Ended has
// something new, on a goroutine that may wait.
func (p *PodJobs) Keep(known []item.Job, last int, changed func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last, p.changed = max(p.last, last), changed
	for _, k := range known {
		if j := p.find(func(j *job) bool { return j.ID == k.ID }); j != nil {
			j.told = true
			continue
		}
		j := p.add(k)
		j.told = true
		if k.State != item.JobRunning {
			close(j.done)
			j.stored = true
			continue
		}
		p.all.add()
		p.beginBy(j, j.followLeft)
	}
	if slices.ContainsFunc(p.jobs, (*job).owesEnd) {
		p.all.work.Go(p.notify)
	}
}

// begin follows the run of a job that is already counted.
func (p *PodJobs) begin(j *job, r *run) {
	p.beginBy(j, func(ctx context.Context) string { return j.follow(ctx, r) })
}

func (p *PodJobs) beginBy(j *job, follow func(context.Context) string) {
	ctx, cancel := j.ctx, j.cancel
	p.all.work.Go(func() {
		status := follow(ctx)
		cancel(nil)
		p.all.free()
		p.mu.Lock()
		if !j.left {
			j.State, j.Status = item.JobEnded, status
		}
		close(j.done)
		owes := j.owesEnd()
		p.mu.Unlock()
		if owes {
			p.notify()
		}
	})
}

// notify reports that the end of a job has to be stored.
func (p *PodJobs) notify() {
	p.mu.Lock()
	changed := p.changed
	p.mu.Unlock()
	if changed != nil {
		changed()
	}
}

// reserve adds a job for a command that is about to start; the error says in one sentence
// why there can be none. The caller must call begin or drop.
func (p *PodJobs) reserve(callID string) (*job, error) {
	if p == nil {
		return nil, errors.New("there are no jobs here: leave background out")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var mine []string
	for _, j := range p.jobs {
		if j.runs() {
			mine = append(mine, j.ID)
		}
	}
	if len(mine) >= p.all.Max {
		return nil, fmt.Errorf("%d jobs run, the most that [jobs] max allows: stop one of %s first", len(mine), strings.Join(mine, ", "))
	}
	if err := p.all.reserve(); err != nil {
		return nil, err
	}
	return p.add(item.Job{ID: strconv.Itoa(p.last + 1), CallID: callID, State: item.JobRunning}), nil
}

// reserve counts one more job of all pods.
func (a *Jobs) reserve() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.closed:
		return errors.New("podd is stopping: call again later")
	case a.running >= MaxAllJobs:
		return fmt.Errorf("all pods together run %d jobs, which is the most: call again when one has ended", a.running)
	}
	a.running++
	return nil
}

func (a *Jobs) free() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.running--
}

// takeOver is the job of an open call whose run an earlier podd started.
func (p *PodJobs) takeOver(left *run) *job {
	p.mu.Lock()
	defer p.mu.Unlock()
	if j := p.find(func(j *job) bool { return j.CallID == left.id }); j != nil {
		left.files.Close()
		return j
	}
	j := p.add(item.Job{ID: left.note.Job.ID, CallID: left.id, State: item.JobRunning})
	p.all.add()
	p.begin(j, j.leftJob(left.Runner, left.files))
	return j
}

func (a *Jobs) add() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.running++
}

// shares says whether a job runs whose network other commands of the pod use too.
func (p *PodJobs) shares() bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.jobs, func(j *job) bool { return j.runs() && j.command != nil && j.command.note.Job.Keeper == keepsNetwork })
}

// runner is for commands that an earlier podd started.
func (p *PodJobs) runner() (*Runner, error) { return p.all.Runner(p.pod) }

// add makes a new job. The caller holds mu.
func (p *PodJobs) add(k item.Job) *job {
	n, _ := strconv.Atoi(k.ID)
	p.last = max(p.last, n)
	j := &job{pod: p, Job: k, done: make(chan struct{})}
	j.ctx, j.cancel = context.WithCancelCause(context.Background()) //nolint:forbidigo // a job outlives whoever starts it
	p.jobs = append(p.jobs, j)
	return j
}

// find returns the first job that satisfies is, or nil. The caller holds mu.
func (p *PodJobs) find(is func(*job) bool) *job {
	if i := slices.IndexFunc(p.jobs, is); i >= 0 {
		return p.jobs[i]
	}
	return nil
}

// trim removes the oldest ended jobs. The caller holds mu.
func (p *PodJobs) trim() {
	over := -endedJobs
	for _, j := range p.jobs {
		if j.stored {
			over++
		}
	}
	p.jobs = slices.DeleteFunc(p.jobs, func(j *job) bool {
		if over > 0 && j.stored {
			over--
			return true
		}
		return false
	})
}

// byID returns the job with an id that a result named, or nil.
func (p *PodJobs) byID(id string) *job {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.find(func(j *job) bool { return j.ID == id && j.told })
}

// never says that no job of the pod has had an id.
func (p *PodJobs) never(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	n, err := strconv.Atoi(id)
	return p.changed != nil && (err != nil || n < 1 || n > p.last)
}

// drop removes a job that could not be started.
func (p *PodJobs) drop(j *job) {
	j.cancel(nil)
	p.all.free()
	p.forget(j)
}

// forget removes a job that no result names.
func (p *PodJobs) forget(j *job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.jobs = slices.DeleteFunc(p.jobs, func(other *job) bool { return other == j })
}

// list is all known jobs.
func (p *PodJobs) list() []*job {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.jobs)
}

// Ended are the ended jobs that a result named and whose end is not stored.
func (p *PodJobs) Ended() []JobEnd {
	p.mu.Lock()
	defer p.mu.Unlock()
	var ends []JobEnd
	for _, j := range p.jobs {
		if j.owesEnd() {
			ends = append(ends, j.end())
		}
	}
	return ends
}

// Stored says that the end of a job is stored: its files may be removed.
func (p *PodJobs) Stored(id string) {
	j := p.byID(id)
	if j == nil {
		return
	}
	j.settle()
	p.mu.Lock()
	defer p.mu.Unlock()
	j.stored = true
	p.trim()
}

// Stop begins to end a job; ended is closed when it has ended, nil for an unknown job.
// reason is half a sentence.
func (p *PodJobs) Stop(id, reason string) (ended <-chan struct{}) {
	j := p.byID(id)
	if j == nil {
		return nil
	}
	j.stop(&jobStop{reason: reason})
	return j.done
}

// StopAll ends all jobs of the pod without waiting for their end.
func (p *PodJobs) StopAll(reason string) {
	for _, j := range p.list() {
		j.stop(&jobStop{reason: reason})
	}
}

// abandon ends the commands of a pod with files of these names, and its jobs, because no log tells
// of their end.
func (p *PodJobs) abandon(reason string, files ...string) {
	p.StopAll(reason)
	s, err := p.runner()
	if err != nil {
		return
	}
	for _, name := range files {
		left, err := s.Spool.OpenJobs(name)
		if err != nil {
			s.Logger.Warn("the commands of a pod cannot be looked for", "pod", p.pod, "error", err)
		}
		for _, files := range left {
			path := files.Output.Name()
			if slices.ContainsFunc(p.list(), func(j *job) bool { return j.path() == path }) {
				files.Close()
				continue
			}
			p.all.add()
			p.mu.Lock()
			j := p.add(item.Job{State: item.JobRunning})
			p.mu.Unlock()
			p.begin(j, j.leftJob(s, files))
		}
	}
	p.StopUntold()
}

// StopUntold ends the jobs that no result names. Callers call it only while no call runs.
func (p *PodJobs) StopUntold() {
	for _, j := range p.list() {
		p.mu.Lock()
		untold := !j.told
		p.mu.Unlock()
		if untold {
			j.stop(&jobStop{reason: "its call has no result"})
			p.all.work.Go(func() {
				<-j.done
				j.settle()
				p.forget(j)
			})
		}
	}
}

// List is the jobs that results named, in the order of their start: the running ones and the last
// ended ones.
func (p *PodJobs) List() []JobInfo {
	var all []JobInfo
	for _, j := range p.list() {
		if p.byID(j.ID) == j {
			all = append(all, j.info())
		}
	}
	slices.SortFunc(all, func(a, b JobInfo) int { return cmp.Or(len(a.ID)-len(b.ID), cmp.Compare(a.ID, b.ID)) })
	return all
}

// Running names the running jobs, with the beginning of their commands.
func (p *PodJobs) Running() []string {
	var all []string
	for _, j := range p.List() {
		if j.State == item.JobRunning {
			all = append(all, fmt.Sprintf("%s (%s)", j.ID, tool.Shorten(j.Command, 60)))
		}
	}
	return all
}

// Read returns at most limit bytes of a job's output, from a mark; if the mark is
// negative, the last ones. ok is false for an unknown job.
func (p *PodJobs) Read(id string, after int64, limit int) (out JobOutput, ok bool) {
	j := p.byID(id)
	if j == nil {
		return out, false
	}
	return j.read(after, limit), true
}
