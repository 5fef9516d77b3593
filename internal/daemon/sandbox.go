package daemon

import (
	"context"
	"os"
	"sync"

	"podd/internal/tools/builtin"
)

// detectSandbox starts to find out which sandbox works, which takes as long as the rest
// of Open. The state directory must exist.
func (d *Daemon) detectSandbox(ctx context.Context) {
	c := d.Settings.Sandbox
	c.Hidden, c.Checkouts = hiddenPaths(d.Config), checkoutDir(d.StateDir)
	var found *builtin.Sandbox
	var wg sync.WaitGroup
	wg.Go(func() {
		d.launcher, d.withoutLauncher = builtin.FindLauncher(ctx)
		c.Launcher = d.launcher
		found = builtin.DetectSandbox(ctx, c)
	})
	d.detected = func() *builtin.Sandbox {
		wg.Wait()
		return found
	}
	d.undo = append(d.undo, func() {
		wg.Wait()
		d.launcher.Close()
	})
}

// openStarter makes the starter of shell commands. In a program that cannot be a shim it
// starts them as children, whose results are lost when the program is killed.
func (d *Daemon) openStarter() {
	starter, err := builtin.OpenStarter(d.Logger, d.launcher)
	if err != nil {
		d.Logger.Debug("commands are children of podd", "note", err)
		return
	}
	d.starter = starter
	d.undo = append(d.undo, starter.Close)
}

// note is the text of an error; empty without one.
func note(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// shell is the setup of the shell tool. Confined is also true with mode "off", by which
// the operator lets commands do everything that this user may, and for commands that podd
// refuses to run: neither needs an approval for the lack of a sandbox.
func (d *Daemon) shell() builtin.Shell {
	return builtin.Shell{
		Starter:  d.starter,
		Sandbox:  d.sandbox,
		Lease:    d.link.commands(),
		Confined: d.sandbox.Fate() != builtin.FateAsk,
		Env:      d.Settings.ShellEnv,
		// Not even a name in env passes on a key of podd's.
		Environ: d.secrets.Environ(os.Environ()),
	}
}

// logSandbox logs what commands run in.
func (d *Daemon) logSandbox() {
	mode, why := d.sandbox.Mode(), d.sandbox.Why()
	if d.withoutLauncher != nil {
		d.Logger.Warn("podd starts commands by its own binary, which takes longer", "note", d.withoutLauncher)
	}
	switch d.sandbox.Fate() {
	case builtin.FateConfined:
		d.Logger.Info("shell commands run in a sandbox", "sandbox", mode, "note", why, "hidden_credentials", d.sandbox.Credentials())
	case builtin.FateRefuse:
		d.Logger.Error("shell commands are refused", "sandbox", mode, "note", d.sandbox.Refuses())
	case builtin.FateRun:
		d.Logger.Warn("shell commands run unsandboxed and without approval: they can do whatever this user can", "sandbox", mode, "note", why)
	default:
		d.Logger.Warn("shell commands run unsandboxed after a person approves each: they can do whatever this user can", "sandbox", mode, "note", why)
	}
}
