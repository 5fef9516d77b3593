package daemon

import (
	"context"
	"os"
	"sync"

	"podd/pkg/tool/builtin"
)

// detectSandbox begins to find out what commands can be confined by, which takes as long
// as all else that a start does. The state directory must be there.
func (d *Daemon) detectSandbox(ctx context.Context) {
	c := d.Settings.Sandbox
	c.Hidden = hiddenPaths(d.Config)
	var found *builtin.Sandbox
	var wg sync.WaitGroup
	wg.Go(func() { found = builtin.DetectSandbox(ctx, c) })
	d.detected = func() *builtin.Sandbox {
		wg.Wait()
		return found
	}
	d.undo = append(d.undo, wg.Wait)
}

// openStarter makes what starts shell commands. In a program that cannot be a shim they
// are started as its children, and lose their results when it is killed.
func (d *Daemon) openStarter() {
	starter, err := builtin.OpenStarter(d.Logger)
	if err != nil {
		d.Logger.Debug("commands are children of podd", "note", err)
		return
	}
	d.starter = starter
	d.undo = append(d.undo, starter.Close)
}

// shell is the shell tool's setup. Mode "off" is the operator's word that commands may
// do all that this user may; and nobody needs to be asked about those that are refused.
func (d *Daemon) shell() builtin.Shell {
	return builtin.Shell{
		Starter:  d.starter,
		Sandbox:  d.sandbox,
		Confined: d.sandbox.Fate() != builtin.FateAsk,
		Env:      d.Settings.ShellEnv,
		// Not even a name in env passes a key of podd's on.
		Environ: d.secrets.Environ(os.Environ()),
	}
}

// logSandbox logs what commands run in.
func (d *Daemon) logSandbox() {
	mode, why := d.sandbox.Mode(), d.sandbox.Why()
	switch d.sandbox.Fate() {
	case builtin.FateConfined:
		d.Logger.Info("shell commands run in a sandbox", "sandbox", mode, "note", why, "hidden_credentials", d.sandbox.Credentials())
	case builtin.FateRefuse:
		d.Logger.Error("shell commands are refused", "sandbox", mode, "note", d.sandbox.Refuses())
	case builtin.FateRun:
		d.Logger.Warn("shell commands run unsandboxed and unasked: they can do whatever this user can", "sandbox", mode, "note", why)
	default:
		d.Logger.Warn("shell commands run unsandboxed, once a person agrees to each: they can do whatever this user can", "sandbox", mode, "note", why)
	}
}
