package builtin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"podd/internal/commands/lease"
	"podd/internal/commands/process"
	"podd/internal/commands/shim"
	"podd/internal/guard/sandbox"
	"podd/pkg/item"
	"podd/pkg/tool"
	"podd/pkg/tool/scratch"
	"podd/pkg/tool/spool"
)

// How often output is checked; less often while none comes.
const (
	minPoll = 20 * time.Millisecond
	maxPoll = 250 * time.Millisecond
	// memoryPoll is how often the memory of a command is checked. A check takes at most 1/50
	// of the time.
	memoryPoll = 100 * time.Millisecond
)

// shellRun is one run of a command.
type shellRun struct {
	shell *shell
	call  *tool.Invocation
	id    string
	// keeper starts the command; the zero Keeper for most.
	keeper shim.Keeper
	// keeps is which of the pod's keepers that is.
	keeps    string
	args     shellArgs
	job      *spool.Job
	captured *capture
	tree     *process.Tree
	// status is how the command ended, in the form of shim.Running.
	status  func() string
	started time.Time
	paused  bool
	// cut is why the command was ended before it was followed.
	cut error
	// emptied is why its temporary files were removed, or the cache.
	emptied error
	// cache is the one that the commands of the workspace share; nil if this has its own.
	cache *scratch.Cache
	// guard protects protected paths; nil without a sandbox.
	guard *sandbox.Guard
	// keep says that the result names the output's file.
	keep bool
	// background says that the command is a job, which runs until deadline.
	background bool
	deadline   time.Time
	// leased says that it ends with the lease of this node.
	leased bool
	// ended is how it ended, once it has.
	ended shellEnd
}

// shellEnd is how a command ended: by itself or, if why is set, for that reason. text
// says it in a few words, and summary adds the outcome.
type shellEnd struct {
	why           error
	text, summary string
}

// settle is called when the call is over, or panics: the job's files stay until its
// result is stored.
func (r *shellRun) settle() {
	r.call.Stored(func() { r.job.Settle(r.keep) })
}

// finish waits for the end of the command and of everything that it started.
func (r *shellRun) finish(ctx context.Context) tool.Output {
	grace := r.shell.Grace
	var why error
	stop := sync.OnceValue(func() int {
		if errors.Is(why, lease.ErrOver) {
			return r.tree.Kill() // Another node may begin.
		}
		return r.tree.Stop(grace)
	})
	undone := sync.OnceValue(r.unguard)
	defer undone()
	defer stop() // Also if a watcher of the progress panics.
	why = r.follow(ctx)
	if r.greedy(why) {
		grace = 0 // During which it could use the rest.
	}
	if left := stop(); left > 0 {
		r.shell.log.Warn("processes of a command cannot be ended", "tool", "shell", "count", left)
	}
	r.emptyTemp(ctx, why)
	// What starts commands notes the status once all output is there.
	_ = r.status()
	if err := r.captured.drain(); err != nil && why == nil {
		why = err
	}
	return r.output(why, undone())
}

// Why a command was stopped, if no other error says so.
var errTimedOut = errors.New("timed out")

// memoryError is for a command that uses too much memory, in bytes.
type memoryError struct{ taken, limit int64 }

func (e *memoryError) Error() string {
	return fmt.Sprintf("it used %d MiB of memory, more than the %d MiB of [sandbox] max_memory_bytes (use less at a time, such as fewer parallel jobs)",
		e.taken>>20, e.limit>>20)
}

// tasksError is for a command that has so many processes and threads that podd could start no more.
type tasksError struct{ taken, most int }

func (e *tasksError) Error() string {
	return fmt.Sprintf("it had %d processes and threads, of %d for all commands by the limit of podd's control group (start fewer at a time)", e.taken, e.most)
}

// following counts the commands that run.
var following atomic.Int32

// overTasks is a tasksError if commands leave too few tasks to podd, and this one has its share of them or more.
func (r *shellRun) overTasks() error {
	most, crowded := process.Crowded()
	if !crowded {
		return nil
	}
	if taken := r.tree.Tasks(); taken*int(following.Load()) >= most {
		return &tasksError{taken, most}
	}
	return nil
}

// follow reads the output until the command ends by itself (nil) or must be stopped, and
// says why: errTimedOut, a memoryError, a tasksError, lease.ErrOver, the cause of ctx, or an error of the
// spool file.
func (r *shellRun) follow(ctx context.Context) error {
	if r.cut != nil {
		return r.cut
	}
	ctx, release, err := r.bind(ctx)
	if err != nil {
		return err
	}
	defer release()
	following.Add(1)
	defer following.Add(-1)
	timeout := time.NewTimer(r.left())
	defer timeout.Stop()
	wait := minPoll
	poll := time.NewTimer(wait)
	defer poll.Stop()
	memory := time.NewTimer(memoryPoll)
	defer memory.Stop()
	temp := time.NewTimer(0)
	defer temp.Stop()
	for {
		select {
		case <-r.tree.Exited():
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-timeout.C:
			return errTimedOut
		case <-memory.C:
			next, err := r.checkMemory()
			if err != nil {
				return err
			}
			memory.Reset(next)
			continue
		case <-temp.C:
			next, err := r.checkTemp(ctx)
			if err != nil {
				return err
			}
			temp.Reset(next)
			continue
		case <-poll.C:
		}
		if wait, err = r.read(wait); err != nil {
			return err
		}
		poll.Reset(wait)
	}
}

// read takes in what the command printed, after a wait, and says how long to wait for more.
func (r *shellRun) read(waited time.Duration) (time.Duration, error) {
	if err := r.overGuard(); err != nil {
		return 0, err
	}
	before := r.captured.total
	atEnd, err := r.captured.advance()
	if err != nil {
		return 0, err
	}
	r.hold(!atEnd)
	switch {
	case !atEnd:
		return 0, nil
	case r.captured.total > before:
		return minPoll, nil
	}
	return min(waited*3/2, r.slower(maxPoll)), nil
}

// checkMemory says when the command's tasks and memory are to be measured again, which takes at most
// a fiftieth of the time; an error if it has too many or too much.
func (r *shellRun) checkMemory() (time.Duration, error) {
	began := time.Now()
	err := cmp.Or(r.overTasks(), r.overMemory())
	return max(r.slower(memoryPoll), 50*time.Since(began)), err
}

// left is how long the command may run.
func (r *shellRun) left() time.Duration {
	if r.background {
		return max(time.Until(r.deadline), 0)
	}
	return time.Duration(r.args.Timeout) * time.Second
}

// slower is the interval between two looks at a command. A job that has run for a while
// is looked at less often, because no call waits for it.
func (r *shellRun) slower(often time.Duration) time.Duration {
	if r.background && time.Since(r.started) > 10*time.Second {
		return 4 * often
	}
	return often
}

// overMemory is a memoryError if the command uses too much.
func (r *shellRun) overMemory() error {
	if r.shell.box == nil || r.shell.box.MaxMemory() == 0 {
		return nil
	}
	limit := r.shell.box.MaxMemory()
	if taken, over := r.tree.Exceeds(limit); over {
		return &memoryError{taken, limit}
	}
	return nil
}

// hold stops a command that prints faster than it can be read, until the reader has
// caught up: its disk use stays bounded.
func (r *shellRun) hold(behind bool) {
	switch {
	case r.paused && !behind:
		r.tree.Resume()
		r.paused = false
	case !r.paused && behind && r.captured.backlog() > r.shell.SpoolBytes:
		r.tree.Pause()
		r.paused = true
	}
}

// output is the result of an ended command.
func (r *shellRun) output(why error, taken sandbox.Undone) tool.Output {
	content, cut := r.captured.content(r.shell.limit, r.job.Output.Name())
	r.keep = cut != nil && cut.SpoolPath != ""
	ending, success := r.ending(why)
	r.ended.why, r.ended.text = why, ending
	undone := r.sayUndone(taken)
	success = success && undone == ""
	out := tool.Output{Content: content, Cut: cut, Kind: item.OutputShell, IsError: !success}
	if path, reads := readsOnly(r.args.Command); reads && success && !r.background {
		out.Kind = item.OutputRead
		if path != "" && r.shell.fs != nil {
			out.Path = r.shell.fs.Rel(path)
		}
	}
	ends := r.captured.ends()
	said := ","
	if out.Kind == item.OutputShell && undone == "" {
		text := r.shell.redact(ends)
		if o := outcome(text, success); o != "" {
			said = o + ";"
		}
		if !success {
			undone = r.sayHeld(text)
		}
	}
	printed := r.printed()
	if out.Kind == item.OutputShell && undone == "" {
		printed += r.hint(ends)
	}
	if r.emptied != nil && !r.greedy(why) {
		printed += fmt.Sprintf("; %v, and were removed", r.emptied)
	}
	if undone != "" {
		printed += "; " + undone
	}
	r.ended.summary = fmt.Sprintf("%s%s %s", ending, said, printed)
	out.Summary = tool.Bound(fmt.Sprintf("shell: %s, %s", shorten(r.args.Command, 60), r.ended.summary))
	return out
}

// printed says how much the command printed.
func (r *shellRun) printed() string {
	printed := "no output"
	if n := r.captured.lines(); n > 0 {
		printed = plural(n, "line")
	}
	if r.captured.emptied {
		printed += "; writing to /dev/stderr or /dev/stdout by name may have lost earlier output: use >&2"
	}
	return printed
}

// ending says how the command ended.
func (r *shellRun) ending(why error) (text string, success bool) {
	took := time.Since(r.started).Round(100 * time.Millisecond)
	if stopped, ok := errors.AsType[*jobStop](why); ok {
		return fmt.Sprintf("stopped after %s: %s", took, stopped.reason), false
	}
	switch {
	case errors.Is(why, errTimedOut) && r.background:
		return fmt.Sprintf("ended after %s, the most that [jobs] max_time allows", took), false
	case errors.Is(why, errTimedOut):
		return fmt.Sprintf("timed out after %d s and was stopped (raise timeout_seconds, or split the work)", r.args.Timeout), false
	case errors.As(why, new(*scratch.FullError)):
		return fmt.Sprintf("was ended after %s: %v, and were removed (%s)", took, why, r.remedy(why)), false
	case errors.As(why, new(*memoryError)), errors.As(why, new(*tasksError)):
		return fmt.Sprintf("was ended after %s: %v, may have taken effect", took, why), false
	case errors.Is(why, lease.ErrOver), why == nil && r.status() == shim.StatusOver:
		return fmt.Sprintf("was ended after %s: %v; it may have taken effect", took, lease.ErrOver), false
	case errors.As(why, new(errStubborn)):
		return fmt.Sprintf("was ended after %s: %v", took, why), false
	case errors.Is(why, errNoHoles):
		return fmt.Sprintf("ended after %s: it printed over %d bytes (redirect the output to a file)", took, r.shell.SpoolBytes), false
	case errors.Is(why, context.Canceled), errors.Is(why, context.DeadlineExceeded):
		return fmt.Sprintf("cancelled after %s, may have taken effect", took), false
	case why != nil:
		return fmt.Sprintf("ended after %s (%v), may have taken effect", took, why), false
	}
	if status, err := strconv.Atoi(r.status()); err == nil {
		return exitStatus(status), status == 0
	}
	return "ended with an unknown exit status; it may have taken effect", false
}
