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

// recover finds the command of a call that a killed podd had started. It waits for one
// that still runs, with a new timeout, because no podd was there to end it.
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
	r := &shellRun{shell: s, call: call, args: args, job: job, id: call.CallID}
	var note jobNote
	if err := job.Record.Notes(&note); err == nil && note.Job != nil && s.jobs != nil {
		return s.recoverJob(ctx, r, *note.Job), true, nil
	}
	defer r.settle()
	out, err = r.resume(ctx)
	return out, err == nil, err
}

const (
	// heldPoll is how often recover checks whether a record is still held.
	heldPoll = 5 * time.Millisecond
	// beginPatience is how long a cancelled call waits for a command to begin.
	beginPatience = 2 * time.Second
)

// resume handles a job whose command this podd did not start, or does not know whether it
// did.
func (r *shellRun) resume(ctx context.Context) (tool.Output, error) {
	note, err := r.found(ctx)
	if err != nil {
		return tool.Output{}, unknown(err)
	}
	if note.Process == nil {
		r.watch(note)
		r.unguard()
		return r.unstarted(note), nil
	}
	r.adopt(ctx, note)
	return r.finish(ctx), nil
}

// watch protects paths from now on.
func (r *shellRun) watch(note jobNote) {
	if note.Guard != nil && r.shell.box != nil {
		r.guard = r.shell.box.Resume(*note.Guard)
		r.guard.Watch(r.shell.spool.Moved, r.shell.log)
	}
}

// adopt takes over a command that has a process.
func (r *shellRun) adopt(ctx context.Context, note jobNote) {
	r.watch(note)
	r.started, r.leased = note.Started, note.Leased
	if r.shell.caches != nil {
		r.cache = r.shell.caches.Resume(note.Cache)
	}
	r.tree = process.Find(*note.Process)
	// The earlier podd may have ended while it had stopped the command.
	r.paused = true
	r.status = func() string { return r.lastWord(ctx) }
	r.captured = openCapture(r.job.Output.File, header(r.args), r.spoolBytes(), r.shell.limit.MaxBytes, r.call.Progress)
	r.captured.spare = r.spare()
}

// found is the record's content once it names a process, or no process has it open. It
// waits for a command that is about to begin even after ctx has ended, for beginPatience:
// otherwise nothing would end the command.
func (r *shellRun) found(ctx context.Context) (note jobNote, err error) {
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(beginPatience, cancel) })()
	for {
		// In this order: a record that is not held does not change any more.
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

// lastWord is the status once the shim has written it, which it does as soon as the
// command has ended.
func (r *shellRun) lastWord(ctx context.Context) string {
	for r.job.Record.Status() == "" && r.job.Record.Held() && pause(ctx, heldPoll) {
	}
	return r.job.Record.Status()
}

// unknown is for a command about which nothing can be found out.
func unknown(err error) error {
	return fmt.Errorf("the command's outcome is unknown: %w", err)
}

// pause returns false if ctx ends first.
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

// unstarted is for a command without a process, during whose start podd or its shim was
// killed.
func (r *shellRun) unstarted(note jobNote) tool.Output {
	what := "was not run: podd, or the process that starts its commands, stopped just before it"
	switch {
	case note.Failed:
		what = "was not run: it could not be started"
	case note.Begins:
		what = "podd, or the process that starts its commands, stopped as it started; it may have taken effect"
	}
	return tool.Output{
		Summary: tool.Bound(fmt.Sprintf("shell: %s, %s", shorten(r.args.Command, 60), what)),
		Kind:    item.OutputShell,
		IsError: true,
	}
}
