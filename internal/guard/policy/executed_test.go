package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"podd/internal/guard/policy"
)

func TestExecuted(t *testing.T) {
	makefile := "GNUmakefile|makefile|Makefile"
	for line, want := range map[string]string{
		"sh build.sh":                            "build.sh",
		"./x.sh --all":                           "x.sh",
		"/usr/bin/env sh x.sh":                   "/usr/bin/env x.sh",
		"bash -x dir/y.sh a b":                   "dir/y.sh a",
		"bash -o pipefail y.sh":                  "pipefail y.sh",
		"bash -ec 'cd sub && sh x.sh'":           "sub/x.sh",
		"cd sub && ./run; sh ../x":               "sub/run x",
		"cd /abs && sh x.sh":                     "/abs/x.sh",
		"A=1 sh x.sh > log":                      "x.sh",
		"for i in 1 2; do sh x.sh $i; done":      "x.sh",
		"sh $X":                                  "",
		"sh < x.sh":                              "",
		". ./env.sh":                             "env.sh",
		"make":                                   makefile,
		"make -C sub all":                        "sub/GNUmakefile|sub/makefile|sub/Makefile",
		"make -f my.mk":                          "my.mk",
		"make --file=my.mk":                      "my.mk",
		"npm test":                               "package.json",
		"npm --prefix web run build":             "web/package.json",
		"yarn build && just release":             "package.json justfile|Justfile|.justfile",
		"python3 -u tool.py data":                "tool.py data",
		"python -m pytest":                       "",
		"python -c 'print(1)' x.py":              "",
		"node x.js":                              "x.js",
		"node -r ./hook.js x.js":                 "hook.js x.js",
		"go run x.go y.go -v":                    "x.go y.go",
		"go run .":                               "",
		"sudo timeout 60 sh x.sh":                "x.sh",
		"env -i A=1 sh x.sh":                     "x.sh",
		"echo sh x.sh":                           "",
		"ls":                                     "",
		"sh 'x.sh":                               "",
		"git push":                               "",
		strings.Repeat("sh x; ", 3) + "./a; ./b": "x a b",
	} {
		var got []string
		for _, names := range policy.Executed(line) {
			got = append(got, strings.Join(names, "|"))
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s executes %s, want %s", line, text, want)
		}
	}
	var many strings.Builder
	for i := range 100 {
		fmt.Fprintf(&many, "./x%d;", i)
	}
	if n := len(policy.Executed(many.String())); n != 16 {
		t.Errorf("%d files", n)
	}
}

// Any line has an answer.
func FuzzExecuted(f *testing.F) {
	for _, line := range []string{"sh x", "make -C", "bash -c 'bash -c \"sh x\"'", "cd", "sudo sudo sudo", "node -r", "\x00"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		for _, names := range policy.Executed(line) {
			if len(names) == 0 {
				t.Errorf("%q executes a file without a name", line)
			}
		}
	})
}
