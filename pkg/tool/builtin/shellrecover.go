package builtin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"podd/internal/commands/process"
	"podd/pkg/item"
	"podd/pkg/tool"
)

// recover finds the command of a call that a podd which was killed had started. One
// that still runs is waited for; its timeout counts anew, because nobody was there to
// end it.
func (s *shell) recover(ctx context.Context, call *tool.Invocation, args shellArgs) (out tool.Output, found bool, err error) {
	if call.CallID == "" {
		return tool.Output{}, false, nil
	}
	job, err := s.spool.OpenJob("shell", call.CallID)
	if errors.Is(err, fs.ErrNotExist) {
		return tool.Output{}, false, nil
	}
	if err != nil {
		return tool.Output{}, false, unknown(err)
	}
	r := &shellRun{shell: s, call: call, args: args, job: job}
	defer r.settle()
	out, err = r.resume(ctx)
	return out, err == nil, err
}

const (
	// heldPoll is how often it is looked whether a record is still held.
	heldPoll = 5 * time.Millisecond
	// beginPatience is for how long a cancelled call waits for a command to begin.
	beginPatience = 2 * time.Second
)

// resume is for a job whose command this podd did not start, or cannot tell whether it
// did.
func (r *shellRun) resume(ctx context.Context) (tool.Output, error) {
	note, err := r.found(ctx)
	if err != nil {
		return tool.Output{}, unknown(err)
	}
	if note.Guard != nil && r.shell.box != nil {
		r.guard = r.shell.box.Resume(*note.Guard)
		r.guard.Watch(r.shell.spool.Moved, r.shell.log)
	}
	if note.Process == nil {
		r.unguard()
		return r.unstarted(note), nil
	}
	r.started, r.held = note.Started, note.Held
	r.tree = process.Find(*note.Process)
	// The podd before may have ended while it held the command.
	r.paused = true
	r.status = func() string { return r.lastWord(ctx) }
	r.captured = openCapture(r.job.Output.File, header(r.args), r.shell.SpoolBytes, r.shell.limit.MaxBytes, r.call.Progress)
	return r.finish(ctx), nil
}

// found is what the record says once it names a process, or nobody holds it. A command
// that is about to begin is waited for also when ctx has ended, for beginPatience: nobody
// else would end it.
func (r *shellRun) found(ctx context.Context) (note jobNote, err error) {
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(beginPatience, cancel) })()
	for {
		// In this order: what nobody holds changes no more.
		held := r.job.Record.Held()
		err := r.job.Record.Notes(&note)
		switch {
		case err == nil && note.Process != nil:
			return note, nil
		case !held:
			return note, err
		case !pause(late, heldPoll):
			return note, context.Cause(ctx)
		}
	}
}

// lastWord is the status once the shim has written it down, which it does as soon as the
// command has ended.
func (r *shellRun) lastWord(ctx context.Context) string {
	for r.job.Record.Status() == "" && r.job.Record.Held() && pause(ctx, heldPoll) {
	}
	return r.job.Record.Status()
}

// unknown is for a command of which nothing can be found out.
func unknown(err error) error {
	return fmt.Errorf("what became of the command is not known: %w", err)
}

// pause is false when ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// unstarted is for a command without a process, on the way to which podd or its shim was
// killed.
func (r *shellRun) unstarted(note jobNote) tool.Output {
	what := "was not run: podd, or the process that starts its commands, ended just before it"
	switch {
	case note.Failed:
		what = "was not run: it could not be started"
	case note.Begins:
		what = "podd, or the process that starts its commands, ended as it began; may have taken effect"
	}
	return tool.Output{
		Summary: tool.Bound(fmt.Sprintf("shell: %s, %s", shorten(r.args.Command, 60), what)),
		Kind:    item.OutputShell,
		IsError: true,
	}
}
