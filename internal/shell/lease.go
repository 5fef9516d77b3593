package shell

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"podd/internal/commands/lease"
	"podd/internal/commands/process"
	"podd/internal/guard/sandbox"
	"podd/pkg/item"
	"podd/pkg/tool"
	"podd/pkg/tool/record"
	"podd/pkg/tool/spool"
)

// barred says in a sentence why a command of a pod that another node may take over must not
// start; empty if it may. Only a namespace of processes ends with all that was started in it.
func (s *Runner) barred(args shellArgs) string {
	switch {
	case !s.Movable:
		return ""
	case s.Sandbox == nil || s.Sandbox.Mode() != sandbox.Bwrap:
		return "another node can take over this pod, so its commands need bwrap, which does not work here"
	case args.Access == item.AccessHost:
		return `another node can take over this pod, so no command of it runs outside the sandbox: leave access "host" out`
	}
	if err := s.Lease.Check(); err != nil {
		return err.Error()
	}
	return ""
}

// bind is a context that also ends with the lease of a command that has one.
func (r *run) bind(ctx context.Context) (bound context.Context, release func(), err error) {
	if !r.note.Leased {
		return ctx, func() {}, nil
	}
	return r.Lease.Bind(ctx)
}

// EndLeased kills the commands that earlier runs of the program started under a lease, and all
// that those started. Their records are below the directory of a spool. left counts the processes
// that the system does not end.
func EndLeased(spoolDir string) (left int, err error) {
	return endRecorded(spoolDir, func(r *record.Record) int {
		var said note
		// A damaged record is one that podd cannot use later either.
		if r.Notes(&said) == nil && said.Leased && said.Process != nil {
			return process.Find(*said.Process).Kill()
		}
		return 0
	})
}

// endRecorded ends commands by their records below the directory of a spool, all at once; end says how many
// processes of one remain.
func endRecorded(spoolDir string, end func(*record.Record) (left int)) (left int, err error) {
	paths, err := spool.Records(spoolDir)
	if err != nil {
		return 0, err
	}
	var all sync.WaitGroup
	var remain atomic.Int64
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			continue // It has just been removed.
		}
		all.Go(func() {
			r := record.Of(file)
			defer r.Close()
			remain.Add(int64(end(r)))
		})
	}
	all.Wait()
	return int(remain.Load()), nil
}

// Leased is a tool of another program for a pod that another node may take over: no call of it
// begins once the lease is over, and one that runs then is given up.
func Leased(t tool.Tool, l *lease.Lease) tool.Tool { return leased{t, l} }

type leased struct {
	tool.Tool
	lease *lease.Lease
}

// Run runs the tool while the lease lasts.
func (t leased) Run(ctx context.Context, call *tool.Invocation) (tool.Output, error) {
	if err := t.lease.Check(); err != nil {
		return tool.Output{}, fmt.Errorf("not run: %w", err)
	}
	bound, release, err := t.lease.Bind(ctx)
	if err != nil {
		return tool.Output{}, fmt.Errorf("not run: %w", err)
	}
	defer release()
	out, err := t.Tool.Run(bound, call)
	if err != nil && ctx.Err() == nil && bound.Err() != nil {
		err = fmt.Errorf("ended: %w; the call may have taken effect: check before you repeat it", context.Cause(bound))
	}
	return out, err
}
