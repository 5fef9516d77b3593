package shell

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"podd/internal/commands/process"
	"podd/pkg/item"
	"podd/pkg/tool"
	"podd/pkg/tool/record"
	"podd/pkg/tool/spool"
)

const (
	// heldPoll is how often adopt checks whether a record is still held.
	heldPoll = 5 * time.Millisecond
	// beginPatience is how long a cancelled call waits for a command to begin.
	beginPatience = 2 * time.Second
)

// left is the run of a call that an earlier podd made; nil without one.
func (s *Runner) left(call *tool.Invocation, args shellArgs) (*run, error) {
	files, err := s.Spool.OpenJob("shell", call.CallID)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, unknown(err)
	}
	r := &run{Runner: s, id: call.CallID, call: call, args: args, files: files}
	_ = files.Record.Notes(&r.note) // adopt reads it again.
	return r, nil
}

// leftJob is the run of a command that an earlier podd left, as a job.
func (j *job) leftJob(s *Runner, files *spool.Job) *run {
	return &run{Runner: s, id: j.CallID, call: &tool.Invocation{CallID: j.CallID, Report: j.progress}, args: shellArgs{Background: true}, files: files}
}

// adopt takes over a command that this podd did not start, or of which it does not know whether it
// did. Without a process in its record, the run has no tree then.
func (r *run) adopt(ctx context.Context) error {
	if r.tree != nil {
		return nil
	}
	if err := r.find(ctx); err != nil {
		return err
	}
	if r.note.Guard != nil && r.Sandbox != nil {
		r.guard = r.Sandbox.Resume(*r.note.Guard)
		r.guard.Watch(r.Spool.Moved, r.Logger)
	}
	if r.note.Process == nil {
		r.unguard()
		return nil
	}
	if r.args.Background {
		if r.note.Job == nil {
			// A command in the foreground whose call is gone: one without a deadline ends.
			r.note.Job = new(jobNote)
		}
		r.args.Command, r.args.Quiet = r.note.Job.Command, r.note.Job.Quiet
	}
	if r.Caches != nil {
		r.cache = r.Caches.Resume(r.note.Cache)
	}
	r.tree = process.Find(*r.note.Process)
	// The earlier podd may have ended while it had stopped the command.
	r.paused = true
	r.status = func() string { return r.lastWord(ctx) }
	r.capture()
	return nil
}

// find reads the record once it names a process, or no process has it open. It
// waits for a command that is about to begin even after ctx has ended, for beginPatience:
// otherwise nothing would end the command.
func (r *run) find(ctx context.Context) error {
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(beginPatience, cancel) })()
	for {
		// In this order: a record that is not held does not change any more.
		held := r.files.Record.Held()
		err := r.files.Record.Notes(&r.note)
		switch {
		case err == nil && r.note.Process != nil:
			return nil
		case !held:
			return err
		case !pause(late, heldPoll):
			return context.Cause(ctx)
		}
	}
}

// EndLeft ends the commands that still run although podd no longer follows them, and all that those started. Their
// records are below the directory of a spool: the next podd finds how they ended. left counts the processes that the
// system does not end.
func EndLeft(spoolDir string) (left int, err error) {
	return endRecorded(spoolDir, func(r *record.Record) int {
		said := note{}
		for deadline := time.Now().Add(beginPatience); ; {
			held := r.Held()
			if r.Notes(&said) != nil {
				return 0 // The next podd cannot find the command either.
			}
			if said.Process != nil {
				return process.Find(*said.Process).Stop(defaultGrace)
			}
			if !held || time.Now().After(deadline) {
				return 0
			}
			time.Sleep(heldPoll) // It is about to begin.
		}
	})
}

// lastWord is the status once the shim has written it, which it does as soon as the
// command has ended.
func (r *run) lastWord(ctx context.Context) string {
	record := r.files.Record
	for record.Status() == "" && record.Held() && pause(ctx, heldPoll) {
	}
	return record.Status()
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

const notBegun = "was not run: podd, or the process that starts its commands, stopped just before it"

// mayHaveBegun is for a command without a process. After a boot its record may lack what was not synced.
func (r *run) mayHaveBegun() bool { return !r.note.Failed && (r.note.Begins || r.call.Rebooted) }

// unstarted is for a command without a process, during whose start podd or its shim was
// killed.
func (r *run) unstarted() tool.Output {
	what := notBegun
	switch {
	case r.mayHaveBegun():
		what = "podd, or the process that starts its commands, stopped as it started; it may have taken effect"
	case r.note.Failed:
		what = "was not run: it could not be started"
	}
	return tool.Output{Summary: summary(r.args.Command, what), Kind: item.OutputShell, IsError: true}
}
