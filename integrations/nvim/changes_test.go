//go:build integrations

package nvim

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podd/integrations/rig/neovim"
)

// What the agent changed in files is a diff. It is taken back after a yes, but for what a person
// wrote since.
func TestUndo(t *testing.T) {
	w := newWorld(t, `step
call apply_patch
| {"input": "*** Begin Patch\n*** Add File: new.go\n+package \u202en\n*** Update File: a.go\n@@\n-one\n+two\n*** End Patch"}
step
text Done.
`)
	write(t, w, "a.go", "one\n")
	makePod(t, w)
	e := neovim.Edit(t, w, "a.go")
	e.Lua(`vim.o.autoread = true`)
	said := func(text string) {
		e.AwaitLua(`table.concat(_G.said, '|'):find(` + neovim.Quote(text) + `, 1, true) ~= nil`)
	}
	answer := func(n string) {
		e.Lua(`vim.ui.select = function(list, o, f) _G.asked = o.prompt; f(list[` + n + `]) end`)
	}
	e.Ex("Podd undo")
	said("has no changes of files")
	e.Ex("Podd diff x")
	said("x is not the number of a turn")
	e.Ex("Podd submit go")
	e.Await("turn 1 finished")
	a, made := filepath.Join(w.Workspace, "a.go"), filepath.Join(w.Workspace, "new.go")
	e.Ex("Podd diff")
	e.AwaitLua(`vim.bo.filetype == 'diff'`)
	got := e.Lua(`return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')`)
	for _, want := range []string{
		"what pod p changed in files\n", "--- " + a + "\n+++ " + a + "\n@@ -1 +1 @@\n-one\n+two",
		"--- /dev/null\n+++ " + made + "\n@@ -0,0 +1 @@\n+package \\u202en",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the diff is\n%s\nwithout %q", got, want)
		}
	}
	e.Ex("bwipeout")
	answer("2")
	e.Ex("Podd undo")
	e.AwaitLua(`_G.asked ~= nil`)
	if got := e.Lua(`return _G.asked`); got != "Take back the changes of turn 1 in 2 paths?" {
		t.Errorf("Neovim asks %q", got)
	}
	write(t, w, "new.go", "mine\n")
	answer("1")
	e.Ex("Podd undo")
	said("took back changes in 1 path")
	if got := e.Lua(`return _G.asked`); !strings.HasPrefix(got, "Take back the changes of turn 1 in 1 path? "+made+" stays: it ") {
		t.Errorf("Neovim asks %q", got)
	}
	e.AwaitLua(`vim.api.nvim_buf_get_lines(vim.fn.bufnr('a.go'), 0, -1, false)[1] == 'one'`)
	for path, want := range map[string]string{a: "one\n", made: "mine\n"} {
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v", path, got, err)
		}
	}
}
