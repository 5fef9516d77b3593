//go:build integrations

// Package neovim drives the plugin of plugins/nvim in a headless Neovim.
package neovim

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"podd/integrations/rig"
)

// Editor is a headless Neovim with the plugin.
type Editor struct {
	t      testing.TB
	world  *rig.World
	cmd    *exec.Cmd
	socket string
}

// started counts them, for the names of their sockets.
var started atomic.Int64

// Edit starts a Neovim in the workspace. It ends with the test.
func Edit(t *testing.T, w *rig.World, args ...string) *Editor {
	t.Helper()
	e := &Editor{t: t, world: w, socket: filepath.Join(w.Dir, fmt.Sprintf("nvim%d.sock", started.Add(1)))}
	e.cmd = w.Command("nvim", append([]string{
		"--headless", "--clean", "-n", "-i", "NONE", "--listen", e.socket,
		"--cmd", "set runtimepath^=" + filepath.Join(rig.Root(), "plugins", "nvim"),
	}, args...)...)
	if err := e.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Quit)
	rig.Await(t, "Neovim", func() bool {
		return w.Command("nvim", "--server", e.socket, "--remote-expr", "1").Run() == nil
	})
	// Questions to a person wait for the test's answers; messages to a person are kept.
	e.Lua(`_G.said = {}
		vim.notify = function(text) table.insert(_G.said, text) end
		vim.ui.select = function(items, o, done)
			_G.asked = { prompt = o.prompt, texts = vim.tbl_map(o.format_item or tostring, items), items = items, done = done }
		end
		vim.ui.input = function(o, done) _G.typing = { prompt = o.prompt, done = done } end`)
	return e
}

// Quit ends it.
func (e *Editor) Quit() {
	if e.cmd != nil {
		_ = exec.Command("nvim", "--server", e.socket, "--remote-expr", "execute('qall!')").Run()
		_ = e.cmd.Wait()
		e.cmd = nil
	}
}

// Kill kills it.
func (e *Editor) Kill() {
	if e.cmd != nil {
		_ = e.cmd.Process.Kill()
		_ = e.cmd.Wait()
		e.cmd = nil
	}
}

// Expr is the value of an expression, as text. It comes by a file: Neovim 0.7 prints it as a
// message, which it shortens.
func (e *Editor) Expr(expression string) string {
	e.t.Helper()
	answer := e.socket + ".answer"
	said, err := e.world.Command("nvim", "--server", e.socket, "--remote-expr", "writefile([json_encode("+expression+")], "+Quote(answer)+")").CombinedOutput()
	var out []byte
	if err == nil {
		out, err = os.ReadFile(answer)
	}
	var value any
	if err == nil {
		err = errors.Join(json.Unmarshal(out, &value), os.Remove(answer))
	}
	if err != nil {
		e.t.Fatalf("%s: %v\n%s%s", expression, err, out, said)
	}
	return fmt.Sprint(value)
}

// Quote is a text as an expression.
func Quote(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// Lua runs code and returns its result.
func (e *Editor) Lua(code string) string {
	e.t.Helper()
	return e.Expr(fmt.Sprintf("luaeval(%s)", Quote("(function() "+code+"\nend)()")))
}

// Ex runs a command.
func (e *Editor) Ex(command string) {
	e.t.Helper()
	if out := e.Expr("execute(" + Quote(command) + ")"); strings.Contains(out, "Error") {
		e.t.Fatalf("%s: %s", command, out)
	}
}

// Keys types keys.
func (e *Editor) Keys(keys string) {
	e.t.Helper()
	rig.Run(e.t, e.world.Command("nvim", "--server", e.socket, "--remote-send", keys))
}

// Stream is the text of the stream buffer of pod p.
func (e *Editor) Stream() string {
	e.t.Helper()
	return e.Expr(`join(getbufline('^podd://p$', 1, '$'), "\n")`)
}

// Await waits until the stream buffer contains a text.
func (e *Editor) Await(text string) {
	e.t.Helper()
	last := ""
	defer func() {
		if e.t.Failed() {
			e.t.Logf("the buffer:\n%s\nsaid: %s", last, e.Lua(`return vim.inspect(_G.said)`))
		}
	}()
	rig.Await(e.t, fmt.Sprintf("%q", text), func() bool {
		last = e.Stream()
		return strings.Contains(last, text)
	})
}

// AwaitLua waits until code returns true.
func (e *Editor) AwaitLua(code string) {
	e.t.Helper()
	rig.Await(e.t, code, func() bool { return e.Lua("return ("+code+") and 1 or 0") == "1" })
}

// LineOf is the number of the first line of the current buffer that contains a text.
func (e *Editor) LineOf(text string) string {
	e.t.Helper()
	n, ok := e.FindLine(text)
	if !ok {
		e.t.Fatalf("no line of the buffer holds %q:\n%s", text, e.Stream())
	}
	return n
}

// FindLine is LineOf for a text that may be missing.
func (e *Editor) FindLine(text string) (n string, ok bool) {
	e.t.Helper()
	n = e.Lua(fmt.Sprintf(`for i, l in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
		if l:find(%q, 1, true) then return i end end return 0`, text))
	return n, n != "0"
}
