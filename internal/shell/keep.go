package shell

import (
	"errors"
	"fmt"
	"path/filepath"

	"podd/internal/commands/process"
	"podd/internal/commands/shim"
	"podd/internal/guard/sandbox"
)

// The keepers of a pod: of the network that its jobs share, and of other terminals, in a
// sandbox and outside.
const (
	keepsNetwork = "net"
	keepsBoxed   = "box"
	keepsHost    = "host"
)

// keeper is one of the pod's.
func (p *PodJobs) keeper(keeps string) shim.Keeper {
	return shim.Keeper{Path: filepath.Join(p.all.Dir, p.pod+"."+keeps+".sock"), Network: keeps == keepsNetwork}
}

// keptBy chooses what starts a command that has the network of the pod's jobs, or a terminal; empty for others.
// Where the system allows no network of its own, a job has that of its sandbox. A turn that
// only plans reaches no job: that could change things for it.
func (r *run) keptBy(use grant) (keeps string, err error) {
	network := r.confines() && r.Sandbox.Mode() == sandbox.Bwrap && !use.network && !use.host && !r.call.Plan
	if !r.args.Terminal && (!network || !r.args.Background && !r.Jobs.shares()) {
		return "", nil
	}
	if r.Starter == nil || r.Jobs == nil || r.Jobs.all.Dir == "" {
		if r.args.Terminal {
			return "", errors.New("terminals are not available here: leave terminal out")
		}
		return "", nil
	}
	if network {
		err := r.keepBy(keepsNetwork)
		if err == nil {
			return keepsNetwork, nil
		}
		r.Logger.Warn("jobs share no network", "tool", "shell", "error", err)
		if !r.args.Terminal {
			return "", nil
		}
	}
	keeps = keepsBoxed
	if use.host || !r.confines() {
		keeps = keepsHost
	}
	if err := r.keepBy(keeps); err != nil {
		return "", fmt.Errorf("it cannot get a terminal: %w", err)
	}
	return keeps, nil
}

func (r *run) keepBy(keeps string) error {
	var limits process.Limits
	if r.Sandbox != nil && keeps != keepsHost {
		limits = r.Sandbox.Limits()
	}
	k := r.Jobs.keeper(keeps)
	if err := r.Starter.Keep(k, limits); err != nil {
		return err
	}
	r.keeper = k
	return nil
}

// reach says which commands can reach what a job serves, where that is not all.
func (r *run) reach(use grant) string {
	switch {
	case !r.confines() || use.network || use.host:
		return ""
	case r.Sandbox.Mode() == sandbox.Landlock:
		return "; Landlock lets it open no sockets"
	case r.keeper.Network:
		return "; your other commands reach it at 127.0.0.1"
	}
	return "; no other command reaches its ports"
}
