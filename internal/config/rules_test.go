package config_test

import (
	"slices"
	"testing"

	"podd/internal/config"
	"podd/internal/guard/policy"
	"podd/pkg/item"
)

const rules = `ask = "always"

[[rule]]
tool = "shell"
command = "go test *"
decision = "allow"

[limits]
max_steps = 5

[[rule]]
path = "**/.env"
decision = "deny"
`

func TestRules(t *testing.T) {
	if c := load(t, ""); c.Ask != policy.Risky || len(c.Rules) != 0 {
		t.Errorf("by default %q %+v", c.Ask, c.Rules)
	}
	path := write(t, rules)
	c, err := config.Load(path, true, environment())
	if err != nil {
		t.Fatal(err)
	}
	want := []item.Rule{
		{Tool: "shell", Command: "go test *", Decision: policy.Allow, Source: path + ":3"},
		{Path: "**/.env", Decision: policy.Deny, Source: path + ":11"},
	}
	if c.Ask != policy.Always || !slices.EqualFunc(c.Rules, want, item.Rule.Equal) || c.Pods.Limits.MaxSteps != 5 {
		t.Errorf("%q %+v, want %+v", c.Ask, c.Rules, want)
	}
	if v := value(t, c, "rule[2]"); v.Value != `{ path = "**/.env", decision = "deny" }` || v.Origin != path+":11" {
		t.Errorf("shown %+v", v)
	}
	if v := value(t, c, "ask"); v.Value != `"always"` || v.Origin != path+":1" {
		t.Errorf("shown %+v", v)
	}
}

// Other notations mean the same; the line is that of the list.
func TestRulesInOneLine(t *testing.T) {
	c := load(t, "rule = [\n  { tool = 'a', decision = 'deny' },\n  { tool = 'b', path = 'x', decision = 'ask' },\n]\n")
	if len(c.Rules) != 2 || c.Rules[0].Tool != "a" || c.Rules[1].Tool != "b" || c.Rules[1].Path != "x" || c.Rules[1].Decision != policy.Ask {
		t.Errorf("%+v", c.Rules)
	}
	if c := load(t, "rule = []"); len(c.Rules) != 0 {
		t.Errorf("%+v", c.Rules)
	}
}

func TestRulesRefuse(t *testing.T) {
	for text, want := range map[string]string{
		"ask = 'sometimes'":                          `:1: ask must be "never", "risky" or "always"; it is "sometimes"`,
		"ask = true":                                 ":1: ask must be",
		"[[ask]]":                                    ":1: ask must be",
		"\n[[rule]]\ntool = 'shell'":                 `:2: [[rule]] has no decision: set it to "allow", "ask" or "deny"`,
		"[[rule]]":                                   ":1: [[rule]] has no decision",
		"[[rule]]\ndecision = 'deny'":                ":1: the rule names no tool, path, command, host or access: set at least one",
		"[[rule]]\ntool = 'x'\ndecision = 'no'":      `:3: rule[1].decision must be "allow", "ask" or "deny"; it is "no"`,
		"[[rule]]\ntool = 'a b'":                     ":2: rule[1].tool must be a name without white space",
		"[[rule]]\npath = ['x']":                     ":2: rule[1].path must be a string; it is a list",
		"[[rule]]\ncomand = 'x'":                     ":2: unknown key rule[1].comand; did you mean command?",
		"[[rule]]\ntool = 'x'\n[rule.more]\ny = 1":   ":3: unknown key rule[1].more: [[rule]] has tool, path, command, host, access, decision",
		"[[rule]]\ntool = 'x'\n[[rule.more]]\ny = 1": ":3: unknown key rule[1].more: [[rule]] has tool, path, command, host, access, decision",
		"[rule]\ntool = 'x'":                         ":1: rule must be a list of tables, with [[rule]] on a line before each; it is a table",
		"rule = 5":                                   ":1: rule must be a list of tables",
		"rule = ['x']":                               ":1: rule must be a list of tables",
		"rule = { tool = 'x' }":                      ":1: rule must be a list of tables",
		"rule.tool = 'x'":                            ":1: rule must be a list of tables, with [[rule]]",
		"[[rule]]\ntool = 'x'\ndecision = 'deny'\n[[rule]]\ncommand = 'sudo *'\ndecision = 'allow'": `:4: the command "sudo *" has a wildcard after "sudo"`,
		"rule = [\n{ path = '~', decision = 'deny' }]":                                              `:1: the path "~" begins with ~`,
	} {
		path := write(t, text)
		_, err := config.Load(path, true, environment())
		wantError(t, err, path+want)
	}
}
