package daemon

import (
	"path/filepath"

	"podd/internal/commands/lease"
	"podd/internal/fleet/postgres"
	"podd/internal/shell"
	"podd/pkg/item"
	"podd/pkg/store"
)

// leaseName is the file of the lease in the state directory.
const leaseName = "podd.lease"

// openLease lets the commands of movable pods run until the lease in the database can have gone to
// another node. Those of an earlier run that has lost it end first.
func (l *nodeLink) openLease(d *Daemon, join *postgres.NodeConfig) (err error) {
	path := filepath.Join(d.StateDir, leaseName)
	join.Fenced = func() {
		left, err := shell.EndLeased(spoolDir(d.StateDir))
		if err == nil && l.until != nil {
			err = l.until.Replace(path)
		}
		if err != nil || left > 0 {
			d.Logger.Error("commands of pods that other nodes may have may still run here", "processes", left, "error", err)
		}
	}
	if l.shares = join.Shares; len(l.shares) == 0 {
		return nil
	}
	if l.until, err = lease.Open(path); err != nil {
		return item.Errorf(item.KindPrecondition, "NODE_LEASE", "%v: make the state directory writable", err)
	}
	join.Renewing = func() (renewed func()) {
		extend := l.until.Renewing()
		return func() {
			if err := extend(); err != nil {
				d.Logger.Error("commands of movable pods end: the lease cannot be written", "error", err)
			}
		}
	}
	return nil
}

// commands is the lease of commands of movable pods; nil without shared directories.
func (l *nodeLink) commands() *lease.Lease {
	if l == nil {
		return nil
	}
	return l.until
}

// movable says whether another node may take over a pod with this spec.
func (l *nodeLink) movable(spec item.PodSpec) bool {
	return l != nil && store.ShareOf(l.shares, spec) != ""
}

// spoolDir has the output and the records of commands.
func spoolDir(stateDir string) string { return filepath.Join(stateDir, "spool") }
