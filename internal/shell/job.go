package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"podd/pkg/item"
	"podd/pkg/tool"
	"podd/pkg/tool/spool"
)

// jobPatience limits how long a call waits for the exit or the first output of a command
// that it starts in the background.
const jobPatience = 2 * time.Second

// jobNote is what the record of a job says about it.
type jobNote struct {
	ID       string    `json:"id"`
	Command  string    `json:"command"`
	Quiet    bool      `json:"quiet,omitempty"`
	Deadline time.Time `json:"deadline"`
	// Keeper is which of the pod's keepers started it; empty for none. Reach says who can
	// reach what it serves, where that is not everybody. Confined is what policy knew of it.
	Keeper   string `json:"keeper,omitempty"`
	Reach    string `json:"reach,omitempty"`
	Terminal bool   `json:"terminal,omitempty"`
	Confined bool   `json:"confined,omitempty"`
	// Access is what it can use.
	Access item.Access `json:"access,omitempty"`
}

// jobStop is the reason to end a job.
type jobStop struct {
	reason string
	// seen says that the one that ended it learns of the end.
	seen bool
}

// Error is the reason.
func (s *jobStop) Error() string { return s.reason }

// job is a run that outlives its call, from before its start.
type job struct {
	// Job is its entry. State and Status are guarded by pod.mu.
	item.Job
	pod *PodJobs
	// ctx ends when the job is to end.
	ctx    context.Context
	cancel context.CancelCauseFunc
	// done is closed when it has ended, or was left running. out, last, left and unbegun are set before that.
	done chan struct{}
	// out is the result that the command would have had in the foreground; last is the end
	// of its output.
	out  tool.Output
	last string
	// left says that podd restarts and leaves it running; unbegun, that its command had not begun when podd was killed.
	left, unbegun bool

	// report shows output while the call that started it waits.
	reportMu sync.Mutex
	report   func(string)

	// pod.mu guards the rest. told says that a result names the job, seen that the model has
	// read its end, stored that its end is in the log.
	told, seen, stored bool
	// command is its run, once that has begun and its note is complete; nil for a job that podd
	// lost, or that ended before this podd started.
	command *run
}

// runs says whether the job has not ended.
func (j *job) runs() bool { return j.followed() || j.left }

// followed says whether the job has neither ended nor was left running.
func (j *job) followed() bool {
	select {
	case <-j.done:
		return false
	default:
		return true
	}
}

// owesEnd says whether the end has to be stored. The caller holds pod.mu.
func (j *job) owesEnd() bool { return j.told && !j.stored && j.State == item.JobEnded }

// stop ends the job for a reason.
func (j *job) stop(why *jobStop) {
	j.pod.mu.Lock()
	j.seen = j.seen || why.seen
	j.pod.mu.Unlock()
	if j.runs() {
		j.cancel(why)
	}
}

// follow runs until the command has ended, and returns how it ended.
func (j *job) follow(ctx context.Context, r *run) (status string) {
	err := r.adopt(ctx)
	if j.left = r.leaves(err); j.left {
		r.files.Close()
		return ""
	}
	if err != nil || r.tree == nil {
		j.unbegun = err == nil && !r.mayHaveBegun()
		r.files.Settle(false)
		return "podd, or the process that starts commands, ended as it began"
	}
	j.set(r)
	defer func() {
		// A defect ends the job, not podd.
		if p := recover(); p != nil {
			r.Logger.Error("following a job panicked", "job", j.ID, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			r.tree.Stop(r.Grace)
			status = "a defect of podd ended it"
		}
	}()
	if j.out, err = r.finish(ctx); err != nil {
		j.left = true
		return ""
	}
	j.last = r.Limits.Redact(string(lastOf([]byte(r.captured.ends()), jobLastBytes)))
	return r.ended.text
}

// jobLastBytes bounds the output in the note about the end of a job.
const jobLastBytes = 1 << 10

// followLeft finds the command of a job that the log records, and follows it.
func (j *job) followLeft(ctx context.Context) (status string) {
	s, err := j.pod.runner()
	if err != nil {
		return "podd can't look for it: " + err.Error()
	}
	files, err := s.Spool.OpenJob("shell", j.CallID)
	if err != nil {
		return "podd has no record of it; a fork has no jobs"
	}
	return j.follow(ctx, j.leftJob(s, files))
}

// began is the run, nil before its command has begun.
func (j *job) began() *run {
	j.pod.mu.Lock()
	defer j.pod.mu.Unlock()
	return j.command
}

// awaitBegun waits until the job's command is known, which takes a moment after podd's start. It is false for one that
// has ended, or if ctx ends first.
func (j *job) awaitBegun(ctx context.Context) bool {
	for j.runs() && j.began() == nil && pause(ctx, heldPoll) {
	}
	return j.runs() && j.began() != nil
}

// note is what its record says; empty for a job without a run.
func (j *job) note() jobNote {
	if r := j.began(); r != nil {
		return *r.note.Job
	}
	return jobNote{}
}

// set says that the command has begun; nil is the job of a command in the foreground.
func (j *job) set(r *run) {
	if j == nil {
		return
	}
	j.pod.mu.Lock()
	defer j.pod.mu.Unlock()
	j.command = r
}

// entry is its entry as it is now.
func (j *job) entry() item.Job {
	j.pod.mu.Lock()
	defer j.pod.mu.Unlock()
	return j.Job
}

// settle releases the files of a job that has ended; the spool keeps its output for its
// usual time, and what was typed.
func (j *job) settle() {
	if r := j.began(); r != nil && !j.runs() {
		r.files.Bury(!r.captured.dropped)
	}
}

// JobEnd is how a job ended.
type JobEnd struct {
	item.Job
	// Note is for the model; empty if it has read the end.
	Note string
	// Wake says that the note starts a turn if the pod is idle.
	Wake bool
}

// end describes the end of the job. The caller holds pod.mu.
func (j *job) end() JobEnd {
	e := JobEnd{Job: j.Job}
	if j.seen {
		return e
	}
	e.Note = fmt.Sprintf("Job %s has ended: %s.", j.ID, j.Status)
	if r := j.command; r != nil {
		_, stopped := errors.AsType[*jobStop](r.ended.why)
		e.Wake = !r.note.Job.Quiet && !stopped
		e.Note = fmt.Sprintf("Job %s (%s) has ended: %s.", j.ID, tool.Shorten(r.note.Job.Command, 60), r.ended.summary)
	}
	if last := strings.TrimRight(tool.Repair(j.last), "\n"); last != "" {
		e.Note += " The end of its output:\n" + last
	}
	return e
}

// show sets the receiver of the command's progress.
func (j *job) show(report func(string)) {
	j.reportMu.Lock()
	defer j.reportMu.Unlock()
	j.report = report
}

func (j *job) progress(text string) {
	j.reportMu.Lock()
	defer j.reportMu.Unlock()
	if j.report != nil {
		j.report(text)
	}
}

// path is the file with its output.
func (j *job) path() string {
	if r := j.began(); r != nil {
		return r.files.Output.Name()
	}
	s, err := j.pod.runner()
	if err != nil {
		return ""
	}
	return filepath.Join(s.Spool.Dir(), spool.JobOutput("shell", j.CallID))
}

// JobInfo is the current state of a job.
type JobInfo struct {
	item.Job
	Command string
	// Access is what it can use: the sandbox, the network too, or everything. Like Terminal, it
	// is only known if Started is.
	Access   item.Access
	Terminal bool
	// Started is zero for a job that ended before this podd started.
	Started time.Time
	// Deadline is when podd ends it.
	Deadline time.Time
	// Bytes is the size of its output.
	Bytes int64
}

// info is the job as it is now.
func (j *job) info() JobInfo {
	i := JobInfo{Job: j.entry()}
	if r := j.began(); r != nil {
		said := r.note.Job
		i.Command, i.Access, i.Terminal, i.Started, i.Deadline = said.Command, said.Access, said.Terminal, r.note.Started, said.Deadline
	}
	if f, err := os.Open(j.path()); err == nil {
		defer f.Close()
		b := boundsOf(f)
		i.Bytes = b.size - b.skip
		if i.Command == "" {
			i.Command = b.command
		}
	}
	return i
}

// answer is the result of the call that starts a job: after a short time, or at once when
// the command exits. Until then the command ends with the call, or runs on when podd restarts, as in
// the foreground; leased says that it must not.
func (j *job) answer(ctx context.Context, call *tool.Invocation, leased bool) (tool.Output, error) {
	patience := time.NewTimer(jobPatience)
	defer patience.Stop()
	j.show(call.Progress)
	defer j.show(nil)
	for j.followed() {
		select {
		case <-j.done:
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), tool.ErrLeave) && !leased {
				return tool.Output{}, tool.ErrGoesOn
			}
			j.stop(&jobStop{reason: "the call was cancelled"})
			<-j.done
		case <-patience.C:
			if r := j.began(); r != nil {
				return j.goesOn(call, r), nil
			}
			// The process that starts commands is slow.
			patience.Reset(jobPatience)
		}
	}
	if j.left {
		return tool.Output{}, tool.ErrGoesOn
	}
	r := j.began()
	if r == nil || j.out.Summary == "" {
		j.pod.forget(j)
		return tool.Output{Summary: tool.Bound("shell: " + j.Status), Kind: item.OutputShell, IsError: true}, nil
	}
	call.Stored(func() {
		r.files.Settle(r.keep)
		j.pod.forget(j)
	})
	return j.out, nil
}

// recover is the outcome of a call that an earlier podd began.
func (j *job) recover(ctx context.Context, call *tool.Invocation, leased bool) (tool.Output, item.Recovery, error) {
	out, err := j.answer(ctx, call, leased)
	how := item.RecoveryUnknown
	switch r := j.began(); {
	case err != nil:
	case r != nil && (j.runs() || r.status() != ""):
		how = item.RecoveryFound
	case r == nil && !j.runs() && j.unbegun && !call.Rebooted:
		how = item.RecoveryNoEffect
	}
	return out, how, err
}

// goesOn leaves the command running as a job, once the result that names it is stored.
func (j *job) goesOn(call *tool.Invocation, r *run) tool.Output {
	call.Record(item.Job{ID: j.ID, CallID: j.CallID, State: item.JobRunning})
	call.Stored(func() {
		j.pod.mu.Lock()
		j.told = true
		owes := j.owesEnd()
		j.pod.mu.Unlock()
		if owes {
			j.pod.all.work.Go(j.pod.notify)
		}
	})
	said := r.note.Job
	out := j.read(0, jobTextBytes(r.limit))
	text := fmt.Sprintf("shell: %s, runs as job %s; %s, mark %d", tool.Shorten(said.Command, 60), j.ID, printed(out), out.Mark)
	return tool.Output{Summary: tool.Bound(text + said.Reach), Content: r.Limits.Redact(out.Text), Kind: item.OutputShell}
}
