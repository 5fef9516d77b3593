//go:build integrations

package nvim

import (
	"strings"
	"testing"

	"podd/integrations/rig/neovim"
)

// The list of pods says which of them works in the background, and how many letters no turn has taken.
func TestPods(t *testing.T) {
	w := newWorld(t, `on "start it"
step
call spawn_pod {"task":"which","name":"slow","background":true}
step
text Started.
on "which"
step
call ask_user {"questions":[{"question":"Which?","header":"Database"}]}
`)
	makePod(t, w, "--sub-pods", "1")
	w.Podctl("submit", "-f", "p", "start it")
	w.Podctl("send", "--no-wake", "p", "look at it later")
	e := neovim.Edit(t, w)
	e.Ex("Podd pods")
	e.AwaitLua(`_G.asked and _G.asked.prompt == 'Open which pod?'`)
	got := strings.Split(e.Lua(`return table.concat(_G.asked.texts, '\n')`), "\n")
	if len(got) != 2 || got[0] != "p  "+w.Workspace+"  1 letter" || !strings.HasPrefix(got[1], "p-slow-") || !strings.HasSuffix(got[1], "  in the background") {
		t.Errorf("the list has %q", got)
	}
}
