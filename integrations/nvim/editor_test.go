//go:build integrations

// Package nvim drives the Neovim plugin of plugins/nvim in a headless Neovim against a real
// podd.
package nvim

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"podd/integrations/rig"
	"podd/pkg/llm/scripted"
)

// newWorld starts a podd whose model follows a script.
func newWorld(t *testing.T, script string) *rig.World {
	t.Helper()
	s, err := scripted.Parse(strings.NewReader(script))
	if err != nil {
		t.Fatal(err)
	}
	return rig.New(t, s.Reply)
}

// editor is a headless Neovim with the plugin.
type editor struct {
	t      *testing.T
	world  *rig.World
	cmd    *exec.Cmd
	socket string
}

// edit starts a Neovim in the workspace. It is ended with the test.
func edit(t *testing.T, w *rig.World, args ...string) *editor {
	t.Helper()
	e := &editor{t: t, world: w, socket: filepath.Join(w.Dir, "nvim.sock")}
	e.cmd = w.Command("nvim", append([]string{
		"--headless", "--clean", "-n", "-i", "NONE", "--listen", e.socket,
		"--cmd", "set runtimepath^=" + filepath.Join(rig.Root(), "plugins", "nvim"),
	}, args...)...)
	if err := e.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.quit)
	rig.Await(t, "Neovim", func() bool {
		return w.Command("nvim", "--server", e.socket, "--remote-expr", "1").Run() == nil
	})
	// What a person would be asked is kept for the test to answer, and what would be said.
	e.lua(`_G.said = {}
		vim.notify = function(text) table.insert(_G.said, text) end
		vim.ui.select = function(items, o, done)
			_G.asked = { prompt = o.prompt, texts = vim.tbl_map(o.format_item or tostring, items), items = items, done = done }
		end
		vim.ui.input = function(o, done) _G.typing = { prompt = o.prompt, done = done } end`)
	return e
}

func (e *editor) quit() {
	if e.cmd != nil {
		_ = exec.Command("nvim", "--server", e.socket, "--remote-expr", "execute('qall!')").Run()
		_ = e.cmd.Wait()
		e.cmd = nil
	}
}

// expr is the value of an expression, as text. Neovim 0.7 prints it to standard error, as
// a message, later ones to standard output; as JSON it survives both.
func (e *editor) expr(expression string) string {
	e.t.Helper()
	out, err := e.world.Command("nvim", "--server", e.socket, "--remote-expr", "json_encode("+expression+")").CombinedOutput()
	var value any
	if err == nil {
		err = json.Unmarshal(out, &value)
	}
	if err != nil {
		e.t.Fatalf("%s: %v\n%s", expression, err, out)
	}
	return fmt.Sprint(value)
}

// quote is a text as an expression.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// lua runs code and gives what it returns.
func (e *editor) lua(code string) string {
	e.t.Helper()
	return e.expr(fmt.Sprintf("luaeval(%s)", quote("(function() "+code+"\nend)()")))
}

// ex runs a command.
func (e *editor) ex(command string) {
	e.t.Helper()
	if out := e.expr("execute(" + quote(command) + ")"); strings.Contains(out, "Error") {
		e.t.Fatalf("%s: %s", command, out)
	}
}

// keys types.
func (e *editor) keys(keys string) {
	e.t.Helper()
	rig.Run(e.t, e.world.Command("nvim", "--server", e.socket, "--remote-send", keys))
}

// stream is the text of the stream buffer of pod p.
func (e *editor) stream() string {
	e.t.Helper()
	return e.expr(`join(getbufline('^podd://p$', 1, '$'), "\n")`)
}

// await waits until the stream buffer has a text.
func (e *editor) await(text string) {
	e.t.Helper()
	last := ""
	defer func() {
		if e.t.Failed() {
			e.t.Logf("the buffer:\n%s\nsaid: %s", last, e.lua(`return vim.inspect(_G.said)`))
		}
	}()
	rig.Await(e.t, fmt.Sprintf("%q", text), func() bool {
		last = e.stream()
		return strings.Contains(last, text)
	})
}

// awaitLua waits until code returns true.
func (e *editor) awaitLua(code string) {
	e.t.Helper()
	rig.Await(e.t, code, func() bool { return e.lua("return ("+code+") and 1 or 0") == "1" })
}

// lineOf is the number of the first line of the current buffer that holds a text.
func (e *editor) lineOf(text string) string {
	e.t.Helper()
	n := e.lua(fmt.Sprintf(`for i, l in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
		if l:find(%q, 1, true) then return i end end return 0`, text))
	if n == "0" {
		e.t.Fatalf("no line of the buffer holds %q:\n%s", text, e.stream())
	}
	return n
}
