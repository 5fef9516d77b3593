//go:build integrations

package nvim

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podd/integrations/rig/neovim"
)

// A call that waits is one notice of one Neovim, which an answer given elsewhere takes back,
// together with the window that shows the call.
func TestNotices(t *testing.T) {
	w := newWorld(t, "step\ncall shell {\"command\": \"echo one\"}\notherwise\ntext Fine.\n")
	makePod(t, w, "--ask", "always")
	other := filepath.Join(w.Dir, "other")
	if err := os.Mkdir(other, 0o755); err != nil {
		t.Fatal(err)
	}
	w.Podctl("create", "other", "--dir", other)
	record := func(e *neovim.Editor) {
		e.Lua(`vim.notify = function(text, _, o)
			if not text:find('approval', 1, true) then return end
			table.insert(_G.said, (o and o.replace and 'took back: ' or '') .. text)
			return { text }
		end`)
	}
	follows, bystander := neovim.Edit(t, w), neovim.Edit(t, w)
	record(follows)
	record(bystander)
	bystander.Ex("Podd open other")
	follows.Ex("Podd open p")
	follows.Await("[idle]")
	follows.Ex("quit | enew")
	w.Podctl("submit", "-p", "p", "go")
	const notice = "podd: a call of pod p needs approval: :Podd approvals"
	follows.AwaitLua(`#_G.said > 0`)
	follows.Ex("Podd approvals")
	follows.AwaitLua(`vim.fn.search('\\[q\\] later', 'n') > 0`)
	var waits struct {
		Pod  string `json:"pod"`
		Call string `json:"call_seq"`
	}
	if err := json.Unmarshal([]byte(w.Podctl("approvals", "p", "-o", "json")), &waits); err != nil {
		t.Fatal(err)
	}
	if got := bystander.Lua(`return require('podd.claim').take('` + waits.Pod + "-" + waits.Call + `') and 1 or 0`); got != "0" {
		t.Error("two Neovims have a claim to one question")
	}
	w.Podctl("update", "other", "--ask", "always")
	bystander.Ex("quit | enew")
	w.Podctl("submit", "-p", "other", "go")
	bystander.AwaitLua(`#_G.said > 0`)
	if said := bystander.Lua(`return table.concat(_G.said, '|')`); said != "podd: a call of pod other needs approval: :Podd approvals" {
		t.Errorf("the other Neovim says %q", said)
	}
	w.Podctl("deny", "p", waits.Call)
	follows.AwaitLua(`#vim.api.nvim_list_wins() == 1 and #_G.said > 1`)
	if said := follows.Lua(`return table.concat(_G.said, '|')`); said != notice+"|took back: "+notice+": answered" {
		t.Errorf("Neovim says %q", said)
	}
	// The one that is left takes over.
	bystander.Quit()
	follows.AwaitLua(`_G.said[3] == 'podd: a call of pod other needs approval: :Podd approvals'`)
}

// A long turn that finishes out of sight, and an alert, are one notice of the Neovim that follows the
// pod; alerts from before are counted by one.
func TestEndsAndAlertsNotify(t *testing.T) {
	const until = "\nstep\ncall shell {\"command\": \"until [ -e gate ]; do sleep 0.05; done; rm gate\"}\nstep\ntext Fine.\n"
	w := newWorld(t, "on \"lost\""+until+"on \"hold\""+until+"otherwise\ntext Fine.\n")
	makePod(t, w)
	other := filepath.Join(w.Dir, "other")
	if err := os.Mkdir(other, 0o755); err != nil {
		t.Fatal(err)
	}
	w.Podctl("create", "other", "--dir", other)
	w.Podctl("submit", "-p", "other", "-f", "see @./missing.txt")
	// long lets a turn of a pod run until the editor that follows it has seen it running.
	long := func(e *neovim.Editor, pod, dir, text string) {
		t.Helper()
		w.Podctl("submit", "-p", pod, text)
		e.AwaitLua(`vim.fn.getbufline('^podd://` + pod + `$', '$')[1] == '[running]'`)
		if err := os.WriteFile(filepath.Join(dir, "gate"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	said := func(e *neovim.Editor) string { return e.Lua(`return table.concat(_G.said, '|')`) }
	const unseen = "podd: 1 unacknowledged alert: :Podd alerts"
	bystander := neovim.Edit(t, w)
	bystander.Lua(`require('podd.notice').LONG = 0`)
	bystander.Ex("Podd open other")
	bystander.AwaitLua(`#_G.said > 0`)
	follows := neovim.Edit(t, w)
	follows.Lua(`require('podd.notice').LONG = 0`)
	follows.Ex("Podd open p")
	follows.Await("[idle]")
	w.Podctl("submit", "-p", "p", "-f", "in sight")
	follows.Await("turn 1 finished")
	follows.Ex("quit | enew")
	long(follows, "p", w.Workspace, "see @./lost.txt")
	follows.AwaitLua(`#_G.said > 1`)
	if got := said(follows); !strings.Contains(got, "podd: warn: @./lost.txt is sent as text") || !strings.HasSuffix(got, "|podd: p finished turn 2") {
		t.Errorf("Neovim says %q", got)
	}
	id := strings.TrimSpace(follows.Lua(`for _, name in ipairs(vim.fn.readdir((vim.env.XDG_CACHE_HOME or vim.env.HOME .. '/.cache') .. '/podd/notices')) do
		local id = name:match('^end%-(.+)%-2$')
		if id then return id end end`))
	if got := bystander.Lua(`return require('podd.claim').take('end-` + id + `-2') and 1 or 0`); got != "0" {
		t.Error("two Neovims have a claim to one end")
	}
	bystander.Ex("quit | enew")
	long(bystander, "other", other, "hold")
	bystander.AwaitLua(`#_G.said > 1`)
	if got := said(bystander); got != unseen+"|podd: other finished turn 2" {
		t.Errorf("the other Neovim says %q", got)
	}
}

// An alert that is acknowledged elsewhere no longer counts, and its notice is taken back.
func TestAcknowledgedElsewhere(t *testing.T) {
	w := newWorld(t, "otherwise\ntext Fine.\n")
	makePod(t, w)
	w.Podctl("submit", "-p", "p", "-f", "see @./before.txt")
	e := neovim.Edit(t, w)
	e.Lua(`vim.notify = function(text, _, o)
		table.insert(_G.said, (o and o.replace and 'took back: ' or '') .. text)
		return { text }
	end`)
	said := func(want ...string) {
		t.Helper()
		e.AwaitLua(fmt.Sprintf(`#_G.said >= %d`, len(want)))
		if got := e.Lua(`return table.concat(_G.said, '|')`); got != strings.Join(want, "|") {
			t.Errorf("Neovim says %q, want %q", got, want)
		}
	}
	ack := func() {
		t.Helper()
		for line := range strings.Lines(w.Podctl("alerts", "-o", "json")) {
			var alert struct{ Seq string }
			if err := json.Unmarshal([]byte(line), &alert); err != nil {
				t.Fatal(err)
			}
			w.Podctl("alerts", "ack", alert.Seq)
		}
	}
	e.Ex("Podd open p")
	e.Await("[idle]")
	const count, after = "podd: 1 unacknowledged alert: :Podd alerts", "podd: warn: @./after.txt is sent as text"
	said(count)
	ack()
	said(count, "took back: "+count+": acknowledged")
	w.Podctl("submit", "-p", "p", "-f", "see @./after.txt")
	e.AwaitLua(`#_G.said == 3`)
	if got := e.Lua(`return _G.said[3]`); !strings.HasPrefix(got, after) {
		t.Errorf("Neovim says %q", got)
	}
	ack()
	e.AwaitLua(`#_G.said == 4 and _G.said[4] == 'took back: ' .. _G.said[3] .. ': acknowledged'`)
	if n := e.Lua(`return require('podd.ask').unacknowledged()`); n != "0" {
		t.Errorf("%s alerts are unacknowledged, want 0", n)
	}
}

// The Markdown of an answer has colours, and its text stays as it is.
func TestMarkdown(t *testing.T) {
	w := newWorld(t, "step\ntext # Head\n| - an `a*b*c` and **bold** of snake_case_names\n| ```go\n| x **no**\n| ```\n| *em* [l](http://e.org)\n")
	makePod(t, w)
	e := neovim.Edit(t, w)
	e.Ex("Podd submit go")
	e.Await("turn 1 finished")
	e.Await("\n  # Head\n  - an `a*b*c` and **bold** of snake_case_names\n  ```go\n  x **no**\n  ```\n  *em* [l](http://e.org)\n")
	got := e.Lua(`local b, out = vim.fn.bufnr('^podd://p$'), {}
		for _, m in ipairs(vim.api.nvim_buf_get_extmarks(b, vim.api.nvim_get_namespaces().podd, 0, -1, { details = true })) do
			local line = vim.api.nvim_buf_get_lines(b, m[2], m[2] + 1, false)[1]
			if line:sub(1, 2) == '  ' then
				table.insert(out, m[4].hl_group:gsub('Podd', '') .. ':' .. line:sub(m[3] + 1, m[4].end_col))
			end
		end
		return table.concat(out, '|')`)
	const want = "Heading:# Head|Bullet:- |Code:`a*b*c`|Strong:**bold**|Code:```go|Code:x **no**|Code:```|Emphasis:*em*|Link:[l](http://e.org)"
	if got != want {
		t.Errorf("the colours are\n%s, want\n%s", got, want)
	}
}

// An edit that waits is a diff in a tab, whose keys answer it; an answer given elsewhere closes it.
func TestDiffOfAnEdit(t *testing.T) {
	w := newWorld(t, `step
call write_file {"path": "a.go", "content": "package a\n\nvar x = 2\n"}
step
text Wrote it.
on "edit"
step
call edit_file {"path": "a.go", "old": "x = 2", "new": "x = 3"}
step
text Edited it.
on "patch"
step
call apply_patch
| {"input": "*** Begin Patch\n*** Update File: a.go\n@@ package a\n \n-var x = 3\n+var x = 4\n*** Add File: b.go\n+package a\n*** End Patch"}
step
text Patched it.
`)
	makePod(t, w, "--ask", "always")
	e := neovim.Edit(t, w)
	e.Ex("Podd open p")
	e.Await("[idle]")
	text := func(win string) string { return side(e, win) }
	open := func(pod, before, after string) {
		t.Helper()
		e.Await("[asks (1 approval)]")
		e.Ex(e.LineOf("? call "))
		e.Keys("D")
		e.AwaitLua(`#vim.api.nvim_list_tabpages() == 2 and vim.wo.diff and vim.bo.filetype == 'go'`)
		if old, now := text("1"), text("2"); old != before || now != after {
			t.Errorf("the diff is of %q and %q", old, now)
		}
	}
	w.Podctl("submit", "-p", "p", "go")
	open("p", "", "package a||var x = 2")
	e.Keys("a")
	e.AwaitLua(`#vim.api.nvim_list_tabpages() == 1 and not vim.wo.diff`)
	e.Await("Wrote it.")
	e.Await("[idle]")
	w.Podctl("submit", "-p", "p", "edit")
	open("p", "package a||var x = 2", "package a||var x = 3")
	var waits struct {
		Call string `json:"call_seq"`
	}
	if err := json.Unmarshal([]byte(w.Podctl("approvals", "p", "-o", "json")), &waits); err != nil {
		t.Fatal(err)
	}
	w.Podctl("approve", "p", waits.Call)
	e.AwaitLua(`#vim.api.nvim_list_tabpages() == 1 and not vim.wo.diff`)
	e.Await("Edited it.")
	e.Await("[idle]")
	w.Podctl("submit", "-p", "p", "patch")
	e.Await("[asks (1 approval)]")
	e.Ex(e.LineOf("? call "))
	e.Keys("D")
	e.AwaitLua(`#vim.api.nvim_list_tabpages() == 3 and vim.wo.diff`)
	shown := []string{text("2")}
	e.Ex("tabnext")
	shown = append(shown, text("2"))
	e.Keys("a")
	e.AwaitLua(`#vim.api.nvim_list_tabpages() == 1`)
	e.Await("Patched it.")
	for i, file := range []string{"a.go", "b.go"} {
		got, err := os.ReadFile(filepath.Join(w.Workspace, file))
		if want := strings.ReplaceAll(shown[i], "|", "\n") + "\n"; err != nil || string(got) != want {
			t.Errorf("%s is %q, shown as %q: %v", file, got, want, err)
		}
	}
}
