package builtin

import (
	"cmp"
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

// jobInfo is what the record of a background command says about it.
type jobInfo struct {
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

// job is a background command, from its start.
type job struct {
	// Job is its entry. State and Status are guarded by pod.mu.
	item.Job
	pod *PodJobs
	// ctx ends when the job is to end.
	ctx    context.Context
	cancel context.CancelCauseFunc
	// done is closed when it has ended. out and last are set before that.
	done chan struct{}
	// out is the result that the command would have had in the foreground; last is the end
	// of its output.
	out  tool.Output
	last string

	// report shows output while the call that started it waits.
	reportMu sync.Mutex
	report   func(string)

	// pod.mu guards the rest. told says that a result names the job, seen that the model has
	// read its end, stored that its end is in the log.
	told, seen, stored bool
	// known is zero for a job that podd lost, or that ended before this podd started.
	known jobNow
}

// runs says whether the job has not ended.
func (j *job) runs() bool {
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

// follow runs until a command that this podd started or found has ended, and returns how
// it ended.
func (j *job) follow(ctx context.Context, r *shellRun) (status string) {
	defer func() {
		// A defect ends the job, not podd.
		if p := recover(); p != nil {
			r.shell.log.Error("following a job panicked", "job", j.ID, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			r.tree.Stop(r.shell.Grace)
			status = "a defect of podd ended it"
		}
	}()
	j.out = r.finish(ctx)
	j.last = r.shell.redact(string(lastOf([]byte(r.captured.ends()), jobLastBytes)))
	return r.ended.text
}

// jobLastBytes bounds the output in the note about the end of a job.
const jobLastBytes = 1 << 10

// adopt finds a command that an earlier podd started, and follows it.
func (j *job) adopt(ctx context.Context) (status string) {
	s, err := j.pod.shell()
	if err != nil {
		return "podd can't look for it: " + err.Error()
	}
	files, err := s.spool.OpenJob("shell", j.CallID)
	if err != nil {
		return "podd has no record of it; a fork has no jobs"
	}
	return j.find(ctx, s, files)
}

// find follows the command of these files, which may still run.
func (j *job) find(ctx context.Context, s *shell, files *spool.Job) (status string) {
	r := &shellRun{shell: s, call: &tool.Invocation{CallID: j.CallID, Report: j.progress}, job: files, background: true}
	note, err := r.found(ctx)
	if err != nil || note.Process == nil {
		files.Settle(false)
		return "podd, or the process that starts commands, ended as it began"
	}
	// Without it the command is one in the foreground, which podd ends.
	said := *cmp.Or(note.Job, new(jobInfo))
	r.args = shellArgs{Command: said.Command, Background: true, Quiet: said.Quiet}
	r.deadline = said.Deadline
	r.adopt(ctx, note)
	j.set(jobNow{r, said, note.Started})
	return j.follow(ctx, r)
}

// jobNow is what podd knows about a job once its command is known.
type jobNow struct {
	run     *shellRun
	said    jobInfo
	started time.Time
}

func (j *job) now() jobNow {
	j.pod.mu.Lock()
	defer j.pod.mu.Unlock()
	return j.known
}

// entry is its entry as it is now.
func (j *job) entry() item.Job {
	j.pod.mu.Lock()
	defer j.pod.mu.Unlock()
	return j.Job
}

func (j *job) set(now jobNow) {
	j.pod.mu.Lock()
	defer j.pod.mu.Unlock()
	j.known = now
}

// settle releases the files of a job that has ended; the spool keeps its output for its
// usual time.
func (j *job) settle() {
	if r := j.now().run; r != nil && !j.runs() {
		r.job.Settle(!r.captured.dropped)
	}
}

// end describes the end of the job. The caller holds pod.mu.
func (j *job) end() tool.JobEnd {
	e := tool.JobEnd{Job: j.Job}
	if j.seen {
		return e
	}
	r := j.known.run
	_, stopped := stoppedBy(r)
	e.Wake = r != nil && !j.known.said.Quiet && !stopped
	e.Note = fmt.Sprintf("Job %s has ended: %s.", j.ID, j.Status)
	if r != nil {
		e.Note = fmt.Sprintf("Job %s (%s) has ended: %s.", j.ID, shorten(j.known.said.Command, 60), r.ended.summary)
	}
	if last := strings.TrimRight(tool.Repair(j.last), "\n"); last != "" {
		e.Note += " The end of its output:\n" + last
	}
	return e
}

// stoppedBy says why a job was ended, if something ended it.
func stoppedBy(r *shellRun) (*jobStop, bool) {
	if r == nil {
		return nil, false
	}
	return errors.AsType[*jobStop](r.ended.why)
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
	if r := j.now().run; r != nil {
		return r.job.Output.Name()
	}
	s, err := j.pod.shell()
	if err != nil {
		return ""
	}
	return filepath.Join(s.spool.Dir(), spool.JobOutput("shell", j.CallID))
}

// info is the job as it is now.
func (j *job) info() tool.JobInfo {
	j.pod.mu.Lock()
	said := j.known.said
	i := tool.JobInfo{Job: j.Job, Command: said.Command, Access: said.Access, Terminal: said.Terminal, Started: j.known.started, Deadline: said.Deadline}
	j.pod.mu.Unlock()
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
