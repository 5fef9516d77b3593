package policy_test

import (
	"strings"
	"testing"

	"podd/internal/guard/policy"
	"podd/pkg/item"
)

// asking is a command that asks for more than the pod has.
func asking(level item.Access, line string) policy.Call {
	return policy.Call{Tool: "shell", Command: line, Level: level, Why: "to \"build\"", Beyond: true}
}

func plainly(line string) policy.Call {
	return policy.Call{Tool: "shell", Command: line, Level: item.AccessSandbox, Confined: true}
}

func rule(decision, command string, levels ...item.Access) item.Rule {
	return item.Rule{Tool: "shell", Command: command, Access: levels, Decision: decision, Source: "1"}
}

func TestLevels(t *testing.T) {
	const network, host, box = item.AccessNetwork, item.AccessHost, item.AccessSandbox
	had := policy.Call{Tool: "shell", Command: "make", Level: network, Why: "x", Confined: true}
	unboxed := policy.Call{Tool: "shell", Command: "make", Level: host, Why: "x"}
	for name, c := range map[string]struct {
		rule       item.Rule
		call       policy.Call
		mode, want string
	}{
		"more than the pod has asks":                     {rule(policy.Allow, "ls"), asking(network, "make"), policy.Risky, policy.Ask},
		"a rule without access allows the sandbox":       {rule(policy.Allow, "make"), plainly("make"), policy.Always, policy.Allow},
		"and no other level":                             {rule(policy.Allow, "make"), asking(network, "make"), policy.Risky, policy.Ask},
		"nor does one for the tool":                      {rule(policy.Allow, ""), asking(host, "make"), policy.Risky, policy.Ask},
		"a rule allows the levels that it names":         {rule(policy.Allow, "make", network), asking(network, "make"), policy.Always, policy.Allow},
		"one of several":                                 {rule(policy.Allow, "make", box, network), asking(network, "make"), policy.Always, policy.Allow},
		"and those alone":                                {rule(policy.Allow, "make", network), asking(host, "make"), policy.Risky, policy.Ask},
		"not even a lower one":                           {rule(policy.Allow, "make", host), plainly("make"), policy.Always, policy.Ask},
		"a level that the pod has is the sandbox":        {rule(policy.Allow, "make"), had, policy.Always, policy.Allow},
		"and itself":                                     {rule(policy.Allow, "make", network), had, policy.Always, policy.Allow},
		"without a sandbox all levels are one":           {rule(policy.Allow, "make"), unboxed, policy.Risky, policy.Allow},
		"a rule that denies means all levels":            {rule(policy.Deny, "make"), asking(host, "make"), policy.Risky, policy.Deny},
		"or those that it names":                         {rule(policy.Deny, "", host), asking(host, "make"), policy.Risky, policy.Deny},
		"and no others":                                  {rule(policy.Deny, "", host), asking(network, "make"), policy.Risky, policy.Ask},
		"a rule that asks means all levels":              {rule(policy.Ask, "make"), plainly("make"), policy.Risky, policy.Ask},
		"a rule over access alone denies":                {item.Rule{Access: []item.Access{host}, Decision: policy.Deny}, asking(host, "make"), policy.Risky, policy.Deny},
		"a rule over access says nothing of other calls": {item.Rule{Access: []item.Access{box}, Decision: policy.Deny}, policy.Call{Tool: "read_file", Paths: []string{"a"}, Confined: true}, policy.Risky, policy.Allow},
		"never denies what is more":                      {rule(policy.Allow, "make"), asking(network, "make"), policy.Never, policy.Deny},
		"and runs what a rule allows":                    {rule(policy.Allow, "make", network), asking(network, "make"), policy.Never, policy.Allow},
	} {
		if v := with(t, c.mode, c.rule).Decide(c.call); v.Decision != c.want {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// The question begins with the access and what the model says of it.
func TestLevelsAreShownFirst(t *testing.T) {
	const want = `Access "host", why "to \"build\"": the command "make" needs approval because it asks to run without a sandbox and no rule allows it.`
	if v := with(t, policy.Risky).Decide(asking(item.AccessHost, "make")); v.Why != want {
		t.Errorf("got %s", v.Why)
	}
	for _, v := range []policy.Verdict{
		with(t, policy.Always).Decide(asking(item.AccessNetwork, "make")),
		with(t, policy.Risky, rule(policy.Ask, "make")).Decide(asking(item.AccessNetwork, "make")),
		with(t, policy.Risky, rule(policy.Deny, "git push")).Decide(asking(item.AccessNetwork, "x; sh <f")),
	} {
		if v.Decision != policy.Ask || !strings.HasPrefix(v.Why, `Access "network", why "to \"build\"": the command "`) {
			t.Errorf("got %+v", v)
		}
	}
	const way = `to allow it, add a [[rule]] with tool = 'shell', command = 'npm ci', access = ["network"] and decision = "allow"`
	if v := with(t, policy.Never).Decide(asking(item.AccessNetwork, "npm ci")); !strings.Contains(v.Why, way) {
		t.Errorf("got %s", v.Why)
	}
}

func TestRulesOverAccessAreChecked(t *testing.T) {
	for want, r := range map[string]item.Rule{
		`there is no access "root": write "sandbox", "network" or "host"`:             rule(policy.Allow, "make", "root"),
		`the rule has access, and tool "read_file" runs no command: leave access out`: {Tool: "read_file", Access: []item.Access{item.AccessHost}, Decision: policy.Deny},
	} {
		p, err := policy.New(policy.Risky, []item.Rule{r})
		if err == nil {
			err = p.CheckTools([]policy.Tool{{Name: "shell", Commands: true}, {Name: "read_file", Paths: true}})
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", r, err, want)
		}
	}
}
