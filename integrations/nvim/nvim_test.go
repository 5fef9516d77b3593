//go:build integrations

// Package nvim tests the plugin of plugins/nvim in a headless Neovim against a real podd.
package nvim

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"podd/integrations/rig"
	"podd/integrations/rig/neovim"
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

const hello = `otherwise
text Yes.
`

func write(t *testing.T, w *rig.World, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(w.Workspace, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func makePod(t *testing.T, w *rig.World, args ...string) {
	t.Helper()
	w.Podctl(append([]string{"create", "p", "--dir", w.Workspace}, args...)...)
}

// The buffer follows a submit: text, tool calls in folds, the end of the turn. Control
// and invisible characters show as escapes, and no text can pass for a heading.
func TestSubmitAndFollow(t *testing.T) {
	w := newWorld(t, "step\ntext I will read it.\ncall read_file {\"path\": \"README.md\"}\nstep\ntext Done\x1b[31m \u202eevil\u2066.\n| you  #9\n| tab\there\n")
	makePod(t, w)
	write(t, w, "README.md", "one\ntwo\x1b]0;title\x07\nthree\n")
	e := neovim.Edit(t, w)
	e.Ex("Podd submit explain @README.md")
	e.Await("turn 1 finished")
	e.Await("[idle]")
	text := e.Stream()
	for _, want := range []string{
		"you  #3\n  explain @README.md\n", "\n  I will read it.\n", "\n● read_file  README.md\n", "\n    path: README.md\n",
		"✓ read_file: README.md, 3 lines", `two\x1b]0;title\x07`, "\n  Done\\x1b[31m \\u202eevil\\u2066.\n", "\n  you  #9\n", "\n  tab\there\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the buffer lacks %q:\n%s", want, text)
		}
	}
	if strings.ContainsAny(text, "\x1b\x07\u202e\u2066") {
		t.Errorf("the buffer has %+q", text)
	}
	e.Ex("wincmd p | call win_gotoid(bufwinid('^podd://p$'))")
	for _, head := range []string{"● read_file", "✓ read_file"} {
		if got := e.Expr("foldclosed(" + e.LineOf(head) + ")"); got != e.LineOf(head) {
			t.Errorf("the fold of %q begins at %s", head, got)
		}
	}
	if got := e.Expr("foldclosed(" + e.LineOf("I will read it") + ")"); got != "-1" {
		t.Errorf("text is folded at %s", got)
	}
	if got := e.Lua(`return require('podd').statusline()`); got != "podd p: idle" {
		t.Errorf("the statusline says %q", got)
	}
	if e.Expr("&l:modifiable") != "0" {
		t.Error("the buffer can be changed")
	}
}

// A selection becomes a reference when podd sees the same text in the file, otherwise a
// paste.
func TestSelection(t *testing.T) {
	w := newWorld(t, hello)
	makePod(t, w)
	write(t, w, "main.go", "package main\n\nfunc main() {}\n")
	e := neovim.Edit(t, w, "main.go")
	e.Ex("2,3Podd submit what is this")
	e.Await("turn 1 finished")
	e.Ex("1,1Podd paste and this")
	e.Await("turn 2 finished")
	e.Ex("call setline(1, 'package changed')")
	e.Ex("1Podd submit and now")
	e.Await("turn 3 finished")
	log := w.Podctl("tail", "p", "--after", "0", "-o", "json")
	for _, want := range []string{
		`"segments":[{"text":{"text":"what is this\n"}},{"file_ref":{"path":"main.go","start_line":2,"end_line":3}}]`,
		`"segments":[{"text":{"text":"and this\n"}},{"paste":{"text":"package main\n","name":"main.go:1-1, as it is in the editor"}}]`,
		`"segments":[{"text":{"text":"and now\n"}},{"paste":{"text":"package changed\n","name":"main.go:1-1, as it is in the editor"}}]`,
	} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %s:\n%s", want, log)
		}
	}
}

// The prompt buffer completes @path, and :write submits it.
func TestPrompt(t *testing.T) {
	w := newWorld(t, hello)
	makePod(t, w)
	write(t, w, "README.md", "one\n")
	write(t, w, "a b.txt", "one\n")
	e := neovim.Edit(t, w)
	e.Ex("Podd open p")
	e.Await("[idle]")
	// The keys come at once: none of them reaches Normal mode.
	e.Keys("ilook at @RE<C-x><C-o><Esc>")
	e.AwaitLua(`vim.api.nvim_buf_get_name(0):match('podd://p/prompt$')`)
	e.AwaitLua(`vim.api.nvim_get_current_line() == 'look at @README.md'`)
	e.Keys("A and @a<C-x><C-u><Esc>")
	e.AwaitLua(`vim.api.nvim_get_current_line() == 'look at @README.md and @"a b.txt"'`)
	e.Ex("write")
	e.Await("turn 1 finished")
	e.AwaitLua(`vim.api.nvim_get_current_line() == '' and not vim.bo.modified`)
	if log := w.Podctl("tail", "p", "--after", "0", "-o", "json"); strings.Count(log, `{"file_ref":`) != 2 {
		t.Errorf("the log lacks references:\n%s", log)
	}
	// The command line completes references too.
	if got := e.Expr(`join(getcompletion('Podd submit @RE', 'cmdline'))`); got != "@README.md" {
		t.Errorf("the command line completes %q", got)
	}
	if got := e.Expr(`join(getcompletion('Podd open ', 'cmdline'))`); got != "p" {
		t.Errorf("the command line completes %q", got)
	}
	if got := e.Expr(`join(getcompletion('Podd st', 'cmdline'))`); got != "stats steer stop" {
		t.Errorf("the command line completes %q", got)
	}
}

// :Podd plan switches plan mode for the prompts that follow, and the state line says so. A
// prompt that would steer an idle pod begins a turn that plans as well.
func TestPlan(t *testing.T) {
	w := newWorld(t, hello)
	makePod(t, w)
	e := neovim.Edit(t, w)
	e.Ex("Podd open p")
	e.Await("[idle]")
	e.Ex("Podd plan")
	e.Await("[idle, prompts plan]")
	e.Ex("Podd submit one")
	e.Await("turn 1 finished")
	e.Ex("Podd steer two")
	e.Await("turn 2 finished")
	e.Ex("Podd plan")
	e.Await("[idle]")
	e.Ex("Podd submit three")
	e.Await("turn 3 finished")
	w.Podctl("update", "p", "--plan")
	e.Ex("Podd submit four")
	e.Await("turn 4 finished")
	log := w.Podctl("tail", "p", "--after", "0")
	for _, want := range []string{"turn 1 started (plan)\n", "turn 2 started (plan)\n", "turn 3 started\n", "turn 4 started\n"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %q:\n%s", want, log)
		}
	}
}

// A command applies to the pod on the screen, that of the current buffer, whatever the
// current directory is. An answer to "which pod?" applies to one command.
func TestWhichPod(t *testing.T) {
	w := newWorld(t, hello)
	makePod(t, w)
	other := filepath.Join(w.Dir, "other")
	if err := os.Mkdir(other, 0o755); err != nil {
		t.Fatal(err)
	}
	w.Podctl("create", "other", "--dir", other)
	paused := func(pod string) bool {
		return strings.Contains(w.Podctl("show", pod, "-o", "json"), "POD_STATE_PAUSED")
	}
	e := neovim.Edit(t, w)
	enter := func(command, said string) {
		t.Helper()
		e.Keys(":Podd " + command + "<CR>")
		e.AwaitLua(`table.concat(_G.said):find('` + said + `', 1, true)`)
		e.Lua(`_G.said = {}`)
	}
	e.Ex("Podd open other")
	enter("pause", "paused pod other")
	if !paused("other") || paused("p") {
		t.Error("the pod of the directory was held, not the one on the screen")
	}
	enter("resume", "resumed pod other")
	enter("cancel", "pod other has no running turn")
	e.Keys("i<Esc>")
	e.AwaitLua(`vim.api.nvim_buf_get_name(0):match('podd://other/prompt$')`)
	enter("pause", "paused pod other")
	e.Keys(":only<CR>:enew<CR>")
	e.AwaitLua(`vim.api.nvim_buf_get_name(0) == ''`)
	enter("pause", "paused pod p")

	w.Podctl("create", "second", "--dir", w.Workspace)
	for _, pod := range []string{"p", "second"} {
		e.Keys(":Podd resume<CR>")
		e.AwaitLua(`_G.asked ~= nil`)
		e.Lua(`local a = _G.asked; _G.asked = nil; a.done('` + pod + `')`)
		e.AwaitLua(`table.concat(_G.said):find('resumed pod ` + pod + `', 1, true)`)
	}
	e.Lua(`_G.said = {}`)
	e.Ex("Podd open second")
	e.Keys(":new<CR>")
	e.AwaitLua(`vim.api.nvim_buf_get_name(0) == ''`)
	enter("pause", "paused pod second")
}

// The text before the cursor decides where a reference begins.
func TestStartOfReference(t *testing.T) {
	w := newWorld(t, hello)
	e := neovim.Edit(t, w)
	for line, want := range map[string]string{
		"@": "1", "@RE": "1", "see @RE": "5", "(@a": "2", "a@b": "<nil>", "see @a b": "<nil>", `@"a b`: "1", `@"a b" c`: "<nil>",
		"@a @b": "4", "": "<nil>", "größe @ä": "9",
	} {
		if got := e.Expr("luaeval('require\"podd.prompt\".start_of(_A)', " + neovim.Quote(line) + ")"); got != want {
			t.Errorf("%q: %s, want %s", line, got, want)
		}
	}
}

// Neovim shows waiting calls in full. A key on the call answers it, and so does :Podd
// approvals.
func TestApprovals(t *testing.T) {
	w := newWorld(t, `on "first"
step
call shell {"command": "echo one\necho \u202etwo", "timeout_seconds": 5}
step
text Ran it.
on "second"
step
call shell {"command": "echo three"}
step
text I see.
on "third"
step
call shell {"command": "echo four", "access": "network", "why": "to ask"}
step
text Fine.
on "fourth"
step
call shell {"command": "sh five.sh"}
step
text Five.
`)
	write(t, w, "five.sh", "echo \u202efive\n\nexit 0")
	makePod(t, w, "--ask", "always")
	e := neovim.Edit(t, w)
	e.Ex("Podd open")
	e.Await("[idle]")
	e.Ex("Podd submit first")
	e.Await("[asks (1 approval)]")
	for _, want := range []string{"? call ", " of pod p needs approval: shell", "\n    command:\n    | echo one\n    | echo \\u202etwo\n", "    timeout_seconds: 5", "it contains 1 hidden character,"} {
		if text := e.Stream(); !strings.Contains(text, want) {
			t.Errorf("the buffer lacks %q:\n%s", want, text)
		}
	}
	if got := e.Lua(`return require('podd').statusline()`); !strings.HasPrefix(got, "podd p: asks (1 approval)") {
		t.Errorf("the statusline says %q", got)
	}
	// A key outside of a call answers nothing.
	e.Ex("1")
	e.Keys("a")
	e.AwaitLua(`table.concat(_G.said):find('no call under the cursor waits for you', 1, true)`)
	answer := func(key, then string) {
		t.Helper()
		// Right after a change keys answer nothing.
		rig.Await(t, then, func() bool {
			if line, ok := e.FindLine("? call "); ok {
				e.Ex(line)
				e.Keys(key)
			}
			return strings.Contains(e.Stream(), then) || e.Lua(`return _G.typing and 1 or 0`) == "1"
		})
	}
	answer("a", "· approved by nvim")
	e.Await("Ran it.")
	e.Await("[idle]")

	e.Ex("Podd submit second")
	e.Await("[asks (1 approval)]")
	answer("d", "· denied")
	e.Lua(`_G.typing.done('not\27now')`)
	e.Await("· denied by nvim")
	e.Await(`not\x1bnow`)
	e.Await("I see.")
	e.Await("[idle]")

	e.Ex("Podd submit third")
	e.Await("[asks (1 approval)]")
	e.Ex("Podd approvals")
	e.AwaitLua(`vim.fn.search('\\[a\\] run once', 'n') > 0 and vim.bo.filetype ~= 'podd'`)
	if got := e.Lua(`return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '|')`); !strings.Contains(got, "command: echo four") ||
		!strings.Contains(got, `|  Access "network", why "to ask": the command "echo four" needs approval because `) {
		t.Errorf("the question is %q", got)
	}
	e.Keys("a")
	e.Await("Fine.")
	e.Await("[idle]")

	// Always shows its rule first: without a yes nothing is added, and the call waits.
	rule := `Always: allow, tool "shell", command "sh five.sh"`
	e.Ex("Podd submit fourth")
	e.Await("[asks (1 approval)]")
	if want, text := "    timeout_seconds: 120\n    runs five.sh\n      echo \\u202efive\n      \n      exit 0\n  ! it contains 1 hidden character,", e.Stream(); !strings.Contains(text, want) || strings.Contains(text, "[D]") {
		t.Errorf("the buffer lacks %q:\n%s", want, text)
	}
	for _, choice := range []string{"2", "1"} {
		e.Ex("Podd approvals")
		e.AwaitLua(`vim.fn.search('\\[a\\] run once', 'n') > 0 and vim.bo.filetype ~= 'podd'`)
		e.Lua(`_G.asked = nil`)
		e.Keys("A")
		e.AwaitLua(`_G.asked ~= nil`)
		if got := e.Lua(`return _G.asked.prompt`); got != rule {
			t.Errorf("the rule is %q, want %q", got, rule)
		}
		if got := w.Podctl("rules", "p"); strings.Contains(got, "five.sh") {
			t.Errorf("the rule was added before a yes:\n%s", got)
		}
		e.Lua(`_G.asked.done(_G.asked.items[` + choice + `], ` + choice + `)`)
	}
	e.Await("Five.")
	if got := w.Podctl("rules", "p"); !strings.Contains(got, "five.sh") {
		t.Errorf("no rule was added:\n%s", got)
	}
}

// Neovim counts alerts and shows them; a key on the alert or :Podd alerts acknowledges
// one.
func TestAlerts(t *testing.T) {
	w := newWorld(t, hello)
	makePod(t, w)
	w.Podctl("submit", "-p", "p", "-f", "see @./missing.txt")
	e := neovim.Edit(t, w)
	e.Ex("Podd open p")
	e.Await("! warn: @./missing.txt is sent as text: ")
	e.AwaitLua(`require('podd').statusline() == 'podd p: idle !1'`)
	e.Ex("Podd submit see @./lost.txt")
	e.Await("! warn: @./lost.txt is sent as text: ")
	e.AwaitLua(`require('podd').statusline():match('!2$')`)
	e.Await("turn 2 finished")
	e.Ex(e.LineOf("missing.txt is sent as text"))
	e.Keys("x")
	e.AwaitLua(`require('podd').statusline():match('!1$')`)
	e.Ex("Podd alerts")
	e.AwaitLua(`_G.asked ~= nil and #_G.asked.items == 1`)
	if got := e.Lua(`return _G.asked.texts[1]`); !strings.Contains(got, "lost.txt") {
		t.Errorf("the alert is %q", got)
	}
	e.Lua(`_G.asked.done(_G.asked.items[1])`)
	e.AwaitLua(`require('podd').statusline() == 'podd p: idle'`)
	if out := w.Podctl("alerts", "--unacked"); strings.Contains(out, "warn:") {
		t.Errorf("not acknowledged: %s", out)
	}
}

// The buffer survives the end of podd, of the bridge and of Neovim: no text is lost, and
// none appears twice.
func TestRestarts(t *testing.T) {
	w := newWorld(t, hello)
	makePod(t, w)
	e := neovim.Edit(t, w)
	e.Ex("Podd open p")
	e.Ex("Podd submit number 1")
	e.Await("turn 1 finished")
	w.Kill()
	e.Await("[lost the connection to podd; retrying]")
	e.Ex("Podd use p")
	w.Start()
	e.Await("[idle]")
	e.Ex("Podd submit number 2")
	e.Await("turn 2 finished")
	// Someone kills the bridge.
	e.Lua(`for _, c in ipairs(vim.api.nvim_list_chans()) do
		if c.argv and c.argv[2] == 'bridge' then vim.loop.kill(vim.fn.jobpid(c.id), 'sigkill') end end`)
	w.Podctl("submit", "-p", "p", "-f", "number 3")
	e.Await("turn 3 finished")
	before := e.Stream()
	for _, want := range []string{"number 1", "number 2", "number 3", "turn 1 finished", "turn 2 finished", "turn 3 finished"} {
		if strings.Count(before, want) != 1 {
			t.Errorf("%q appears %d times:\n%s", want, strings.Count(before, want), before)
		}
	}
	e.Quit()
	e = neovim.Edit(t, w, "podd://p")
	e.Await("turn 3 finished")
	e.Await("[idle]")
	if after := e.Stream(); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	w.Podctl("submit", "-p", "p", "-f", "number 4")
	e.Await("turn 4 finished")
}

// A Neovim that starts before podd waits for it.
func TestBeforePodd(t *testing.T) {
	w := newWorld(t, hello)
	makePod(t, w)
	w.Kill()
	e := neovim.Edit(t, w, "podd://p")
	e.Await("[lost the connection to podd; retrying]")
	w.Start()
	e.Await("[idle]")
}

// Unfinished text shows as it grows, and its entry replaces it.
func TestLiveText(t *testing.T) {
	w := newWorld(t, "otherwise\ntext This takes\npause 1h\ntext  a while.\n")
	makePod(t, w)
	e := neovim.Edit(t, w)
	e.Ex("Podd submit go on")
	e.Await("assistant  …\n  This takes")
	e.Ex("Podd cancel")
	e.AwaitLua(`table.concat(_G.said):find('cancelled turn 1 of pod p', 1, true)`)
	e.Await("turn 1 was cancelled")
	e.Await("[idle]")
	if text := e.Stream(); strings.Contains(text, "…") {
		t.Errorf("live text is left:\n%s", text)
	}
	e.Ex("Podd pause")
	e.Await("[paused]")
	e.Ex("Podd resume")
	e.Await("[idle]")
	for _, verb := range []string{"stats", "context"} {
		e.Ex("Podd " + verb)
		e.AwaitLua(`vim.fn.getline(1):find('pod p', 1, true)`)
		e.Ex("bwipeout")
	}
}

// The changes of each shared case add up to its blocks.
func TestBlocksOfSharedCases(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(rig.Root(), "pkg", "transcript", "testdata", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	e := neovim.Edit(t, newWorld(t, hello))
	for _, file := range files {
		var c struct {
			Last   int
			Blocks []any
		}
		text, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(text, &c)
		}
		if err != nil {
			t.Fatal(err)
		}
		if c.Last > 0 {
			continue // Blocks that leave because of their age are not a change.
		}
		said := e.Lua(`local list, c = {}, vim.json.decode(table.concat(vim.fn.readfile(` + neovim.Quote(file) + `), '\n'))
			for _, change in ipairs(c.changes) do require('podd.blocks').change(list, change) end
			return vim.json.encode(vim.tbl_filter(function(b) return b.state ~= 'lost' end, list))`)
		var got []any
		if err := json.Unmarshal([]byte(said), &got); err != nil || !reflect.DeepEqual(got, c.Blocks) {
			t.Errorf("%s: %v\n%v\nwant\n%v", filepath.Base(file), err, got, c.Blocks)
		}
	}
}

// A waiting submit blocks nothing, and the plugin forgets what it knew from a bridge that
// ended.
func TestBlocksThatSettle(t *testing.T) {
	e := neovim.Edit(t, newWorld(t, hello))
	got := e.Lua(`local blocks, list = require('podd.blocks'), {}
		for i, state in ipairs({ 'done', 'queued', 'failed', 'running', 'done', 'live', 'lost', 'writing' }) do
			list[i] = { id = i, state = state }
		end
		local done, rest = blocks.settled(list)
		blocks.restarted(rest)
		local ids = function(l) return table.concat(vim.tbl_map(function(b) return b.id end, l)) end
		return ids(done) .. ' ' .. ids(rest)`)
	if got != "13 245" {
		t.Errorf("got %q", got)
	}
}

func TestHealthAndHelp(t *testing.T) {
	w := newWorld(t, hello)
	w.Configure("[mcp.servers.desk]\ncommand = \"no-such-program\"\n")
	w.Podctl("reload")
	e := neovim.Edit(t, w)
	e.Ex("checkhealth podd")
	e.AwaitLua(`vim.fn.search('podd is ') > 0`)
	text := e.Lua(`return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')`)
	if !strings.Contains(text, "MCP server desk is idle, with 0 tools") {
		t.Errorf("checkhealth says nothing of the MCP server:\n%s", text)
	}
	if strings.Contains(text, "ERROR") || strings.Contains(text, "WARN") || !strings.Contains(text, "protocol 1") {
		t.Errorf("checkhealth says:\n%s", text)
	}
	w.Kill()
	e.Ex("checkhealth podd")
	e.AwaitLua(`vim.fn.search('ERROR:.*podd') > 0`)
	// The tags that :help podd needs exist, and the help documents each verb.
	docs := filepath.Join(w.Dir, "doc")
	if err := os.CopyFS(docs, os.DirFS(filepath.Join(rig.Root(), "plugins", "nvim", "doc"))); err != nil {
		t.Fatal(err)
	}
	e.Ex("helptags " + docs)
	tags, err := os.ReadFile(filepath.Join(docs, "tags"))
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range strings.Fields(e.Expr(`join(getcompletion('Podd ', 'cmdline'))`)) {
		if !strings.Contains(string(tags), ":Podd-"+verb+"\t") {
			t.Errorf("the help lacks :Podd-%s", verb)
		}
	}
}
