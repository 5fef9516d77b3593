package builtin

import (
	"context"
	"os"

	"podd/internal/commands/lease"
	"podd/internal/commands/process"
	"podd/internal/guard/sandbox"
	"podd/pkg/item"
	"podd/pkg/tool/record"
	"podd/pkg/tool/spool"
)

// Lease is the time until which commands of pods that another node may take over can run here. It
// is in a file, because the processes that start commands obey it even when this process hangs or
// was killed. Nil is a lease that is over.
type Lease struct{ lease *lease.Lease }

// OpenLease opens the file, or makes one in which the lease is over. It works only on Linux. Close
// must follow.
func OpenLease(path string) (*Lease, error) {
	l, err := lease.Open(path)
	if err != nil {
		return nil, err
	}
	return &Lease{l}, nil
}

// Renewing is called before a renewal is sent to what lends the lease, and what it returns when the
// renewal has succeeded.
func (l *Lease) Renewing() (renewed func() error) { return l.lease.Renewing() }

// Replace creates a new file at its path, so commands of earlier runs never see a renewal.
func (l *Lease) Replace(path string) error { return l.lease.Replace(path) }

// Close closes the file. For this process the lease is over then.
func (l *Lease) Close() { l.lease.Close() }

func (l *Lease) get() *lease.Lease {
	if l == nil {
		return nil
	}
	return l.lease
}

// barred says in a sentence why a command of a pod that another node may take over must not
// start; empty if it may. Only a namespace of processes ends with all that was started in it.
func (s *shell) barred(args shellArgs) string {
	switch {
	case !s.movable:
		return ""
	case s.box == nil || s.box.Mode() != sandbox.Bwrap:
		return "another node can take over this pod, so its commands need bwrap, which does not work here"
	case args.Access == item.AccessHost:
		return `another node can take over this pod, so no command of it runs outside the sandbox: leave access "host" out`
	}
	if err := s.Lease.get().Check(); err != nil {
		return err.Error()
	}
	return ""
}

// bind is a context that also ends with the lease of a command that has one.
func (r *shellRun) bind(ctx context.Context) (bound context.Context, release func(), err error) {
	if !r.leased {
		return ctx, func() {}, nil
	}
	return r.shell.Lease.get().Bind(ctx)
}

// mayChange says why no tool of the pod may change a file; nil if they may.
func (c Config) mayChange() error {
	if !c.Movable {
		return nil
	}
	return c.Shell.Lease.get().Check()
}

// EndLeased kills the commands that earlier runs of the program started under a lease, and all
// that those started. Their records are below the directory of a spool. left counts the processes
// that the system does not end.
func EndLeased(spoolDir string) (left int, err error) {
	paths, err := spool.Records(spoolDir)
	if err != nil {
		return 0, err
	}
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			continue // It has just been removed.
		}
		r := record.Of(file)
		var note jobNote
		// A damaged record is one that podd cannot use later either.
		if r.Notes(&note) == nil && note.Leased && note.Process != nil {
			left += process.Find(*note.Process).Kill()
		}
		r.Close()
	}
	return left, nil
}
