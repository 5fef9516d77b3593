package builtin

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"podd/internal/commands/process"
	"podd/internal/guard/sandbox"
	"podd/pkg/item"
	"podd/pkg/tool"
	"podd/pkg/tool/spool"
)

// Output is looked for this often; less while none comes.
const (
	minPoll = 20 * time.Millisecond
	maxPoll = 250 * time.Millisecond
	// memoryPoll is how often the memory of a command is looked at. A look takes 1/50 of
	// the time at most.
	memoryPoll = 100 * time.Millisecond
)

// shellRun is one run of a command.
type shellRun struct {
	shell    *shell
	call     *tool.Invocation
	args     shellArgs
	job      *spool.Job
	captured *capture
	tree     *process.Tree
	// status is how the command ended, as shim.Running has it.
	status  func() string
	started time.Time
	paused  bool
	// held is what the command must leave as it is.
	held sandbox.Held
	// mended says what of that the command changed. gitMark is from before what is held was
	// looked at.
	mended  string
	gitMark int
	// ended is why the command was ended before anybody followed it.
	ended error
	// emptied is why its temporary files were removed.
	emptied error
	// guard keeps protected paths as they are; nil without a sandbox.
	guard *sandbox.Guard
	// keep says that the result names the output's file.
	keep bool
}

// settle is for when the call is over, or panics: the job's files stay until its result
// is stored.
func (r *shellRun) settle() {
	r.call.Stored(func() { r.job.Settle(r.keep) })
}

// finish waits for the end of the command and of all that it started.
func (r *shellRun) finish(ctx context.Context) tool.Output {
	grace := r.shell.Grace
	stop := sync.OnceValue(func() int { return r.tree.Stop(grace) })
	moved := sync.OnceValue(r.unguard)
	defer moved()
	defer stop() // Also when a watcher of the progress panics.
	why := r.follow(ctx)
	if r.greedy(why) {
		grace = 0 // In which it could take the rest.
	}
	if left := stop(); left > 0 {
		r.shell.log.Warn("processes of a command cannot be ended", "tool", "shell", "count", left)
	}
	// Even where it ended by itself.
	r.mended = r.mend()
	r.emptyTemp(ctx, why)
	if err := r.captured.drain(); err != nil && why == nil {
		why = err
	}
	return r.output(why, moved())
}

// Why a command was stopped, where no other error says it.
var errTimedOut = errors.New("timed out")

// memoryError is for a command that holds too much memory, in bytes.
type memoryError struct{ taken, limit int64 }

func (e *memoryError) Error() string {
	return fmt.Sprintf("it took %d MiB of memory, more than the %d MiB of [sandbox] max_memory_bytes (take less at a time, such as fewer jobs at once)",
		e.taken>>20, e.limit>>20)
}

// follow reads the output until the command ends by itself (nil) or must be
// stopped, and says why: errTimedOut, a memoryError, the cause of ctx, or what is wrong
// with the spool file.
func (r *shellRun) follow(ctx context.Context) error {
	if r.ended != nil {
		return r.ended
	}
	timeout := time.NewTimer(time.Duration(r.args.Timeout) * time.Second)
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
			began := time.Now()
			if err := r.overMemory(); err != nil {
				return err
			}
			memory.Reset(max(memoryPoll, 50*time.Since(began)))
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
		if err := r.overHeld(); err != nil {
			return err
		}
		before := r.captured.total
		atEnd, err := r.captured.advance()
		if err != nil {
			return err
		}
		switch {
		case !atEnd:
			wait = 0
		case r.captured.total > before:
			wait = minPoll
		default:
			wait = min(wait*3/2, maxPoll)
		}
		r.hold(!atEnd)
		poll.Reset(wait)
	}
}

// overMemory is a memoryError when the command holds too much.
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

// hold stops a command that prints faster than it can be read, until the reader
// has caught up: its disk stays bounded.
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

// output is the result of a command that has ended.
func (r *shellRun) output(why error, moved []sandbox.Moved) tool.Output {
	content, cut := r.captured.content(r.shell.limit, r.job.Output.Name())
	r.keep = cut != nil && cut.SpoolPath != ""
	ending, success := r.ending(why)
	undone := sayMoved(moved)
	success = success && undone == ""
	out := tool.Output{Content: content, Cut: cut, Kind: item.OutputShell, IsError: !success || r.mended != ""}
	if path, reads := readsOnly(r.args.Command); reads && success {
		out.Kind = item.OutputRead
		if path != "" {
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
	printed := "no output"
	if n := r.captured.lines(); n > 0 {
		printed = plural(n, "line")
	}
	if r.captured.emptied {
		printed += "; writing to /dev/stderr or /dev/stdout by name may have lost earlier output: use >&2"
	}
	printed += r.shell.gitHint(r.args.Command, ends) + r.mended
	if r.emptied != nil && !r.greedy(why) {
		printed += fmt.Sprintf("; %v, and were removed", r.emptied)
	}
	if undone != "" {
		printed += "; " + undone
	}
	out.Summary = tool.Bound(fmt.Sprintf("shell: %s, %s%s %s", shorten(r.args.Command, 60), ending, said, printed))
	return out
}

// ending says how the command ended.
func (r *shellRun) ending(why error) (text string, success bool) {
	took := time.Since(r.started).Round(100 * time.Millisecond)
	switch {
	case errors.Is(why, errTimedOut):
		return fmt.Sprintf("timed out after %d s and was ended (raise timeout_seconds, or split the work)", r.args.Timeout), false
	case errors.As(why, new(*spool.TempError)):
		return fmt.Sprintf("was ended after %s: %v, and were removed (put large files into the workspace)", took, why), false
	case errors.As(why, new(*memoryError)):
		return fmt.Sprintf("was ended after %s: %v, may have taken effect", took, why), false
	case errors.As(why, new(errHeld)):
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
	return "ended, and its exit status is not known, may have taken effect", false
}
