package builtin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

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
	var note jobNote
	if err := job.Notes(&note); err != nil {
		return tool.Output{}, false, fmt.Errorf("what became of the command is not known: %w", err)
	}
	if note.Process == nil {
		return r.neverRan(), true, nil
	}
	r.started = note.Started
	r.tree = process.Find(*note.Process)
	r.captured = openCapture(job.Output.File, header(args), s.SpoolBytes, s.limit.MaxBytes, progress(ctx))
	return r.finish(ctx), true, nil
}

// neverRan is for a command that a podd was killed on the way to.
func (r *shellRun) neverRan() tool.Output {
	return tool.Output{
		Summary: tool.Bound(fmt.Sprintf("shell: %s, was not run: podd ended just before it", shorten(r.args.Command, 60))),
		Kind:    item.OutputShell,
		IsError: true,
	}
}
