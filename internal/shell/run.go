package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
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

// run is one run of a command.
type run struct {
	*Runner
	// id is that of its call, which may be one of an earlier podd.
	id   string
	call *tool.Invocation
	args shellArgs
	// files are its output and its record, note what the record says.
	files *spool.Job
	note  note
	// keeper starts the command; the zero Keeper for most.
	keeper shim.Keeper

	// tree is nil until it is known that the command began; see adopt. status is how it
	// ended, in the form of shim.Running.
	tree     *process.Tree
	status   func() string
	captured *capture
	// guard protects protected paths; nil without a sandbox.
	guard *sandbox.Guard
	// cache is the one that the commands of the workspace share; nil if this has its own.
	cache *scratch.Cache

	paused bool
	// cut is why the command was ended before it was followed.
	cut error
	// emptied is why its temporary files were removed, or the cache.
	emptied error
	// keep says that the result names the output's file.
	keep bool
	// ended is how it ended, once it has.
	ended ending
}

// note is what the record of a run says: what the next podd must know to go on with it.
type note struct {
	Started time.Time `json:"started,omitzero"`
	shim.Note
	// Guard is what is protected.
	Guard *sandbox.GuardNote `json:"guard,omitempty"`
	// Cache is the name of the one that it shares.
	Cache string `json:"cache,omitempty"`
	// Leased says that the command ends with the lease of its node.
	Leased bool `json:"leased,omitempty"`
	// Job is for a job.
	Job *jobNote `json:"job,omitempty"`
}

// ending is how a command ended: by itself or, if why is set, for that reason. text
// says it in a few words, and summary adds the outcome.
type ending struct {
	why           error
	text, summary string
}

// settle is called when the call is over, or panics: the files stay until its
// result is stored.
func (r *run) settle() {
	r.call.Stored(func() { r.files.Settle(r.keep) })
}

// result follows the command to its end. A run that this podd did not start, or of which it
// does not know whether it did, is adopted first.
func (r *run) result(ctx context.Context) (tool.Output, error) {
	if err := r.adopt(ctx); r.leaves(err) {
		return tool.Output{}, tool.ErrGoesOn
	} else if err != nil {
		return tool.Output{}, unknown(err)
	}
	if r.tree == nil {
		return r.unstarted(), nil
	}
	return r.finish(ctx)
}

// finish waits for the end of the command and of everything that it started. The error is
// tool.ErrGoesOn if podd restarts before.
func (r *run) finish(ctx context.Context) (tool.Output, error) {
	grace := r.Grace
	var why error
	stop := sync.OnceValue(func() int {
		if errors.Is(why, lease.ErrOver) {
			return r.tree.Kill() // Another node may begin.
		}
		return r.tree.Stop(grace)
	})
	undone := sync.OnceValue(r.unguard)
	left := false
	defer func() {
		if !left { // Also if a watcher of the progress panics.
			stop()
			undone()
		}
	}()
	why = r.follow(ctx)
	if left = r.leaves(why); left {
		r.leave()
		return tool.Output{}, tool.ErrGoesOn
	}
	if r.greedy(why) {
		grace = 0 // During which it could use the rest.
	}
	if left := stop(); left > 0 {
		r.Logger.Warn("processes of a command cannot be ended", "tool", "shell", "count", left)
	}
	r.emptyTemp(ctx, why)
	// What starts commands notes the status once all output is there.
	_ = r.status()
	if err := r.captured.drain(); err != nil && why == nil {
		why = err
	}
	return r.output(why, undone()), nil
}

// leaves says whether the command runs on although it is not followed any more, for this reason.
func (r *run) leaves(why error) bool { return errors.Is(why, tool.ErrLeave) && !r.note.Leased }

// leave lets the command run on as if podd were killed: the next podd adopts it.
func (r *run) leave() {
	r.tree.Leave()
	r.guard.Close()
	r.files.Close()
}

// Why a command was stopped, if no other error says so.
var errTimedOut = errors.New("timed out")

// greed is for a command that uses too much of the machine: memory, or processes.
type greed struct{ text string }

func (e *greed) Error() string { return e.text }

// following counts the commands that run.
var following atomic.Int32

// overTasks is greed if commands leave too few tasks to podd, and this one has its share of them or more.
func (r *run) overTasks() error {
	most, crowded := process.Crowded()
	if !crowded {
		return nil
	}
	if taken := r.tree.Tasks(); taken*int(following.Load()) >= most {
		return &greed{fmt.Sprintf("it had %d processes and threads, of %d for all commands by the limit of podd's control group (start fewer at a time)", taken, most)}
	}
	return nil
}

// overMemory is greed if the command uses too much memory.
func (r *run) overMemory() error {
	if r.Sandbox == nil || r.Sandbox.MaxMemory() == 0 {
		return nil
	}
	limit := r.Sandbox.MaxMemory()
	if taken, over := r.tree.Exceeds(limit); over {
		return &greed{fmt.Sprintf("it used %d MiB of memory, more than the %d MiB of [sandbox] max_memory_bytes (use less at a time, such as fewer parallel jobs)", taken>>20, limit>>20)}
	}
	return nil
}

// follow reads the output until the command ends by itself (nil) or must be stopped, and
// says why: errTimedOut, greed, a scratch.FullError, lease.ErrOver, the cause of ctx, or an error of the
// spool file.
func (r *run) follow(ctx context.Context) error {
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
	timeout := time.NewTimer(r.timeout())
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
			select {
			case <-r.tree.Exited(): // Before the time was over, or while podd did not run.
				return nil
			default:
				return errTimedOut
			}
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
func (r *run) read(waited time.Duration) (time.Duration, error) {
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
func (r *run) checkMemory() (time.Duration, error) {
	began := time.Now()
	err := cmp.Or(r.overTasks(), r.overMemory())
	return max(r.slower(memoryPoll), 50*time.Since(began)), err
}

// timeout is how long the command may still run.
func (r *run) timeout() time.Duration {
	if r.note.Job != nil {
		return max(time.Until(r.note.Job.Deadline), 0)
	}
	return time.Duration(r.args.Timeout) * time.Second
}

// slower is the interval between two looks at a command. A job that has run for a while
// is looked at less often, because no call waits for it.
func (r *run) slower(often time.Duration) time.Duration {
	if r.note.Job != nil && time.Since(r.note.Started) > 10*time.Second {
		return 4 * often
	}
	return often
}

// hold stops a command that prints faster than it can be read, until the reader has
// caught up: its disk use stays bounded.
func (r *run) hold(behind bool) {
	switch {
	case r.paused && !behind:
		r.tree.Resume()
		r.paused = false
	case !r.paused && behind && r.captured.backlog() > r.SpoolBytes:
		r.tree.Pause()
		r.paused = true
	}
}

// output is the result of an ended command.
func (r *run) output(why error, taken sandbox.Undone) tool.Output {
	content, cut := r.captured.content(r.limit, r.files.Output.Name())
	r.keep = cut != nil && cut.SpoolPath != ""
	text, success := r.words(why)
	r.ended.why, r.ended.text = why, text
	undone := r.sayUndone(taken)
	success = success && undone == ""
	out := tool.Output{Content: content, Cut: cut, Kind: item.OutputShell, IsError: !success}
	if path, reads := readsOnly(r.args.Command); reads && success && r.note.Job == nil {
		out.Kind = item.OutputRead
		if path != "" && r.FS != nil {
			out.Path = r.FS.Rel(path)
		}
	}
	ends := r.captured.ends()
	said := ","
	if out.Kind == item.OutputShell && undone == "" {
		shown := r.Limits.Redact(ends)
		if o := outcome(shown, success); o != "" {
			said = o + ";"
		}
		if !success {
			undone = r.sayHeld(shown)
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
	r.ended.summary = fmt.Sprintf("%s%s %s", text, said, printed)
	out.Summary = summary(r.args.Command, r.ended.summary)
	return out
}

// summary is that of a result about a command.
func summary(command, said string) string {
	return tool.Bound(fmt.Sprintf("shell: %s, %s", tool.Shorten(command, 60), said))
}

// printed says how much the command printed.
func (r *run) printed() string {
	printed := "no output"
	if n := r.captured.lines(); n > 0 {
		printed = tool.Plural(n, "line")
	}
	if r.captured.emptied {
		printed += "; writing to /dev/stderr or /dev/stdout by name may have lost earlier output: use >&2"
	}
	return printed
}

// words say how the command ended.
func (r *run) words(why error) (text string, success bool) {
	took := time.Since(r.note.Started).Round(100 * time.Millisecond)
	if stopped, ok := errors.AsType[*jobStop](why); ok {
		return fmt.Sprintf("stopped after %s: %s", took, stopped.reason), false
	}
	switch {
	case errors.Is(why, errTimedOut) && r.note.Job != nil:
		return fmt.Sprintf("ended after %s, the most that [jobs] max_time allows", took), false
	case errors.Is(why, errTimedOut):
		return fmt.Sprintf("timed out after %d s and was stopped (raise timeout_seconds, or split the work)", r.args.Timeout), false
	case errors.As(why, new(*scratch.FullError)):
		return fmt.Sprintf("was ended after %s: %v, and were removed (%s)", took, why, r.remedy(why)), false
	case errors.As(why, new(*greed)):
		return fmt.Sprintf("was ended after %s: %v, may have taken effect", took, why), false
	case errors.Is(why, lease.ErrOver), why == nil && r.status() == shim.StatusOver:
		return fmt.Sprintf("was ended after %s: %v; it may have taken effect", took, lease.ErrOver), false
	case errors.As(why, new(errStubborn)):
		return fmt.Sprintf("was ended after %s: %v", took, why), false
	case errors.Is(why, errNoHoles):
		return fmt.Sprintf("ended after %s: it printed over %d bytes (redirect the output to a file)", took, r.SpoolBytes), false
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

// exitStatus is an exit status as the model reads it: "exit 1". For a command that a
// signal ended a shell gives 128 plus the number of the signal; the command may also have
// exited with such a number itself.
func exitStatus(status int) string {
	usual := []syscall.Signal{
		syscall.SIGINT, syscall.SIGILL, syscall.SIGABRT, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGKILL,
		syscall.SIGSEGV, syscall.SIGPIPE, syscall.SIGTERM, syscall.SIGXCPU, syscall.SIGXFSZ,
	}
	if signal := syscall.Signal(status - 128); slices.Contains(usual, signal) {
		return fmt.Sprintf("exit %d (as by signal %d, %v)", status, int(signal), signal)
	}
	return fmt.Sprintf("exit %d", status)
}
