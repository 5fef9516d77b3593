//go:build integrations

package nvim

import (
	"strings"
	"testing"

	"podd/integrations/rig"
	"podd/integrations/rig/neovim"
	"podd/pkg/llm/scripted"
)

// :Podd model and :Podd effort complete what podd lists, change the pod, and let choose without
// an argument.
func TestModelAndEffort(t *testing.T) {
	s, err := scripted.Parse(strings.NewReader(hello))
	if err != nil {
		t.Fatal(err)
	}
	w := rig.Prepare(t, s.Reply)
	w.Configure("model = \"m\"\n[options]\neffort = \"low\"\n[models.other]\nefforts = [\"low\", \"max\"]\n")
	w.Start()
	makePod(t, w)
	e := neovim.Edit(t, w)
	e.Lua(`vim.notify = function(text) table.insert(_G.said, text) end`)
	completed := func(line string) string {
		return e.Expr("join(getcompletion(" + neovim.Quote(line) + ", 'cmdline'), ' ')")
	}
	if got := completed("Podd model default/o"); got != "default/other" {
		t.Errorf("the models are %q", got)
	}
	if got := completed("Podd effort m"); got != "max" {
		t.Errorf("the efforts are %q", got)
	}
	said := func(n, want string) {
		t.Helper()
		e.AwaitLua(`#_G.said >= ` + n)
		if got := e.Lua(`return _G.said[` + n + `]`); !strings.Contains(got, want) {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
	e.Ex("Podd model default/other")
	said("1", "pod p asks default/other from the next turn on")
	// A choice shows what is in effect, and where that is from.
	e.Lua(`vim.ui.select = function(values, o, f) _G.offered = o.prompt .. ': ' .. table.concat(values, ' '); f(values[3]) end`)
	e.Ex("Podd effort")
	said("2", "pod p asks with effort max from the next turn on")
	if got := e.Lua(`return _G.offered`); got != "Effort of pod p (now low, from options.effort): default low max" {
		t.Errorf("it offers %q", got)
	}
	if got := w.Podctl("show", "p"); !strings.Contains(got, "model: other (pod)\neffort: max (pod)") {
		t.Errorf("the pod is\n%s", got)
	}
	e.Ex("Podd effort high")
	said("3", "takes the effort low, max, not high")
	e.Ex("Podd effort default")
	said("4", "pod p follows podd's effort")
	e.Ex("Podd model nowhere-at-all")
	said("5", `lists no model "nowhere-at-all"`)
	said("6", "pod p asks nowhere-at-all")
	// What the pod has is among the choices, also if its model is not known to take it.
	e.Ex("Podd effort odd")
	said("7", "pod p asks with effort odd")
	e.Ex("Podd effort")
	said("8", "pod p asks with effort medium")
	if got := e.Lua(`return _G.offered`); got != "Effort of pod p (now odd, from pod): default low medium high odd" {
		t.Errorf("it offers %q", got)
	}
}
