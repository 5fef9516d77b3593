package shell_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"podd/internal/shell"
	"podd/pkg/tool"
)

// Outputs of test runners and compilers, verbatim except for paths, and their summaries.
// Those of maven are written by hand.
var outcomes = map[string]struct {
	status int
	want   string
}{
	"go_test.txt":         {1, ", 2 failed, 1 package failed, 1 package ok: TestTakes, TestDivides; "},
	"go_test_all.txt":     {1, ", 3 failed, 3 packages failed, 1 package ok: example.com/calc/bad [build failed], TestTakes, TestDivides, TestPanics; "},
	"go_test_verbose.txt": {1, ", 2 failed, 1 passed, 1 skipped, 1 package failed: TestTakes, TestDivides; "},
	"go_test_ok.txt":      {0, ", 1 package ok; "},
	"go_build.txt":        {1, ", 2 errors: bad/bad.go:3:23: undefined: undefined, bad/bad.go:4:12: declared and not used: x; "},
	"pytest.txt":          {1, ", 2 failed, 1 error, 2 passed, 1 skipped: test_divides, test_reads, test_db; "},
	"pytest_quiet.txt":    {0, ", 2 passed; "},
	"jest.txt":            {1, ", 2 failed, 1 passed, 1 skipped: takes, a group › divides; "},
	"vitest.txt":          {1, ", 2 failed, 1 passed, 1 skipped: takes, a group > divides; "},
	"cargo_test.txt":      {101, ", 2 failed, 1 passed, 1 ignored: tests::divides, tests::takes; "},
	"cargo_build.txt":     {101, ", did not compile: [E0425]: cannot find function `undefined` in this scope; "},
	"node_tap.txt":        {1, ", 3 failed, 1 passed, 1 skipped: takes, divides, a group; "},
	"node_spec.txt":       {1, ", 3 failed, 1 passed, 1 skipped: takes, a group, divides; "},
	"maven_test.txt":      {1, ", build failed, 1 failed, 1 error, 4 run, 1 skipped: CalcTest.takes:14, CalcTest.divides:18; "},
	"maven_build.txt":     {1, ", build failed: Calc.java:[5,16] cannot find symbol; "},
	"tsc.txt":             {2, ", 2 errors: x.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'. and 1 more; "},
	"tsc_pretty.txt":      {1, ", 2 errors: x.ts:1:7 - error TS2322: Type 'string' is not assignable to type 'number'. and 1 more; "},
	"make.txt":            {2, ", make failed: x.c:3:5: error: unknown type, b; "},
}

func TestOutcomes(t *testing.T) {
	recorded, err := filepath.Glob("testdata/outcome/*.txt")
	if err != nil || len(recorded) != len(outcomes) {
		t.Fatalf("%d recordings for %d outcomes, %v", len(recorded), len(outcomes), err)
	}
	for _, path := range recorded {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := outcomes[filepath.Base(path)]
		b := newBench(t, map[string]string{"said.txt": string(text)})
		command := fmt.Sprintf("cat said.txt; exit %d", want.status)
		out := b.call("shell", object("command", command))
		if !strings.HasPrefix(out.Summary, fmt.Sprintf("shell: %s, exit %d%s", command, want.status, want.want)) || out.IsError != (want.status != 0) {
			t.Errorf("%s: %q, want %q", path, out.Summary, want.want)
		}
	}
}

// Without a rule the last line about an error says how it went, or the last line.
func TestOutcomeOfOtherPrograms(t *testing.T) {
	b := newBench(t, nil)
	for command, want := range map[string]string{
		"echo one; echo two":                                       "exit 0: two; 2 lines",
		"echo 'Error: no x'; echo at y; exit 1":                    "exit 1: Error: no x; 2 lines",
		"echo one; echo two; exit 1":                               "exit 1: two; 2 lines",
		"printf 'one\\n\\n  \\n'":                                  "exit 0: one; 3 lines",
		"printf '10%%\\r90%%\\r100%%\\n'":                          "exit 0: 100%; 1 line",
		"printf '\\033[31mred\\033[0m\\n'":                         "exit 0: red; 1 line",
		"printf 'a\\007b\\n'":                                      `exit 0: a\x07b; 1 line`,
		"go() { echo '--- FAIL: TestA (0.00s)'; }; go || true; go": "exit 0, 2 failed: TestA; 2 lines",
		"true": "exit 0, no output",
	} {
		if out := b.call("shell", object("command", command)); !strings.HasSuffix(out.Summary, want) {
			t.Errorf("%s: %q, want %q", command, out.Summary, want)
		}
	}
}

// However long the output: it names what fails, the outcome has its bound, and omitted
// names are counted.
func TestOutcomeOfVeryMuch(t *testing.T) {
	b := newBench(t, nil)
	b.write("test.sh", "for i in $(seq 1 3000); do echo \"=== RUN TestNumber$i\"; echo \"--- FAIL: TestNumber$i (0.00s)\"; done; echo 'FAIL\tpkg\t0.1s'; exit 1\n")
	out := b.call("shell", `{"command":"sh test.sh"}`)
	said := strings.TrimSuffix(strings.TrimPrefix(out.Summary, "shell: sh test.sh, exit 1"), "; 6001 lines")
	if len(said) > 160 || !strings.Contains(said, ": TestNumber1, TestNumber2") || !strings.Contains(said, " more") || out.Cut == nil {
		t.Errorf("%d bytes: %q", len(said), out.Summary)
	}
	b.write("long.txt", strings.Repeat("é", 3000))
	out = b.call("shell", `{"command":"cat long.txt; false"}`)
	said = strings.TrimSuffix(strings.TrimPrefix(out.Summary, "shell: cat long.txt; false, exit 1"), "; 1 line")
	if len(said) > 160 || !strings.HasSuffix(said, "é…") || !utf8.ValidString(said) {
		t.Errorf("%d bytes: %q", len(said), out.Summary)
	}
}

// masked removes one word.
type masked string

func (m masked) Redact(text string) string {
	return strings.ReplaceAll(text, string(m), "[redacted]")
}

func (m masked) Live(report func(string)) (write func(string), flush func()) {
	return report, func() {}
}

// A secret is removed before a cut could leave a part of it.
func TestOutcomeHasNoSecret(t *testing.T) {
	secret := "sesame-sesame-sesame"
	limits, err := tool.NewLimits(tool.LimitsConfig{Redactor: masked(secret)})
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, nil, func(c *setup) { c.Limits = limits })
	for n := range 170 {
		b.write("said.txt", strings.Repeat("x", n)+secret+"\n")
		out := b.call("shell", `{"command":"cat said.txt; true"}`)
		if strings.Contains(out.Summary, secret[:3]) {
			t.Fatalf("after %d bytes: %q", n, out.Summary)
		}
	}
}

// For any output the outcome is one bounded line.
func FuzzOutcome(f *testing.F) {
	recorded, _ := filepath.Glob("testdata/outcome/*.txt")
	for _, path := range recorded {
		text, _ := os.ReadFile(path)
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, success := range []bool{false, true} {
			said := shell.Outcome(text, success)
			if len(said) > 160 || strings.ContainsAny(said, "\n\x1b\x00") || said != "" && !slices.Contains([]string{", ", ": "}, said[:2]) {
				t.Errorf("%q", said)
			}
		}
	})
}
