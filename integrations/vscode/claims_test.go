//go:build integrations

package vscode

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"testing"

	"podd/integrations/rig"
	"podd/integrations/rig/neovim"
)

// claimer is a process with the extension's claims.
type claimer struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.Writer
	out *bufio.Scanner
}

func newClaimer(t *testing.T, w *rig.World) *claimer {
	t.Helper()
	c := &claimer{t: t, cmd: w.Command("node", filepath.Join(rig.Root(), "plugins", "vscode", "dist", "test", "claims.js"))}
	in, inErr := c.cmd.StdinPipe()
	out, outErr := c.cmd.StdoutPipe()
	if inErr != nil || outErr != nil || c.cmd.Start() != nil {
		t.Fatal("node does not start")
	}
	c.in, c.out = in, bufio.NewScanner(out)
	t.Cleanup(c.kill)
	return c
}

func (c *claimer) kill() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
}

func (c *claimer) take(key string) bool {
	c.t.Helper()
	if _, err := fmt.Fprintln(c.in, key); err != nil || !c.out.Scan() {
		c.t.Fatal("node does not answer:", err)
	}
	return c.out.Text() == "true"
}

// VS Code and Neovim agree on who gives a notice, in both directions and also when the one that
// has the claim is killed.
func TestClaimsOfBothEditors(t *testing.T) {
	w := asking(t)
	rig.Run(t, npm(t, w, "run", "pretest"))
	vim := neovim.Edit(t, w)
	takes := func(key string) bool {
		return vim.Lua("return require('podd.claim').take("+neovim.Quote(key)+") and 1 or 0") == "1"
	}
	one, two := newClaimer(t, w), newClaimer(t, w)
	const alert = "alert-7-2026-11-24T04:26:34"
	if key := vim.Lua("return require('podd.claim').alert({ seq = '7', time = '2026-11-24T04:26:34.585Z' })"); key != alert {
		t.Errorf("Neovim's key of an alert is %q", key)
	}
	for _, step := range []struct {
		what      string
		got, want bool
	}{
		{"VS Code takes the first", one.take(alert), true},
		{"Neovim takes it too", takes(alert), false},
		{"Neovim takes the second", takes("pod_a-12"), true},
		{"VS Code takes it too", one.take("pod_a-12"), false},
	} {
		if step.got != step.want {
			t.Errorf("%s: %v", step.what, step.got)
		}
	}
	one.kill()
	if !takes(alert) || two.take(alert) {
		t.Error("not exactly one succeeds the killed window")
	}
	vim.Kill()
	if !two.take(alert) || !two.take("pod_a-12") {
		t.Error("no editor takes over from the killed Neovim")
	}
	if newClaimer(t, w).take(alert) {
		t.Error("two windows have one claim")
	}
}
