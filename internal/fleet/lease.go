package fleet

import (
	"path/filepath"

	"podd/internal/commands/lease"
	"podd/internal/shell"
	"podd/pkg/item"
	"podd/pkg/store"
)

// leaseName is the file of the lease in the state directory.
const leaseName = "podd.lease"

func (f *Fleet) leaseFile() string { return filepath.Join(f.StateDir, leaseName) }

// openLease lets the commands of movable pods run until the lease in the database can have gone to another node.
func (f *Fleet) openLease() (err error) {
	if len(f.shares) == 0 {
		return nil
	}
	if f.until, err = lease.Open(f.leaseFile()); err != nil {
		return item.Errorf(item.KindPrecondition, "NODE_LEASE", "%v: make the state directory writable", err)
	}
	return nil
}

// fenced ends the commands of an earlier run that has lost the lease.
func (f *Fleet) fenced() {
	left, err := shell.EndLeased(f.SpoolDir)
	if err == nil && f.until != nil {
		err = f.until.Replace(f.leaseFile())
	}
	if err != nil || left > 0 {
		f.Logger.Error("commands of pods that other nodes may have may still run here", "processes", left, "error", err)
	}
}

// renewing is called before the lease in the database is renewed, and what it returns once it was.
func (f *Fleet) renewing() (renewed func()) {
	extend := f.until.Renewing()
	return func() {
		if err := extend(); err != nil {
			f.Logger.Error("commands of movable pods end: the lease cannot be written", "error", err)
		}
	}
}

// Commands is the lease of commands of movable pods; nil without shared directories.
func (f *Fleet) Commands() *lease.Lease {
	if f == nil {
		return nil
	}
	return f.until
}

// Movable says whether another node may take over a pod with this spec.
func (f *Fleet) Movable(spec item.PodSpec) bool {
	return f != nil && store.ShareOf(f.shares, spec) != ""
}
