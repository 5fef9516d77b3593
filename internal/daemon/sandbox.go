package daemon

import (
	"context"
	"os"
	"sync"

	"podd/internal/commands/launcher"
	"podd/internal/commands/shim"
	"podd/internal/guard/sandbox"
	"podd/internal/shell"
)

// detectSandbox starts to find out which sandbox works, which takes as long as the rest
// of Open. The state directory must exist.
func (d *Daemon) detectSandbox(ctx context.Context) {
	c := d.Settings.Sandbox
	c.Hidden, c.Checkouts = hiddenPaths(d.Config), checkoutDir(d.StateDir)
	var found *sandbox.Sandbox
	var wg sync.WaitGroup
	wg.Go(func() {
		d.launcher, d.withoutLauncher = launcher.Find(ctx)
		c.Launcher = d.launcher
		found = sandbox.Detect(ctx, c)
	})
	d.detected = func() *sandbox.Sandbox {
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
	starter, err := shim.Open(d.Logger, d.launcher)
	if err != nil {
		d.Logger.Debug("commands are children of podd", "note", err)
		return
	}
	d.starter = starter
	d.undo = append(d.undo, func() {
		if d.leaves() {
			starter.Leave()
		}
		starter.Close()
	})
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
func (d *Daemon) shell() shell.Config {
	return shell.Config{
		Starter:  d.starter,
		Sandbox:  d.sandbox,
		Lease:    d.fleet.Commands(),
		Confined: d.sandbox.Fate() != sandbox.Ask,
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
	case sandbox.Confined:
		d.Logger.Info("shell commands run in a sandbox", "sandbox", mode, "note", why, "hidden_credentials", d.sandbox.Credentials())
	case sandbox.Refuse:
		d.Logger.Error("shell commands are refused", "sandbox", mode, "note", d.sandbox.Refuses())
	case sandbox.Run:
		d.Logger.Warn("shell commands run unsandboxed and without approval: they can do whatever this user can", "sandbox", mode, "note", why)
	default:
		d.Logger.Warn("shell commands run unsandboxed after a person approves each: they can do whatever this user can", "sandbox", mode, "note", why)
	}
}
