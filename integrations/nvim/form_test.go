//go:build integrations

package nvim

import (
	"fmt"
	"strings"
	"testing"

	"podd/integrations/rig"
	"podd/integrations/rig/neovim"
)

// Neovim shows what a running call asks, and answers with an option, several, a text, or leaves it to the model.
func TestForm(t *testing.T) {
	w := newWorld(t, `on "which"
step
call ask_user {"questions":[{"question":"Which\u001b database?","header":"Database","options":[{"label":"SQLite","description":"one \u202efile"},{"label":"Postgres"}]},{"question":"Where?","header":"Place","options":[{"label":"dev"},{"label":"staging"},{"label":"production"}],"multiple":true},{"question":"When?","header":"Time"}]}
step
text Decided.
on "other"
step
call ask_user {"questions":[{"question":"Which?","header":"Database","options":[{"label":"SQLite"}]}]}
step
text Decided.
on "left"
step
call ask_user {"questions":[{"question":"Which?","header":"Database","options":[{"label":"SQLite"}]}]}
step
text Decided.
`)
	makePod(t, w)
	e := neovim.Edit(t, w)
	e.Ex("Podd open")
	e.Await("[idle]")
	e.Ex("Podd submit which")
	e.Await("[asks (1 question)]")
	for _, want := range []string{
		" of pod p waits for your answer: ask_user\n  Question 1, Database: Which\\x1b database?\n    1. SQLite: one \\u202efile\n    2. Postgres\n  Question 2, Place: Where?\n",
		"[a] answer [d] let the model decide\n",
	} {
		if text := e.Stream(); !strings.Contains(text, want) || strings.Contains(text, "needs approval") {
			t.Errorf("the buffer lacks %q:\n%s", want, text)
		}
	}
	key := func(key, done string) {
		t.Helper()
		// Right after a change keys answer nothing.
		rig.Await(t, "the key "+key, func() bool {
			if line, ok := e.FindLine("? call "); ok {
				e.Ex(line)
				e.Keys(key)
			}
			return e.Lua("return "+done+" and 1 or 0") == "1"
		})
	}
	// choose chooses what begins with a text, once it is offered below a prompt.
	choose := func(prompt, text string) {
		t.Helper()
		e.AwaitLua(fmt.Sprintf(`_G.asked and _G.asked.prompt:find(%q, 1, true)`, prompt))
		e.Lua(fmt.Sprintf(`local a = _G.asked
			_G.asked = nil
			for n, item in ipairs(a.items) do
				if item.text:find(%q, 1, true) == 1 then
					return a.done(item, n)
				end
			end
			error('not offered')`, text))
	}
	write := func(text string) {
		t.Helper()
		e.AwaitLua(`_G.typing ~= nil`)
		e.Lua(fmt.Sprintf(`local i = _G.typing; _G.typing = nil; i.done(%q)`, text))
	}
	const asked = `_G.asked`
	key("a", asked)
	choose("Database", "SQLite: one \\u202efile")
	choose("Place", "[ ] production")
	choose("Place", "[ ] dev")
	choose("Place", "[ ] staging")
	choose("Place", "[x] staging")
	choose("Place", "done")
	write("at noon")
	e.Await("turn 1 finished")
	log := w.Podctl("tail", "p", "--after", "0", "-o", "json")
	for _, want := range []string{`Answer: SQLite\n`, `Answer: production, dev\n`, `Answer: at noon\n`, `"by":"nvim`} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %s:\n%s", want, log)
		}
	}

	e.Ex("Podd submit other")
	e.Await("[asks (1 question)]")
	key("a", asked)
	choose("Database", "other…")
	write("neither")
	e.Await("turn 2 finished")
	e.Ex("Podd submit left")
	e.Await("[asks (1 question)]")
	key("d", `table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n'):find('turn 3 finished', 1, true)`)
	log = w.Podctl("tail", "p", "--after", "0", "-o", "json")
	for _, want := range []string{`Answer: neither\n`, `decide yourself`} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %s:\n%s", want, log)
		}
	}
}
