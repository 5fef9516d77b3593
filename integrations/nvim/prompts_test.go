//go:build integrations

package nvim

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podd/integrations/rig"
	"podd/integrations/rig/neovim"
)

// A prompt that begins with /NAME is the person's own prompt of that name, which the prompt buffer and the command line complete.
// Other text with a slash stays as it is.
func TestOwnPrompts(t *testing.T) {
	w := newWorld(t, hello)
	makePod(t, w)
	if err := os.MkdirAll(filepath.Join(w.Workspace, ".claude", "commands"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, w, ".claude/commands/lint.md", "Lint $1 well.\n")
	e := neovim.Edit(t, w)
	e.Ex("Podd open p")
	e.Await("[idle]")
	if got := e.Expr(`join(getcompletion('Podd submit /l', 'cmdline'))`); got != "/lint" {
		t.Errorf("the command line completes /l as %q", got)
	}
	e.Keys("i/l<C-x><C-o><Esc>")
	e.AwaitLua(`vim.api.nvim_get_current_line() == '/lint'`)
	e.Keys("A all<Esc>")
	e.Ex("w")
	e.AwaitLua(`vim.api.nvim_get_current_line() == ''`)
	e.Ex("Podd submit /no/such is a path")
	rig.Await(t, "the prompts", func() bool {
		log := w.Podctl("tail", "p", "--after", "0")
		return strings.Contains(log, "Lint all well.") && strings.Contains(log, "/no/such is a path")
	})
}
