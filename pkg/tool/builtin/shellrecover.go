package builtin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"podd/internal/process"
	"podd/pkg/item"
	"podd/pkg/tool"
)

// recover finds the command of a call that a podd which was killed had started. One
// that still runs is waited for; its timeout counts anew, because nobody was there to
// end it.
func (s *shell) recover(ctx context.Context, args shellArgs) (out tool.Output, found bool, err error) {
	id := tool.CallFrom(ctx).CallID
	if id == "" {
		return tool.Output{}, false, nil
	}
	job, err := s.spool.OpenJob("shell", id)
	if errors.Is(err, fs.ErrNotExist) {
		return tool.Output{}, false, nil
	}
	if err != nil {
		return tool.Output{}, false, fmt.Errorf("what became of the command is not known: %w", err)
	}
	r := &shellRun{shell: s, args: args, job: job}
	defer r.settle(ctx)
	out, err = r.resume(ctx)
	return out, err == nil, err
}

// heldPoll is how often it is looked whether a record is still held.
const heldPoll = 5 * time.Millisecond

// resume is for a job whose command this podd did not start, or cannot tell whether it
// did.
func (r *shellRun) resume(ctx context.Context) (tool.Output, error) {
	var note jobNote
	for {
		// In this order: what nobody holds changes no more.
		held := r.job.Record.Held()
		if err := r.job.Record.Notes(&note); err != nil {
			return tool.Output{}, fmt.Errorf("what became of the command is not known: %w", err)
		}
		if note.Process != nil {
			break
		}
		if !held {
			return r.unstarted(note.Begins), nil
		}
		if !pause(ctx, heldPoll) {
			return tool.Output{}, context.Cause(ctx)
		}
	}
	r.started = note.Started
	r.tree = process.Find(*note.Process)
	r.status = func() string { return r.lastWord(ctx) }
	r.captured = openCapture(r.job.Output.File, header(r.args), r.shell.SpoolBytes, r.shell.limit.MaxBytes, progress(ctx))
	return r.finish(ctx), nil
}

// lastWord is the status once the shim has written it down, which it does as soon as the
// command has ended.
func (r *shellRun) lastWord(ctx context.Context) string {
	for r.job.Record.Held() && pause(ctx, heldPoll) {
	}
	return r.job.Record.Status()
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
func (r *shellRun) unstarted(begins bool) tool.Output {
	what := "was not run: podd, or the process that starts its commands, ended just before it"
	if begins {
		what = "the process that starts commands was killed as it began; may have taken effect"
	}
	return tool.Output{
		Summary: tool.Bound(fmt.Sprintf("shell: %s, %s", shorten(r.args.Command, 60), what)),
		Kind:    item.OutputShell,
		IsError: true,
	}
}
