//go:build integrations

package nvim

import (
	"os"
	"path/filepath"
	"testing"

	"podd/integrations/rig/neovim"
)

// A few letters of a path in their order find it, in the prompt and on the command line, also
// while more of them are typed; what has none of them is not offered.
func TestLettersOfAPath(t *testing.T) {
	w := newWorld(t, hello)
	makePod(t, w)
	if err := os.MkdirAll(filepath.Join(w.Workspace, "sub", "deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"sub/deep/target.go", "sub/other.go", "README.md"} {
		write(t, w, name, "one\n")
	}
	e := neovim.Edit(t, w)
	e.Ex("Podd open p")
	e.Await("[idle]")
	e.Keys("isee @sdtg<C-x><C-o><Esc>")
	e.AwaitLua(`vim.api.nvim_get_current_line() == 'see @sub/deep/target.go'`)
	e.Ex("set completeopt=menuone,noselect")
	e.Keys("A and @tg<C-x><C-o>")
	e.AwaitLua(`#vim.fn.complete_info({ 'items' }).items == 2`)
	e.Keys("e")
	e.AwaitLua(`#vim.fn.complete_info({ 'items' }).items == 1`)
	e.Keys("<Esc>")
	for letters, want := range map[string]string{"@sdtg": "@sub/deep/target.go", "@rdm": "@README.md", "@zzz": ""} {
		if got := e.Expr(`join(getcompletion('Podd submit ` + letters + `', 'cmdline'))`); got != want {
			t.Errorf("the command line completes %s as %q", letters, got)
		}
	}
}
