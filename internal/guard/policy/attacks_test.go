package policy_test

import (
	"testing"

	"podd/internal/guard/policy"
)

// attacks are lines that begin like an allowed echo and run something else, or do so in
// some shell.
var attacks = []string{
	"echo hi; rm x", "echo hi;rm x", "echo $(rm x)", "echo `rm x`", "echo hi\nrm x", "echo hi & rm x", "echo hi &", "echo hi | sh",
	"echo hi | rm x", "echo hi |& rm x", "echo <(rm x)", "echo >(rm x)", "echo hi > f", "echo hi >> f", "echo hi >| f", "echo hi &> f",
	"echo hi <> f", "echo hi 3>f", "echo hi {fd}>f", "echo < f", "echo hi > /dev/null/../f", "echo hi >&f", "FOO=1 rm", "FOO=1 echo rm", "FOO=1",
	"FOO[1]=1 echo", "FOO+=1 echo", "{ rm x; }", "{ echo hi; }", "(echo hi)", "(rm x)", "echo hi && rm x", "echo hi || rm x", "! echo hi",
	"rm\tx", "rm x", "echo {a,b}", "echo {1..3}", "echo {}a,b}", "echo {a,{}}", "echo a{b", "{echo,hi}", "echo ~", "echo ~root", "echo x=~", "echo a:~", "echo *", "echo ?",
	"echo [a]", "ec?o hi", "/bin/ech* hi", "echo $'hi'", "$'echo' hi", "echo $\"hi\"", "echo \"$(rm x)\"", "echo \"`rm x`\"", "echo \"${X:-$(rm x)}\"",
	"echo $X", "echo \"$X\"", "echo ${X}", "echo $((1))", "echo $[1]", "echo $((a[$(rm x)]))", "echo \"$\"(rm x)", "echo $(rm x", "echo `rm x",
	"echo\u00a0hi", "echo\u2003hi", "echo hi\u2028rm x", "echo hi\u200b", "echo hi\u202erm", "echo hi\x00rm x", "echo hi\r\nrm x", "echo hi\rrm x",
	"echo hi\vrm x", "echo hi\frm x", "echo hi\x1b[31m", "echo hi\xff", "\xef\xbb\xbfecho hi", "alias echo=rm\necho x", "command rm x", "command echo rm",
	"builtin echo", "/bin/echo hi", "./echo hi", "ECHO hi", "eval echo hi", "exec echo hi", "time echo hi", "nohup echo hi", "env echo hi",
	"coproc echo hi", "echo() { rm x; }; echo hi", "function echo { rm x; }", "if echo; then rm x; fi", "while echo; do rm x; done",
	"for i in 1; do rm x; done", "case x in x) rm x;; esac", "[[ -f x ]]", "((1))", "echo <<E\nE\nrm x", "echo <<E\n$(rm x)\nE", "echo <<<x",
	"echo <<'E'\nhi\nE", "echo\\ hi", "'echo hi'", "\"echo hi\"", "echo hi\\", "echo 'hi", "echo \"hi", "echo hi;;", "echo )", "echo hi; }",
	"echo hi #\nrm x", "echo hi \\\n; rm x", "echo hi \\\\\nrm x", "echo '\n'rm\nrm x", "echo @(a)", "echo !(a)", "export X=1", "declare -x X", "let x=1",
	"echo #\\\nrm x", "echo hi #a\\\nrm x", "echo '#' \\\nhi", "set -- echo", ". echo", "source echo", "trap rm EXIT", "", " ", "\n", "# echo hi", ":", "echo hi |", "| echo hi", "&& echo", "echo hi\n&& echo",
}

func TestAttacks(t *testing.T) {
	p := with(t, policy.Always, allow("echo *"), allow("true"))
	for _, line := range attacks {
		if v := p.Decide(shell(line)); v.Decision != policy.Ask {
			t.Errorf("%q: %s %s", line, v.Decision, v.Why)
		}
	}
}

// Text that the shell does not change stays allowed, however it is quoted and joined.
func TestPlainLines(t *testing.T) {
	p := with(t, policy.Always, allow("echo *"), allow("true"))
	for _, line := range []string{
		"echo", "echo hi", "  echo\t hi ", "echo 'a; rm x'", `echo "a $ b \$(rm x)"`, `echo a\;b`, "echo a \\\n b", "echo hi && echo ho || true; echo",
		"echo hi | echo ho\necho\n", "echo hi # rm x", "echo a#b", "echo 2>&1 >/dev/null", "echo hi 2>/dev/null </dev/null", "echo hi >&2", "'echo' hi",
		`e"ch"o hi`, `\echo hi`, "echo {} [ ]", "echo -I{} x{}y{}", "echo '*' \"?\" \\*", "echo HEAD~1 a=b x:y", "echo ''", "echo hi;", "echo é 日本", "echo !x", "echo -- -n", "echo 'a\nb'",
		`echo "foo$"`,
	} {
		if v := p.Decide(shell(line)); v.Decision != policy.Allow {
			t.Errorf("%q: %s %s", line, v.Decision, v.Why)
		}
	}
}
