package policy_test

import (
	"strings"
	"testing"

	"podd/internal/guard/policy"
	"podd/pkg/item"
)

func TestRuleFor(t *testing.T) {
	for _, tt := range []struct {
		call policy.Call
		want item.Rule
	}{
		{policy.Call{Tool: "web_fetch", Host: "go.dev:443"}, item.Rule{Tool: "web_fetch", Host: "go.dev", Decision: policy.Allow}},
		{policy.Call{Tool: "web_fetch", Host: "[::1]:3000"}, item.Rule{Tool: "web_fetch", Host: "[::1]:3000", Decision: policy.Allow}},
		{policy.Call{Tool: "shell", Command: "npm ci", Level: item.AccessNetwork, Why: "x", Beyond: true}, item.Rule{Tool: "shell", Command: "npm ci", Access: []item.Access{item.AccessNetwork}, Decision: policy.Allow}},
		{policy.Call{Tool: "shell", Command: "npm ci", Level: item.AccessNetwork, Why: "x"}, allow("npm ci")},
		{shell("go test ./..."), allow("go test ./...")},
		{shell(" git  commit -m 'it''s' -- \"a b\" '*' ''"), allow("git commit -m its -- 'a b' '*' ''")},
		{shell(`echo "it's" \$x`), allow(`echo 'it'\''s' '$x'`)},
		{shell("cd x && make; ls || true | cat\nls 2>/dev/null"), allow("cd x && make; ls || true | cat; ls")},
		{shell("echo 'a\nb'"), allow("echo 'a\nb'")},
		{shell("cat x | sh"), allow("cat x | sh")},
		{shell("xargs rm -f"), allow("xargs rm -f")},
		{shell("bash -c 'rm x'"), allow("bash -c 'rm x'")},
		{policy.Call{Tool: "read_file", Paths: []string{"/etc/./hosts"}}, item.Rule{Tool: "read_file", Path: "/etc/hosts", Decision: policy.Allow}},
		{policy.Call{Tool: "read_file", Paths: []string{"a*[b]{c}"}}, item.Rule{Tool: "read_file", Path: `a\*\[b\]\{c\}`, Decision: policy.Allow}},
		{policy.Call{Tool: "apply_patch", Paths: []string{"a", "b?", "a"}}, item.Rule{Tool: "apply_patch", Path: `{a,b\?}`, Decision: policy.Allow}},
		{policy.Call{Tool: "shell", Command: "ls", Paths: []string{"src"}}, item.Rule{Tool: "shell", Path: "src", Command: "ls", Decision: policy.Allow}},
	} {
		got, err := policy.RuleFor(tt.call)
		if err != nil || !got.Equal(tt.want) {
			t.Errorf("%+v: %+v %v, want %+v", tt.call, got, err, tt.want)
		}
	}
}

func TestRuleForRefuses(t *testing.T) {
	for _, tt := range []struct {
		call policy.Call
		want string
	}{
		{shell("make > f"), "it has a redirection"},
		{shell("echo $(x)"), "it has an expansion or a substitution"},
		{shell("A=1 make"), "it assigns a variable"},
		{shell("ls *.go"), "it has a glob"},
		{shell("make &"), "in the background"},
		{shell("for i in a; do ls; done"), "syntax beyond commands"},
		{shell("ls ("), "it cannot be parsed as shell"},
		{shell("ls\u202e"), "it has control characters"},
		{shell("time ls"), "syntax beyond"},
		{shell("sh"), "is a shell alone"},
		{shell("# x"), "it runs nothing"},
		{policy.Call{Tool: "todo"}, `a rule would allow "todo" whatever it does`},
		{policy.Call{}, "a tool named"},
		{policy.Call{Tool: "a*", Paths: []string{"x"}}, "a tool named"},
		{policy.Call{Tool: "edit_file", Paths: []string{"../x"}}, "leaves the workspace"},
		{policy.Call{Tool: "edit_file", Paths: []string{"~x"}}, "begins with ~"},
		{policy.Call{Tool: "edit_file", Paths: []string{"a,b", "c"}}, "has a comma"},
		{policy.Call{Tool: "edit_file", Paths: []string{".git/x"}, Protected: []string{".git/x runs programs."}}, "which needs approval each time (.git/x runs programs): "},
	} {
		r, err := policy.RuleFor(tt.call)
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "approve the call alone") {
			t.Errorf("%+v: %+v %v, want %q", tt.call, r, err, tt.want)
			continue
		}
		if item.KindOf(err) != item.KindPrecondition || item.ReasonOf(err) != "NO_RULE" || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v is %s %s", err, item.KindOf(err), item.ReasonOf(err))
		}
	}
}
