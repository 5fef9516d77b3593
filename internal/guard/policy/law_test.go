package policy_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"podd/internal/guard/policy"
	"podd/pkg/item"
)

// words are few, so that rules often match calls.
func words(t *rapid.T, label string, more ...string) string {
	all := append([]string{"rm", "git", "push", "ls", "x", "-f", "a.go"}, more...)
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(all), 1, 4).Draw(t, label), " ")
}

var path = rapid.SampledFrom([]string{"a.go", "src", "src/a.go", "src/b/c.go", "/etc/x", ".env", "../x"})

func drawCall(t *rapid.T) policy.Call {
	c := policy.Call{Tool: rapid.SampledFrom([]string{"shell", "edit_file", "todo"}).Draw(t, "tool"), Confined: rapid.Bool().Draw(t, "confined")}
	switch c.Tool {
	case "shell":
		c.Command = words(t, "first", "$X", "sh -c", "'", "sudo")
		if rapid.Bool().Draw(t, "two") {
			c.Command += rapid.SampledFrom([]string{" && ", "; ", " | ", "\n", " & ", " $(", " > "}).Draw(t, "operator") + words(t, "second")
		}
	case "edit_file":
		c.Paths = rapid.SliceOfN(path, 1, 3).Draw(t, "paths")
		if rapid.IntRange(0, 5).Draw(t, "protected") == 0 {
			c.Protected = c.Paths[:1]
		}
	}
	return c
}

// drawRule is a rule that New accepts.
func drawRule(t *rapid.T, decisions ...string) item.Rule {
	return rapid.Custom(func(t *rapid.T) item.Rule {
		r := item.Rule{Decision: rapid.SampledFrom(decisions).Draw(t, "decision")}
		r.Tool = rapid.SampledFrom([]string{"", "*", "shell", "edit_file", "edit_*", "todo"}).Draw(t, "tool")
		switch rapid.IntRange(0, 3).Draw(t, "part") {
		case 0:
			r.Path = rapid.SampledFrom([]string{"**", "src/", "*.go", "**/*.go", "/etc/**", "src/*", ".env"}).Draw(t, "path")
		case 1, 2:
			r.Command = words(t, "command", "*", "**", "pu*")
		}
		return r
	}).Filter(func(r item.Rule) bool {
		_, err := policy.New(policy.Risky, []item.Rule{r})
		return err == nil
	}).Draw(t, "rule")
}

func drawRules(t *rapid.T) []item.Rule {
	rules := make([]item.Rule, rapid.IntRange(0, 4).Draw(t, "rules"))
	for i := range rules {
		rules[i] = drawRule(t, policy.Allow, policy.Ask, policy.Deny)
	}
	return rules
}

func decide(t *rapid.T, mode string, rules []item.Rule, c policy.Call) policy.Verdict {
	t.Helper()
	p, err := policy.New(mode, rules)
	if err != nil {
		t.Fatal(err)
	}
	return p.Decide(c)
}

var mode = rapid.SampledFrom([]string{policy.Never, policy.Risky, policy.Always})

// strictness orders the decisions.
func strictness(d string) int {
	return slices.Index([]string{policy.Allow, policy.Ask, policy.Deny}, d)
}

// A rule that denies or asks never makes a verdict more lenient, and one that allows
// never makes it stricter. The order of rules does not matter.
func TestRulesAreMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, rules, c := mode.Draw(t, "mode"), drawRules(t), drawCall(t)
		before := decide(t, m, rules, c)
		if after := decide(t, m, append(slices.Clone(rules), drawRule(t, policy.Deny, policy.Ask)), c); strictness(after.Decision) < strictness(before.Decision) {
			t.Errorf("%+v\nbecomes %+v", before, after)
		}
		if after := decide(t, m, append(slices.Clone(rules), drawRule(t, policy.Allow)), c); strictness(after.Decision) > strictness(before.Decision) {
			t.Errorf("with a rule that allows, %+v\nbecomes %+v", before, after)
		}
		if after := decide(t, m, rapid.Permutation(rules).Draw(t, "order"), c); after.Decision != before.Decision {
			t.Errorf("in another order, %+v\nbecomes %+v", before, after)
		}
	})
}

// No rule that allows overrides a rule that denies or asks, or protection.
func TestAllowOverridesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules, c := drawRules(t), drawCall(t)
		against := slices.DeleteFunc(slices.Clone(rules), func(r item.Rule) bool { return r.Decision == policy.Allow })
		c.Confined = true // Then the mode allows the call.
		before, after := decide(t, policy.Risky, against, c), decide(t, policy.Risky, rules, c)
		if before.Decision != policy.Allow && after.Decision != before.Decision {
			t.Errorf("%+v\nbecomes %+v", before, after)
		}
	})
}

// In mode never no call asks, and each verdict is a sentence.
func TestVerdicts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, rules, c := mode.Draw(t, "mode"), drawRules(t), drawCall(t)
		v := decide(t, m, rules, c)
		if strictness(v.Decision) < 0 || m == policy.Never && v.Decision == policy.Ask || len(c.Protected) > 0 && v.Decision == policy.Allow {
			t.Errorf("%+v", v)
		}
		if !strings.HasPrefix(v.Why, "The ") || !strings.HasSuffix(v.Why, ".") || strings.Contains(v.Why, "\n") {
			t.Errorf("no sentence: %s", v.Why)
		}
	})
}

// Quoting a denied command differently, or putting another before it, does not make it
// allowed.
func TestQuotingHidesNothing(t *testing.T) {
	p, err := policy.New(policy.Risky, []item.Rule{{Tool: "shell", Decision: policy.Allow}, deny("git push *")})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		b.WriteString(rapid.SampledFrom([]string{"", "ls; ", "ls && ", "ls\n", "ls | ", "X=1 ", "sudo ", "! ", "if true; then ", "echo $(", "(", "{ "}).Draw(t, "before"))
		for i, w := range []string{"git", "push", "-f", "main"} {
			if i > 0 {
				b.WriteString(rapid.SampledFrom([]string{" ", "  ", "\t", " \\\n "}).Draw(t, "blank"))
			}
			for _, c := range w {
				b.WriteString(strings.ReplaceAll(rapid.SampledFrom([]string{"_", "_", "\\_", "'_'", "\"_\"", "''_", "_\"\"", "\\\n_"}).Draw(t, "quote"), "_", string(c)))
			}
		}
		if v := p.Decide(confined(b.String())); v.Decision == policy.Allow {
			t.Errorf("%q is allowed: %s", b.String(), v.Why)
		}
	})
}

// The rule of an approved call allows that call from then on, and no other.
func TestRuleForIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		approved, other := drawCall(t), drawCall(t)
		r, err := policy.RuleFor(approved)
		if err != nil {
			return
		}
		if v := decide(t, policy.Always, []item.Rule{r}, approved); v.Decision != policy.Allow {
			t.Errorf("%+v allows not %+v: %s", r, approved, v.Why)
		}
		if v := decide(t, policy.Always, []item.Rule{r}, other); v.Decision == policy.Allow {
			if o, err := policy.RuleFor(other); err != nil || o.Tool != r.Tool || o.Command != r.Command && !strings.Contains(other.Command, approved.Command) {
				t.Errorf("%+v of %+v allows %+v", r, approved, other)
			}
			for _, p := range other.Paths {
				if !slices.Contains(approved.Paths, p) {
					t.Errorf("%+v of %+v allows %+v", r, approved, other)
				}
			}
		}
	})
}
