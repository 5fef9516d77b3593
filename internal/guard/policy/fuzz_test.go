package policy_test

import (
	"slices"
	"testing"

	"podd/internal/guard/policy"
	"podd/pkg/item"
)

// A pattern that allows a line also denies it in a rule that denies: the two ways of
// reading a line agree as far as possible.
func FuzzPatterns(f *testing.F) {
	for _, seed := range [][2]string{
		{"ls *", "ls -l"}, {"git push **", "git -C x push"}, {"a 'b c'* \"d\"", "a 'b cd' d"}, {"npm run test:*", "npm run test:x"}, {"a && b", "a && b"},
		{"find * -name *", "find . -name x"}, {"sh -c 'ls x'", "sh -c 'ls x'"}, {"x \\* **", "x '*' y"}, {"timeout 5 make", "timeout 5 make"}, {"é *", "é 'ü'"},
	} {
		f.Add(seed[0], seed[1])
	}
	for _, line := range slices.Concat(ways[:20], everyday[:20]) {
		f.Add("git push *", line)
	}
	f.Fuzz(func(t *testing.T, pattern, line string) {
		allowing, err := policy.New(policy.Always, []item.Rule{allow(pattern)})
		if err != nil {
			return
		}
		v := allowing.Decide(shell(line))
		denying, err := policy.New(policy.Risky, []item.Rule{deny(pattern)})
		if err != nil {
			return
		}
		if d := denying.Decide(confined(line)); v.Decision == policy.Allow && d.Decision != policy.Deny {
			t.Errorf("%q allows %q, and does not deny it: %s", pattern, line, d.Why)
		}
		if r, err := policy.RuleFor(shell(line)); err == nil {
			if again := with(t, policy.Always, r).Decide(shell(line)); again.Decision != policy.Allow {
				t.Errorf("the rule for %q is %q, which does not allow it: %s", line, r.Command, again.Why)
			}
		}
	})
}
