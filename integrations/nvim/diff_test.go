//go:build integrations

package nvim

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podd/integrations/rig/neovim"
)

// A side of the diff in the current tab: its lines, joined by |, without a last line break.
func side(e *neovim.Editor, win string) string {
	return e.Lua(`local w = vim.api.nvim_tabpage_list_wins(0)[` + win + `]
		return w and table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(w), 0, -1, false), '|') or ''`)
}

// title is that of a proposal.
func title(e *neovim.Editor) string {
	return e.Lua(`return vim.wo[vim.api.nvim_tabpage_list_wins(0)[2]].statusline`)
}

// A question about several files is a tab for each: one that is made, one that goes, one that moves.
// What a diff does not show has a sentence.
func TestDiffsOfAPatch(t *testing.T) {
	w := newWorld(t, `step
call apply_patch
| {"input": "*** Begin Patch\n*** Add File: new.go\n+package n\n*** Delete File: old.go\n*** Update File: a.go\n*** Move to: b.go\n@@\n one\n-two\n+2\n*** End Patch"}
step
text Done.
on "large"
step
call write_file {"path": "b.go", "content": "`+strings.Repeat("0123456789abcdef\\n", 6000)+`"}
step
text Wrote it.
`)
	write(t, w, "old.go", "gone\n")
	write(t, w, "a.go", strings.Repeat("above\n", 20)+"one\ntwo\n")
	makePod(t, w, "--ask", "always")
	e := neovim.Edit(t, w)
	e.Ex("Podd open p")
	e.Await("[idle]")
	w.Podctl("submit", "-p", "p", "go")
	e.Await("[asks (1 approval)]")
	e.Ex(e.LineOf("? call "))
	e.Keys("D")
	e.AwaitLua(`#vim.api.nvim_list_tabpages() == 4 and vim.wo.diff`)
	var got []string
	for range 3 {
		got = append(got, side(e, "1")+" > "+side(e, "2")+" > "+title(e))
		e.Ex("tabnext")
	}
	above := strings.Repeat("above|", 20)
	want := []string{
		" > package n > pod p proposes to create it",
		"gone >  > pod p proposes to delete it",
		above + "one|two > " + above + "one|2 > pod p proposes to move it to b.go",
	}
	for _, one := range want {
		if !strings.Contains(strings.Join(got, "\n"), one) {
			t.Errorf("the diffs are\n%s, want\n%s", strings.Join(got, "\n"), one)
		}
	}
	e.Ex("tabfirst | tabnext")
	e.Keys("a")
	e.AwaitLua(`#vim.api.nvim_list_tabpages() == 1`)
	e.Await("Done.")
	e.Await("[idle]")
	w.Podctl("submit", "-p", "p", "large")
	e.Await("[asks (1 approval)]")
	e.Ex(e.LineOf("? call "))
	e.Keys("D")
	e.AwaitLua(`#vim.api.nvim_list_tabpages() == 2 and vim.wo.diff`)
	if got := title(e); !strings.Contains(got, "more lines of the diff (") || !strings.Contains(got, "bytes) are left out)") {
		t.Errorf("the title is %q", got)
	}
	if got := side(e, "2"); !strings.HasSuffix(got, "bytes) are left out") {
		t.Errorf("the proposal ends with %q", got[max(len(got)-200, 0):])
	}
	e.Keys("d")
}

// If a file changes before the answer, podd asks again, and the new diff opens.
func TestDiffOfAChangedFile(t *testing.T) {
	w := newWorld(t, `step
call edit_file {"path": "a.go", "old": "x = 2", "new": "x = 3"}
step
text Edited it.
`)
	write(t, w, "a.go", "package a\n\nvar x = 2\n")
	makePod(t, w, "--ask", "always")
	e := neovim.Edit(t, w)
	e.Ex("Podd open p")
	e.Await("[idle]")
	w.Podctl("submit", "-p", "p", "go")
	e.Await("[asks (1 approval)]")
	e.Ex(e.LineOf("? call "))
	e.Keys("D")
	e.AwaitLua(`#vim.api.nvim_list_tabpages() == 2 and vim.wo.diff`)
	write(t, w, "a.go", "package b\n\nvar x = 2\n")
	e.Keys("a")
	e.AwaitLua(`#vim.api.nvim_list_tabpages() == 2 and vim.wo.diff and vim.fn.getline(1) == 'package b'`)
	if old, now := side(e, "1"), side(e, "2"); old != "package b||var x = 2" || now != "package b||var x = 3" {
		t.Errorf("the diff is of %q and %q", old, now)
	}
	if said := e.Lua(`return table.concat(_G.said, '|')`); !strings.Contains(said, "podd: a file has changed: podd asks again") {
		t.Errorf("Neovim says %q", said)
	}
	// The keys answer once a person can have read it.
	e.AwaitLua(`(function() vim.api.nvim_feedkeys('a', 'xt', false) return #vim.api.nvim_list_tabpages() == 1 end)()`)
	e.Await("Edited it.")
	if got, err := os.ReadFile(filepath.Join(w.Workspace, "a.go")); err != nil || string(got) != "package b\n\nvar x = 3\n" {
		t.Errorf("a.go is %q: %v", got, err)
	}
}
