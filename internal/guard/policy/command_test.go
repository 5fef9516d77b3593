package policy_test

import (
	"strings"
	"testing"

	"podd/internal/guard/policy"
	"podd/pkg/item"
)

// What a rule that allows matches, with nothing else allowed.
func TestAllowedCommands(t *testing.T) {
	for _, tt := range []struct{ pattern, yes, no string }{
		{"ls", "ls", "ls -l|lsof|/bin/ls|LS"},
		{"ls *", "ls|ls -l|ls -l 'a b'|l\\s x", "lsof|/bin/ls x|ls $X|ls *.go"},
		{"/bin/ls *", "/bin/ls x", "ls x"},
		{"go test ./...", "go test ./...|'go' \"test\" ./...", "go test|go test ./... -v|go test '' ./..."},
		{"npm run test:*", "npm run test:unit|npm run test:", "npm run test|npm run test:unit -- -x|npm run 'test' :unit"},
		{"git log *", "git log|git log -p HEAD~1", "git|git -c alias.log=!x log|git -C x log|git log --ext-diff|git log --ext=1"},
		{"git * status", "", ""},
		{"make * all", "make x all", "make all|make x y all|make x all z"},
		{"make ** all", "make all|make x y all|make all all", "make x"},
		{"cp * *", "cp a b|cp a b c|cp a", "cp"},
		{"echo '*'", "echo '*'|echo \\*", "echo x|echo *"},
		{`echo "a b" c\ d`, "echo 'a b' 'c d'", "echo a b c d"},
		{"find *", "find . -name x", "find . -exec rm x \\;|find . -delete|find . -execdir x|find . -fprint x|find . -exec"},
		{"find . -delete *", "find . -delete", "find . -exec rm"},
		{"find . -ex*", "", "find . -exec"},
		{"fd *", "fd x", "fd -x rm|fd -Hx rm|fd --exec rm|fd --exe rm|fd x -X rm"},
		{"rg *", "rg x|rg -p x", "rg --pre rm x|rg --pre=rm x"},
		{"tar *", "tar tf x", "tar --to-command=rm xf x|tar --to-c=rm xf x|tar xIf rm x -I rm"},
		{"printf *", "printf %s x", "printf -v PATH x"},
		{"[ *", "[ -f x ]", "[ -v x ]"},
		{"git clone *", "git clone x", "git clone -c core.fsmonitor=x y|git clone -u x y|git clone --upload-pack=x y"},
		{"python manage.py *", "python manage.py migrate", "python -c x|python other.py|python"},
		{"bash build.sh *", "bash build.sh -x", "bash -c x"},
		{"xargs rm", "xargs rm", "xargs rm -f"},
		{"cd sub && go test *", "cd sub && go test ./x|cd sub&&go test", "cd sub|go test|cd sub; go test|cd sub && go test && ls|go test && cd sub|cd sub || go test"},
		{"cat x | sh", "cat x | sh|cat x 2>/dev/null | sh", "sh|cat x; sh|cat y | sh"},
		{"a; b", "a; b|a\nb", "a && b|a"},
	} {
		if tt.yes == "" && tt.no == "" {
			continue
		}
		p := with(t, policy.Always, allow(tt.pattern))
		check := func(lines string, want string) {
			for _, line := range strings.Split(strings.ReplaceAll(lines, " | ", " \x00 "), "|") {
				// A pipe or an "or" of the line itself is between blanks.
				line = strings.ReplaceAll(line, " \x00 ", " | ")
				if v := p.Decide(shell(line)); line != "" && v.Decision != want {
					t.Errorf("%s: %q is %s, want %s: %s", tt.pattern, line, v.Decision, want, v.Why)
				}
			}
		}
		check(tt.yes, policy.Allow)
		check(tt.no, policy.Ask)
	}
}

// Different rules may allow the commands of a line; the verdict names them.
func TestSeveralRulesAllowOneLine(t *testing.T) {
	a, b := allow("cat *"), allow("grep *")
	a.Source, b.Source = "c:1", "c:5"
	v := with(t, policy.Always, a, b).Decide(shell("cat x | grep y && cat z"))
	if v.Decision != policy.Allow || v.Why != `The command "cat x | grep y && cat z" is allowed by c:1 (tool "shell", command "cat *") and c:5 (tool "shell", command "grep *").` {
		t.Errorf("%+v", v)
	}
}

// hidden are lines that a rule that denies rm must not let through: it denies them, or
// asks if the command is not visible.
var hidden = map[string]string{
	"rm x": policy.Deny, "rm": policy.Deny, "/bin/rm x": policy.Deny, "./rm x": policy.Deny, "RM x": policy.Deny, "rm\tx": policy.Deny, "r\\m x": policy.Deny,
	"'rm' x": policy.Deny, "r''m x": policy.Deny, `"r"m x`: policy.Deny, "r\\\nm x": policy.Deny, "rm $X": policy.Deny, "rm *": policy.Deny, "X=1 rm x": policy.Deny,
	"ls; rm x": policy.Deny, "ls && rm x": policy.Deny, "ls || rm x": policy.Deny, "ls | rm": policy.Deny, "ls |& rm": policy.Deny, "ls & rm x": policy.Deny, "rm x &": policy.Deny,
	"ls\nrm x": policy.Deny, "echo $(rm x)": policy.Deny, "echo `rm x`": policy.Deny, "echo \"$(rm x)\"": policy.Deny, "echo \"${X:-`rm x`}\"": policy.Deny,
	"cat <(rm x)": policy.Deny, "{ rm x; }": policy.Deny, "(rm x)": policy.Deny, "! rm x": policy.Deny, "if rm x; then ls; fi": policy.Deny, "while rm x; do ls; done": policy.Deny,
	"f() { rm x; }; f": policy.Deny, "case x in x) rm x;; esac": policy.Deny, "cat <<E\n$(rm x)\nE": policy.Deny, "X=$(rm x)": policy.Deny, "export X=$(rm x)": policy.Deny,
	"echo $((a[$(rm x)]))": policy.Deny, "time rm x": policy.Deny, "coproc rm x": policy.Deny, "> f rm x": policy.Deny, "rm x > f": policy.Deny, "ls &>f rm x": policy.Deny,
	"sudo rm x": policy.Deny, "sudo -u bob rm x": policy.Deny, "env A=1 rm x": policy.Deny, "env -S 'rm x'": policy.Ask, "env -S'rm x'": policy.Ask, "nohup rm x": policy.Deny,
	"timeout -k 1 5 rm x": policy.Deny, "xargs rm": policy.Deny, "ls | xargs -n 1 rm -f": policy.Deny, "command rm x": policy.Deny, "builtin command rm x": policy.Deny,
	"exec rm x": policy.Deny, "find . -exec rm {} +": policy.Deny, "find . -name x -execdir rm {} ';'": policy.Deny, "fd x -x rm": policy.Deny, "sudo find . -exec rm {} +": policy.Deny,
	"find . -exec sh -c 'rm x' ';'": policy.Deny, "sh -c 'rm x'": policy.Deny, "bash -lc \"ls; rm x\"": policy.Deny, "sh -c 'sh -c \"rm x\"'": policy.Deny, "sudo bash -c 'r\\m x'": policy.Deny,
	"eval rm x": policy.Deny, "eval 'rm x'": policy.Deny, "eval 'r\\m' x": policy.Deny, "eval \"ls;\" rm x": policy.Deny, "ssh host rm x": policy.Deny, "ssh host 'cd y && rm x'": policy.Deny,
	"trap 'rm x' EXIT": policy.Deny, "alias ls='rm x'": policy.Ask, "alias ls=rm": policy.Ask, "watch 'rm x'": policy.Deny, "git -c alias.x='!rm x' x": policy.Ask, "true #\\\nrm x": policy.Deny,
	"$X x": policy.Ask, "$(echo rm) x": policy.Ask, "`echo rm` x": policy.Ask, "$'rm' x": policy.Ask, "$'\\x72m' x": policy.Ask, "r[m] x": policy.Ask, "/bin/r? x": policy.Ask,
	"{rm,x}": policy.Ask, "~/rm x": policy.Ask, "\"$X\" x": policy.Ask, "sudo $X": policy.Ask, "xargs $X": policy.Ask, "eval \"$X\"": policy.Ask, "sh -c \"$X\"": policy.Ask,
	"echo cm0geAo= | base64 -d | sh": policy.Ask, "bash < f": policy.Ask, "sh <<E\nrm x\nE": policy.Ask, "sh -s": policy.Ask, "sudo sh": policy.Ask, "bash <<<'rm x'": policy.Ask,
	"rm 'x": policy.Ask, "echo )": policy.Ask, "ls\rrm x": policy.Ask, "rm\u00a0x": policy.Ask, "ls \x00": policy.Ask, "ls \xff": policy.Ask, "ls " + strings.Repeat("x", 40<<10): policy.Ask,
	strings.Repeat("sh -c 'x' ", 9): policy.Allow, strings.Repeat("( ", 300) + "rm x" + strings.Repeat(")", 300): policy.Deny,
	"ls": policy.Allow, "echo rm x": policy.Allow, "rmdir x": policy.Allow, "ls rm": policy.Allow, "echo $X": policy.Allow, "git rm x": policy.Allow, "for i in *; do echo $i; done": policy.Allow,
	"echo 'rm x'": policy.Allow, "ls # rm x": policy.Allow, "bash build.sh": policy.Allow, "timeout 5 make": policy.Allow, "X=1 make": policy.Allow, "cat <<'E'\nrm x\nE": policy.Allow,
	"find . -name rm": policy.Allow, "find . -exec grep x {} +": policy.Allow, "": policy.Allow,
}

// Everything else is allowed, so that a hidden command would get through.
func TestDeniedCommands(t *testing.T) {
	for _, rules := range [][]item.Rule{
		{deny("rm *"), {Tool: "shell", Decision: policy.Allow}},
		{{Command: "rm **", Decision: policy.Deny}},
	} {
		p := with(t, policy.Risky, rules...)
		for line, want := range hidden {
			if v := p.Decide(confined(line)); v.Decision != want {
				t.Errorf("%.60q: %s, want %s: %.300s", line, v.Decision, want, v.Why)
			}
		}
	}
	// A rule that asks asks instead of denying, and in mode never denies.
	asking, never := with(t, policy.Risky, ask("rm *")), with(t, policy.Never, ask("rm *"))
	for line, want := range hidden {
		if want != policy.Allow && asking.Decide(confined(line)).Decision != policy.Ask {
			t.Errorf("%.60q is not asked about", line)
		}
		if want != policy.Allow && never.Decide(confined(line)).Decision != policy.Deny {
			t.Errorf("%.60q is not denied in mode never", line)
		}
	}
}

func TestDenyPatterns(t *testing.T) {
	for _, tt := range []struct {
		pattern, line string
		want          string
	}{
		{"git push *", "git push", policy.Deny},
		{"git push *", "git -C x push --force", policy.Deny},
		{"git push *", "git --no-pager -c a=b push", policy.Deny},
		{"git push *", "git $X", policy.Ask},
		{"git push *", "git $X --force", policy.Ask},
		{"git push *", "git log $X", policy.Allow},
		{"git push *", "git log push", policy.Allow},
		{"git push ** --force **", "git push origin --force main", policy.Deny},
		{"git push ** --force **", "git push origin main", policy.Allow},
		{"git push ** --force **", "git push origin $X", policy.Ask},
		{"git push ** --force*", "git push origin --force-with-lease=x", policy.Deny},
		{"* --force", "x --force", policy.Deny},
		{"*", "anything", policy.Deny},
		{"**", "anything at all", policy.Deny},
		{"/bin/rm *", "/bin/rm x", policy.Deny},
		{"/bin/rm *", "rm x", policy.Allow},
		{"rm -rf *", "rm -rf x", policy.Deny},
		{"rm -rf *", "rm -fr x", policy.Allow},
		{"export *", "export X=1", policy.Deny},
		{"rm*", "rmdir x", policy.Allow},
		{"rm* *", "rmdir x", policy.Deny},
		{"bash *", "bash build.sh", policy.Deny},
		{"sudo *", "/usr/bin/sudo ls", policy.Deny},
		{`deploy "it's live" *`, `choom deploy "it's live"`, policy.Ask},
		{"make", "make all", policy.Allow},
		{"make", "choom make", policy.Ask},
	} {
		if v := with(t, policy.Risky, deny(tt.pattern)).Decide(confined(tt.line)); v.Decision != tt.want {
			t.Errorf("%s: %q is %s, want %s: %s", tt.pattern, tt.line, v.Decision, tt.want, v.Why)
		}
	}
	// A rule for another tool does not apply.
	if v := with(t, policy.Risky, item.Rule{Tool: "other", Command: "rm *", Decision: policy.Deny}).Decide(confined("rm $(x")); v.Decision != policy.Allow {
		t.Errorf("%+v", v)
	}
	v := with(t, policy.Risky, deny("rm *")).Decide(confined("$X y"))
	if want := `The command "$X y" needs approval because podd cannot tell whether rule 1 (tool "shell", command "rm *") applies to it: the name of a program is an expansion.`; v.Why != want {
		t.Errorf("%s\nwant %s", v.Why, want)
	}
}
