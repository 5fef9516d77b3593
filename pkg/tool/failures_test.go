package tool_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"podd/pkg/item"
	"podd/pkg/tool"
)

// outputs are what a person would look for in real outputs of programs that failed, each made with a failure of its own: parts of lines.
var outputs = []struct {
	name   string
	needed []string
}{
	{"cargo-build", []string{"error[E0308]", "expected `i32`, found `&str`", "src/lib.rs:232"}},
	{"cargo-test", []string{"t50::total_50 ... FAILED", "t133::total_133 ... FAILED", "the total of order 50", "the total of order 133", "left: 51", "left: 134", "2 failed"}},
	{"ci-steps", []string{"error TS2322", "code ELIFECYCLE", "Exit status 2"}},
	{"g++-templates", []string{"‘nope’ was not declared", "no match for ‘operator<’", "a.cc:9:19: error"}},
	{"gcc-make", []string{"‘bb’ undeclared", "m23.c:3:", "m41.c:4:", "expected ‘;’ before", "[Makefile:4: m23.o] Error 1", "[Makefile:4: m41.o] Error 1"}},
	{"gotest-panic", []string{"rate 40 is 120, want 121", "rate 171 is 513, want 514", "panic: assignment to entry in nil map", "c_test.go:3", "FAIL\tshop"}},
	{"gotest-v", []string{"rate 40 is 120, want 121", "rate 171 is 513, want 514", "--- FAIL: TestRates/rate_40", "--- FAIL: TestRates/rate_171", "FAIL\tshop"}},
	{"node-spec", []string{"order 77 has its total", "78 !== 77", "161 !== 160", "order 160 has its total", "fail 2"}},
	{"node-tap", []string{"not ok 78", "not ok 161", "a.test.js:2", "78 !== 77", "161 !== 160", "# fail 2"}},
	{"pytest-log", []string{"KeyError: 'missing-60'", "KeyError: 'missing-61'", "KeyError: 'missing-130'", "3 failed"}},
	{"pytest-v", []string{
		"test_price[60] FAILED", "test_price[61] FAILED", "test_price[130] FAILED",
		"KeyError: 'missing-60'", "KeyError: 'missing-61'", "KeyError: 'missing-130'", "test_shop.py:10: KeyError", "3 failed",
	}},
	{"server-log", []string{"ERROR db", "connection to 10.0.0.7:5432 refused", "ConnectionRefusedError", "line 88, in connect"}},
	{"tsc", []string{"TS2554: Expected 2 arguments, but got 1"}},
	{"unittest-v", []string{"AssertionError: 41 != 40", "AssertionError: 172 != 171", "No such file or directory: 'rates.csv'", "FAILED (failures=2, errors=1)", "FAIL: test_total_040", "ERROR: test_file"}},
}

// A cut of shell output keeps more of what a person would look for than its ends alone. The table is that of the README beside the
// outputs.
func TestFailuresAreKept(t *testing.T) {
	var table strings.Builder
	table.WriteString("| output | lines needed | ends, 16 KiB | with failures, 16 KiB | ends, 8,000 bytes | with failures, 8,000 bytes |\n|---|---|---|---|---|---|\n")
	var all [4]int
	needed := 0
	for _, o := range outputs {
		text := unpacked(t, o.name)
		fmt.Fprintf(&table, "| %s, %d bytes | %d |", o.name, len(text), len(o.needed))
		needed += len(o.needed)
		for _, line := range o.needed {
			if !strings.Contains(text, line) {
				t.Errorf("%s has no line with %q", o.name, line)
			}
		}
		var kept [4]int
		for i := range kept {
			kept[i] = keeps(t, text, o.needed, []int{16 << 10, 8000}[i/2], i%2 == 1)
			all[i] += kept[i]
			fmt.Fprintf(&table, " %d |", kept[i])
		}
		table.WriteString("\n")
		if kept[1] < kept[0] || kept[3] < kept[2] {
			t.Errorf("%s: of %d needed lines the ends keep %d and %d, with failures %d and %d", o.name, len(o.needed), kept[0], kept[2], kept[1], kept[3])
		}
	}
	fmt.Fprintf(&table, "| all | %d | %d | %d | %d | %d |\n", needed, all[0], all[1], all[2], all[3])
	const page = "testdata/outputs/README.md"
	written, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(written), "| output |")
	if want := before + table.String(); want != string(written) {
		if os.Getenv("PODD_WRITE_TABLE") == "" {
			t.Fatalf("%s has another table than PODD_WRITE_TABLE=1 writes:\n%s", page, table.String())
		}
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil { //nolint:gosec // a page of the repository
			t.Fatal(err)
		}
	}
}

// keeps counts needed lines in the cut of a shell command's output.
func keeps(t *testing.T, text string, needed []string, bytes int, failures bool) (kept int) {
	t.Helper()
	limit := (*tool.Limits)(nil).For("shell")
	limit.MaxBytes = bytes
	shown := text
	if len(text) > bytes {
		shown = fit(t, limit, text, failures)
	}
	for _, part := range needed {
		if strings.Contains(shown, part) {
			kept++
		}
	}
	return kept
}

// fit cuts a text, and checks what holds for each cut.
func fit(t *testing.T, limit tool.Limit, text string, failures bool) string {
	t.Helper()
	var middle func(from, to int64) string
	if failures {
		middle = func(from, to int64) string { return text[from:to] }
	}
	shown, cut := limit.Fit(text, text, middle, item.Cut{TotalBytes: int64(len(text)), TotalLines: tool.CountLines(text), SpoolPath: "/spool/1"})
	if len(shown) > limit.MaxBytes || tool.CountLines(shown) > int64(limit.MaxLines) {
		t.Fatalf("%+v gives %d bytes, %d lines", limit, len(shown), tool.CountLines(shown))
	}
	if cut.KeptBytes > cut.TotalBytes || cut.KeptLines > cut.TotalLines || cut.KeptBytes > int64(len(shown)) {
		t.Fatalf("%+v of %d bytes", cut, len(shown))
	}
	return shown
}

// Each failure is shown once, with the number that its line has, in the order of the output, and within the limit.
func TestFailuresFit(t *testing.T) {
	numbered := regexp.MustCompile(`(?m)^(\d+): (.*)$`)
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // not a secret
		lines := make([]string, 50+r.IntN(2000))
		for i := range lines {
			word := "fine"
			if r.IntN(1+r.IntN(300)) == 0 {
				word = []string{"error", "\x1b[31mFAIL\x1b[0m", "KeyError", "panic"}[r.IntN(4)]
			}
			lines[i] = fmt.Sprintf("line %d: %s %s", i+1, word, strings.Repeat("x", r.IntN(300)*r.IntN(2)))
		}
		limit := tool.Limit{MaxBytes: 256 + r.IntN(20000), MaxLines: 2 + r.IntN(600), Strategy: tool.StrategyHeadTail, HeadPercent: 1 + r.IntN(98)}
		text := strings.Join(lines, "\n")
		if len(text) <= limit.MaxBytes && len(lines) <= limit.MaxLines {
			continue
		}
		shown := fit(t, limit, text, true)
		_, behind, _ := strings.Cut(shown, "[cut: ")
		last := 0
		for _, m := range numbered.FindAllStringSubmatch(behind, -1) {
			var number int
			if _, err := fmt.Sscan(m[1], &number); err != nil {
				t.Fatal(err)
			}
			if number <= last || !strings.HasPrefix(m[2], fmt.Sprintf("line %d: ", number)) {
				t.Fatalf("seed %d: %q follows line %d", seed, m[0], last)
			}
			last = number
			if strings.Count(shown, fmt.Sprintf("line %d: ", number)) != 1 {
				t.Fatalf("seed %d: line %d is there twice", seed, number)
			}
		}
	}
}

// unpacked is an output.
func unpacked(t *testing.T, name string) string {
	t.Helper()
	file, err := os.Open("testdata/outputs/" + name + ".txt.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzip, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(unzip)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
