package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"podd/pkg/llm/scripted"
)

// configOption is an option of a session, as the editor gets it.
type configOption struct {
	ID, Category string
	Current      string `json:"currentValue"`
	Options      []struct{ Value, Name string }
}

type configOptions struct {
	Options []configOption `json:"configOptions"`
}

// shown is an option as "CURRENT of VALUE VALUE...".
func (c configOptions) shown(id string) string {
	i := slices.IndexFunc(c.Options, func(o configOption) bool { return o.ID == id })
	if i < 0 {
		return "missing"
	}
	text := c.Options[i].Current + " of"
	for _, o := range c.Options[i].Options {
		text += " " + o.Value
	}
	return text
}

// The editor offers modes, models and efforts, and changes those of the pod. What podctl
// changes shows after the next turn's beginning.
func TestACPOptions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, scripted.Answers(scripted.Say(scripted.Text("One.")), scripted.Say(scripted.Text("Two."))))
	w.configure(`model = "m"
[options]
effort = "medium"
[models.m]
effort = "medium"
[models.other]
efforts = ["low", "max"]
`)
	w.podctl("models").run(0) // An editor waits for the lists only for a while.
	e := w.newEditor(nil)
	var opened struct {
		SessionID string `json:"sessionId"`
		configOptions
	}
	e.must("session/new", map[string]any{"cwd": w.dir, "mcpServers": []any{}}, &opened)
	session := opened.SessionID
	check := func(c configOptions, want map[string]string) {
		t.Helper()
		for id, text := range want {
			if got := c.shown(id); got != text {
				t.Errorf("%s is %q, want %q", id, got, text)
			}
		}
	}
	const models = "default default/m default/other default/scripted"
	check(opened.configOptions, map[string]string{"mode": "default of default risky always never plan", "model": "default of " + models, "effort": "default of default low medium high"})
	if name := opened.Options[1].Options[0].Name; name != "podd's default (default/m)" {
		t.Errorf("the default is called %q", name)
	}

	set := func(id, value string) (c configOptions, err error) {
		return c, e.call("session/set_config_option", map[string]any{"sessionId": session, "configId": id, "value": value}, &c)
	}
	changed := func(id, value string) configOptions {
		t.Helper()
		c, err := set(id, value)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	check(changed("model", "default/other"), map[string]string{"model": "default/other of " + models, "effort": "default of default low max"})
	check(changed("effort", "max"), map[string]string{"effort": "max of default low max"})
	check(changed("mode", "plan"), map[string]string{"mode": "plan of default risky always never plan"})
	check(changed("mode", "always"), map[string]string{"mode": "always of default risky always never plan"})
	if out, _ := w.podctl("show", session).run(0); !strings.Contains(out, "model: other (pod)\neffort: max (pod)") || !strings.Contains(out, "ask: always") {
		t.Errorf("the pod is\n%s", out)
	}
	for _, bad := range []struct{ id, value, says string }{
		{"effort", "high", "takes the effort low, max, not high"},
		{"model", "nowhere/\x00m", ""},
		{"mode", "loud", `"loud" is not a mode`},
		{"speed", "fast", `"speed" is not an option: use mode, model or effort`},
	} {
		if _, err := set(bad.id, bad.value); err == nil && bad.says != "" || err != nil && !strings.Contains(err.Error(), bad.says) {
			t.Errorf("%s = %q: %v", bad.id, bad.value, err)
		}
	}
	if err := e.call("session/set_config_option", map[string]any{"sessionId": session, "configId": "model", "type": "boolean", "value": true}, new(struct{})); err == nil {
		t.Error("a switch is taken for a model")
	}
	check(changed("effort", "default"), map[string]string{"effort": "default of default low medium high"})

	w.podctl("update", session, "--model", "m", "--effort", "low").run(0)
	var end stop
	e.must("session/prompt", promptOf(session, "go"), &end)
	e.await("the options after the change", func(m rpcMessage) bool {
		var p struct {
			Update struct {
				SessionUpdate string `json:"sessionUpdate"`
				configOptions
			}
		}
		return m.Method == "session/update" && json.Unmarshal(m.Params, &p) == nil && p.Update.SessionUpdate == "config_option_update" &&
			strings.HasPrefix(p.Update.shown("model"), "default/m of") && strings.HasPrefix(p.Update.shown("effort"), "low of")
	})
}
