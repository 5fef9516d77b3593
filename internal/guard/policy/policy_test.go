package policy_test

import (
	"strings"
	"testing"
	"time"

	"podd/internal/guard/policy"
	"podd/pkg/item"
)

// Without a rule the mode decides.
func TestModes(t *testing.T) {
	out, in := shell("make"), confined("make")
	for _, tt := range []struct {
		mode string
		call policy.Call
		want string
		why  string
	}{
		{policy.Never, in, policy.Allow, "stays in the sandbox"},
		{policy.Never, out, policy.Deny, `ask is "never": to allow it, add a [[rule]] with tool = 'shell', command = 'make' and decision = "allow" to podd's configuration, or set ask to "risky"`},
		{policy.Never, shell("make > f"), policy.Deny, `because it has a redirection`},
		{policy.Never, policy.Call{Tool: "fetch"}, policy.Deny, `to allow it, set ask to "risky"`},
		{policy.Never, policy.Call{Tool: "read_file", Paths: []string{"/etc/a*"}}, policy.Deny, `tool = 'read_file', path = '/etc/a\*'`},
		{policy.Risky, in, policy.Allow, "stays in the sandbox"},
		{policy.Risky, out, policy.Ask, `The command "make" needs approval because it is not confined to the sandbox or the scope and no rule allows it.`},
		{policy.Always, in, policy.Ask, `this pod asks before every call`},
		{policy.Always, out, policy.Ask, `this pod asks before every call`},
	} {
		v := with(t, tt.mode).Decide(tt.call)
		if v.Decision != tt.want || !strings.Contains(v.Why, tt.why) || !strings.HasSuffix(v.Why, ".") {
			t.Errorf("%s %+v: %s %q, want %s %q", tt.mode, tt.call, v.Decision, v.Why, tt.want, tt.why)
		}
	}
}

// Deny precedes ask and ask precedes allow, in any order; the verdict names the rule.
func TestPrecedence(t *testing.T) {
	a, k, d := allow("make *"), ask("make install"), deny("make clean")
	a.Source, k.Source, d.Source = "config.toml:1", "config.toml:5", "the pod's rule 2"
	for _, rules := range [][]item.Rule{{a, k, d}, {d, k, a}, {k, a, d}} {
		for line, want := range map[string]policy.Verdict{
			"make all":                   {policy.Allow, `The command "make all" is allowed by config.toml:1 (tool "shell", command "make *").`},
			"make install":               {policy.Ask, `The command "make install" needs approval by config.toml:5 (tool "shell", command "make install").`},
			"make clean":                 {policy.Deny, `The command "make clean" is denied by the pod's rule 2 (tool "shell", command "make clean").`},
			"make install && make clean": {policy.Deny, `The command "make install && make clean" is denied by the pod's rule 2 (tool "shell", command "make clean").`},
			"make all; ls":               {policy.Ask, `The command "make all; ls" needs approval because it is not confined to the sandbox or the scope and no rule allows it.`},
		} {
			if got := with(t, policy.Risky, rules...).Decide(shell(line)); got != want {
				t.Errorf("%s: %+v, want %+v", line, got, want)
			}
		}
		v := with(t, policy.Never, rules...).Decide(confined("make install"))
		if v.Decision != policy.Deny || !strings.Contains(v.Why, "config.toml:5") || !strings.Contains(v.Why, `podd does not ask because ask is "never": to allow it, remove that rule, or`) {
			t.Errorf("never asks: %+v", v)
		}
	}
}

// Protected paths ask whatever the rules say; in mode never they are denied.
func TestProtected(t *testing.T) {
	c := policy.Call{Tool: "edit_file", Paths: []string{".git/config"}, Confined: true, Protected: []string{"git runs\n what .git/config says."}}
	all := item.Rule{Tool: "*", Decision: policy.Allow}
	for _, mode := range []string{policy.Risky, policy.Always} {
		if v := with(t, mode, all).Decide(c); v.Decision != policy.Ask || !strings.HasSuffix(v.Why, " always needs approval: git runs? what .git/config says.") {
			t.Errorf("%s: %+v", mode, v)
		}
	}
	if v := with(t, policy.Never, all).Decide(c); v.Decision != policy.Deny || !strings.Contains(v.Why, "to allow it, set ask to") {
		t.Errorf("never: %+v", v)
	}
	if v := with(t, policy.Risky, all, item.Rule{Path: ".git/", Decision: policy.Deny, Source: "c:1"}).Decide(c); v.Decision != policy.Deny || !strings.Contains(v.Why, "c:1") {
		t.Errorf("with a rule that denies: %+v", v)
	}
}

func TestToolRules(t *testing.T) {
	p := with(t, policy.Always,
		item.Rule{Tool: "mcp_files_*", Decision: policy.Allow}, item.Rule{Tool: "mcp_files_rm", Decision: policy.Deny},
		item.Rule{Tool: "shell", Decision: policy.Allow})
	for call, want := range map[string]string{
		"mcp_files_read": policy.Allow, "mcp_files_rm": policy.Deny, "mcp_file": policy.Ask, "xmcp_files_read": policy.Ask, "todo": policy.Ask,
	} {
		if v := p.Decide(policy.Call{Tool: call}); v.Decision != want {
			t.Errorf("%s: %+v, want %s", call, v, want)
		}
	}
	// A rule about a tool as a whole reads no command.
	if v := p.Decide(shell("rm $(x")); v.Decision != policy.Allow {
		t.Errorf("%+v", v)
	}
}

func TestPathRules(t *testing.T) {
	on := func(d string, tool, path string) item.Rule {
		return item.Rule{Tool: tool, Path: path, Decision: d}
	}
	rules := []item.Rule{
		on(policy.Allow, "", "src/**"), on(policy.Allow, "", "*.md"), on(policy.Allow, "write_file", "/tmp/x/*.log"), on(policy.Ask, "edit_*", "src/api/"),
		on(policy.Deny, "", "**/.env"), on(policy.Deny, "", "secrets"), on(policy.Deny, "", "/etc/**"),
	}
	for _, tt := range []struct {
		tool  string
		paths string
		want  string
	}{
		{"edit_file", "src/a.go", policy.Allow},
		{"edit_file", "./src//x/../a.go", policy.Allow},
		{"edit_file", "src/a.go README.md", policy.Allow},
		{"edit_file", "src/a.go main.go", policy.Ask},
		{"edit_file", "docs/a.md", policy.Ask},
		{"edit_file", "SRC/a.go", policy.Ask},
		{"edit_file", "src/../main.go", policy.Ask},
		{"edit_file", "src/../../out.md", policy.Ask},
		{"edit_file", "", policy.Ask},
		{"edit_file", "src/api/a.go", policy.Ask},
		{"read_file", "src/api/a.go", policy.Allow},
		{"read_file", "src/api", policy.Allow},
		{"edit_file", "src/api/", policy.Ask},
		{"write_file", "/tmp/x/a.log", policy.Allow},
		{"write_file", "/tmp/x/y/a.log", policy.Ask},
		{"read_file", "/tmp/x/a.log", policy.Ask},
		{"read_file", ".env", policy.Deny},
		{"read_file", "src/.env", policy.Deny},
		{"read_file", "src/a.go src/.env", policy.Deny},
		{"read_file", "secrets", policy.Deny},
		{"read_file", "secrets/a/b", policy.Deny},
		{"read_file", "secrets2", policy.Ask},
		{"read_file", "/etc", policy.Deny},
		{"read_file", "/etc/../etc/passwd", policy.Deny},
	} {
		v := with(t, policy.Always, rules...).Decide(policy.Call{Tool: tt.tool, Paths: strings.Fields(tt.paths)})
		if v.Decision != tt.want {
			t.Errorf("%s %s: %+v, want %s", tt.tool, tt.paths, v, tt.want)
		}
	}
	// A path that cannot be compared asks if a rule denies something.
	v := with(t, policy.Risky, rules...).Decide(policy.Call{Tool: "read_file", Paths: []string{"../x"}, Confined: true})
	if v.Decision != policy.Ask || !strings.Contains(v.Why, "leaves the workspace with ..") {
		t.Errorf("%+v", v)
	}
	// A rule about only paths does not apply to commands.
	v = with(t, policy.Always, rules...).Decide(policy.Call{Tool: "shell", Command: "rm x", Paths: []string{"src"}})
	if v.Decision != policy.Ask {
		t.Errorf("%+v", v)
	}
	both := item.Rule{Tool: "shell", Path: "src/", Command: "ls *", Decision: policy.Allow}
	for paths, want := range map[string]string{"src": policy.Allow, "src/x": policy.Allow, "lib": policy.Ask, "src lib": policy.Ask, "": policy.Ask} {
		v := with(t, policy.Always, both).Decide(policy.Call{Tool: "shell", Command: "ls -l", Paths: strings.Fields(paths)})
		if v.Decision != want {
			t.Errorf("ls in %q: %+v, want %s", paths, v, want)
		}
	}
}

func TestRefusedRules(t *testing.T) {
	for _, tt := range []struct {
		rule item.Rule
		want string
	}{
		{item.Rule{Tool: "shell"}, "the rule has no decision"},
		{item.Rule{Tool: "shell", Decision: "permit"}, `there is no decision "permit": write "allow", "ask" or "deny"`},
		{item.Rule{Decision: policy.Allow}, "names no tool, path, command, host or access"},
		{item.Rule{Tool: "a b", Decision: policy.Allow}, `the tool "a b" is not a name`},
		{item.Rule{Path: "~/x", Decision: policy.Deny}, `the path "~/x" begins with ~, which is not expanded`},
		{item.Rule{Path: "a/../b", Decision: policy.Deny}, "has .., which no path"},
		{item.Rule{Path: "a[", Decision: policy.Deny}, "is no glob"},
		{item.Rule{Path: "a\nb", Decision: policy.Deny}, "control character"},
		{allow("echo $HOME"), "has $, which means something to the shell"},
		{allow("echo `x`"), "has `"},
		{allow("echo > f"), "has >"},
		{allow("echo &"), "has &"},
		{allow("echo 'a"), "lacks the closing '"},
		{allow("echo a\\"), "ends with a backslash"},
		{allow("echo a**"), "has ** within a word"},
		{allow("echo ***"), "has ** within a word"},
		{allow("echo ;"), "has an empty command"},
		{allow("  "), "has an empty command"},
		{allow("echo\u00a0x"), "a space that the shell does not treat as a space"},
		{allow("A=1 make"), "begins with an assignment"},
		{deny("A=1 make"), "begins with an assignment"},
		{deny("cd x && rm *"), "write a rule for each"},
		{allow("*"), "wildcard in the program's name"},
		{allow("** x"), "wildcard in the program's name"},
		{allow("git*"), "wildcard in the program's name"},
		{allow("sudo *"), `has a wildcard after "sudo", which runs what its arguments say`},
		{allow("/usr/bin/env *"), "wildcard after"},
		{allow("timeout 5 make *"), "wildcard after"},
		{allow("bash *"), "wildcard after"},
		{allow("bash -c *"), "wildcard after"},
		{allow("python3.12 *"), "wildcard after"},
		{allow("python -m pytest *"), "wildcard after"},
		{allow("sed -n *"), "wildcard after"},
		{allow("vim x *"), "wildcard after"},
		{allow("eval *"), "wildcard after"},
		{allow("read *"), "wildcard after"},
		{allow("cd x && xargs *"), "wildcard after"},
		{allow("bash"), "is a shell alone"},
		{allow("git *"), "git's own command"},
		{allow("git -C x *"), "git's own command"},
		{allow("git config *"), "wildcard after git config"},
	} {
		for source, name := range map[string]string{"config.toml:3": "config.toml:3: ", "": "rule 2: "} {
			tt.rule.Source = source
			_, err := policy.New(policy.Risky, []item.Rule{allow("ls"), tt.rule})
			if err == nil || !strings.HasPrefix(err.Error(), name) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%+v: %v, want %q", tt.rule, err, tt.want)
				continue
			}
			if item.KindOf(err) != item.KindInvalid || item.ReasonOf(err) != "RULE" {
				t.Errorf("%v is %s %s", err, item.KindOf(err), item.ReasonOf(err))
			}
		}
	}
	if _, err := policy.New("sometimes", nil); err == nil || !strings.Contains(err.Error(), `there is no mode "sometimes"`) {
		t.Error(err)
	}
}

func TestCheckTools(t *testing.T) {
	known := []policy.Tool{{Name: "shell", Commands: true}, {Name: "read_file", Paths: true}, {Name: "todo"}, {Name: "mcp__", Family: true}}
	for _, tt := range []struct {
		rule item.Rule
		want string
	}{
		{item.Rule{Tool: "shell", Command: "ls"}, ""},
		{item.Rule{Tool: "mcp__files__*"}, ""},
		{item.Rule{Tool: "mcp__files__read", Path: "x"}, "c:1: the rule has a path, and the calls of tool \"mcp__files__read\" name none: leave path out"},
		{item.Rule{Tool: "*", Path: "x"}, ""},
		{item.Rule{Path: "x"}, ""},
		{item.Rule{Command: "x"}, ""},
		{item.Rule{Tool: "todo"}, ""},
		{item.Rule{Tool: "shel"}, `c:1: there is no tool "shel": the tools are shell, read_file, todo, mcp__*`},
		{item.Rule{Tool: "todo", Path: "x"}, `c:1: the rule has a path, and the calls of tool "todo" name none: leave path out`},
		{item.Rule{Tool: "read_*", Command: "x"}, `c:1: the rule has a command, and tool "read_*" runs none: leave command out`},
	} {
		tt.rule.Decision, tt.rule.Source = policy.Deny, "c:1"
		err := with(t, policy.Risky, tt.rule).CheckTools(known)
		if got := item.ReasonOf(err); tt.want == "" && err != nil || tt.want != "" && (err == nil || err.Error() != tt.want || got != "RULE") {
			t.Errorf("%+v: %v, want %q", tt.rule, err, tt.want)
		}
	}
}

// A pod's rule keeps its content, and its position names it.
func TestPodRules(t *testing.T) {
	kept := item.Rule{Tool: "shell", Path: "src", Command: "ls *", Decision: policy.Allow}
	rules := policy.PodRules([]item.Rule{{Tool: "x", Decision: "deny"}, kept})
	want := item.Rule{Tool: "shell", Path: "src", Command: "ls *", Decision: policy.Allow, Source: "the pod's rule 2"}
	if len(rules) != 2 || !rules[1].Equal(want) || rules[0].Decision != policy.Deny {
		t.Errorf("%+v", rules)
	}
}

// A rule with only denies all that no such rule names, at every level and whatever else allows or asks.
func TestOnly(t *testing.T) {
	only := func(command string) item.Rule {
		return item.Rule{Tool: "shell", Command: command, Decision: policy.Only}
	}
	rules := []item.Rule{only("git diff *"), only("git log"), only("make"), allow("rm *"), ask("make")}
	for line, want := range map[string]string{
		"git diff": policy.Allow, "git diff --stat": policy.Allow, "git log && git diff a": policy.Allow, "make": policy.Ask,
		"git diff --output=x": policy.Deny, "git log -p": policy.Deny, "rm x": policy.Deny, "git diff; rm x": policy.Deny, "git diff $(rm x)": policy.Deny,
		"git diff > x": policy.Deny, "GIT_PAGER=x git log": policy.Deny, "ls": policy.Deny,
	} {
		got := with(t, policy.Risky, rules...).Decide(confined(line))
		if got.Decision != want || want == policy.Deny && !strings.Contains(got.Why, `is denied: it may run only what is named by rule 1 (tool "shell", command "git diff *").`) {
			t.Errorf("%s: %+v, want %s", line, got, want)
		}
	}
	beyond := confined("ls")
	beyond.Level, beyond.Beyond, beyond.Why = item.AccessHost, true, "x"
	if got := with(t, policy.Risky, rules...).Decide(beyond); got.Decision != policy.Deny {
		t.Errorf("beyond: %+v", got)
	}
	if got := with(t, policy.Risky, rules...).Decide(policy.Call{Tool: "read_file", Paths: []string{"a"}, Confined: true}); got.Decision != policy.Allow {
		t.Errorf("another tool: %+v", got)
	}
}

// No client gives a rule with only; one that a pod has may stay.
func TestOnlyIsNotGiven(t *testing.T) {
	had := item.Rule{Tool: "shell", Command: "ls", Decision: policy.Only, Added: time.Now()}
	kept, wider := had, had
	kept.Added, wider.Command = time.Time{}, "ls *"
	if err := policy.CheckGiven([]item.Rule{allow("x"), kept}, []item.Rule{had}); err != nil {
		t.Error(err)
	}
	err := policy.CheckGiven([]item.Rule{kept, wider}, []item.Rule{had})
	if item.ReasonOf(err) != "RULE" || err.Error() != `the pod's rule 2: there is no decision "only": write "allow", "ask" or "deny"` {
		t.Error(err)
	}
}
