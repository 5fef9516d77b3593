package policy_test

import (
	"strings"
	"testing"

	"podd/internal/guard/policy"
	"podd/pkg/item"
)

// awkward lines are the most expensive ones to parse.
func awkward() []string {
	nested := "x"
	for range 12 {
		nested = "sh -c '" + strings.ReplaceAll(nested, "'", `'\''`) + "'"
	}
	var lines []string
	for _, part := range []string{"eval ", "eval ';' ", "sudo 'a b' ", "git -c a=!b ", "$(", "( ", "env -S'x ", "ls &>x #\\\n", "a;", "sh -c 'x;'", "find -exec ", "-x ", "`", "$a ", "** ", "git -x "} {
		lines = append(lines, strings.Repeat(part, (16<<10)/len(part)))
	}
	return append(lines, nested)
}

// The work on one line is bounded; the benchmark measures its time.
func TestAwkwardLines(t *testing.T) {
	p := with(t, policy.Risky, deny("rm ** x ** y ** z"), ask("** ** ** a"), allow("ls ** a ** b ** c"))
	for _, line := range awkward() {
		if v := p.Decide(confined(line)); v.Decision == policy.Deny {
			t.Errorf("%.60q: %s", line, v.Why)
		}
	}
}

func BenchmarkAwkward(b *testing.B) {
	p, err := policy.New(policy.Risky, []item.Rule{deny("rm ** x ** y ** z"), ask("** ** ** a"), allow("ls ** a ** b ** c")})
	if err != nil {
		b.Fatal(err)
	}
	for _, line := range awkward() {
		b.Run(line[:10], func(b *testing.B) {
			for b.Loop() {
				p.Decide(confined(line))
			}
		})
	}
}
