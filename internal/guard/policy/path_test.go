package policy_test

import (
	"strings"
	"testing"

	"podd/internal/guard/policy"
	"podd/pkg/item"
)

// Rules see a path as it is named and as it resolves: one match is enough to deny or to
// ask, and both are needed to allow.
func TestRulesSeeWherePathsLead(t *testing.T) {
	path := func(d string, glob string) item.Rule { return item.Rule{Path: glob, Decision: d} }
	through := policy.Call{Tool: "read_file", Paths: []string{"a", "m/f"}, Leads: [][]string{nil, {"secret/f"}}, Confined: true}
	for _, tt := range []struct {
		rules []item.Rule
		want  string
	}{
		{[]item.Rule{path(policy.Deny, "secret/**")}, policy.Deny},
		{[]item.Rule{path(policy.Deny, "m/*")}, policy.Deny},
		{[]item.Rule{path(policy.Ask, "secret/")}, policy.Ask},
		{[]item.Rule{path(policy.Allow, "a"), path(policy.Allow, "m/*")}, policy.Ask},
		{[]item.Rule{path(policy.Allow, "a"), path(policy.Allow, "secret/*")}, policy.Ask},
		{[]item.Rule{path(policy.Allow, "a"), path(policy.Allow, "m/*"), path(policy.Allow, "secret/*")}, policy.Allow},
		{[]item.Rule{path(policy.Deny, "other/**")}, policy.Ask},
	} {
		v := with(t, policy.Always, tt.rules...).Decide(through)
		if v.Decision != tt.want || !strings.Contains(v.Why, `"m/f", which leads to "secret/f", and 1 more`) {
			t.Errorf("%+v: %s %s", tt.rules, v.Decision, v.Why)
		}
		want := tt.want
		if want != tt.rules[0].Decision {
			want = policy.Allow
		}
		if d, rule := with(t, policy.Always, tt.rules...).Against(through); d != want || (rule == "") != (d == policy.Allow) {
			t.Errorf("%+v: %s %q", tt.rules, d, rule)
		}
	}
}

// A rule made from an approval allows the path as long as it leads where it led.
func TestRuleForWhatALinkLeadsTo(t *testing.T) {
	call := policy.Call{Tool: "write_file", Paths: []string{"m/f"}, Leads: [][]string{{"real/f"}}, Confined: true}
	rule, err := policy.RuleFor(call)
	if err != nil {
		t.Fatal(err)
	}
	p := with(t, policy.Always, rule)
	if v := p.Decide(call); v.Decision != policy.Allow {
		t.Errorf("the same call: %s", v.Why)
	}
	call.Leads = [][]string{{"other/f"}}
	if v := p.Decide(call); v.Decision != policy.Ask {
		t.Errorf("a call that leads elsewhere: %s", v.Why)
	}
}
