package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	openTrace   = "testdata/open.trace.jsonl"
	publicTrace = "testdata/public.trace.jsonl.gz"
)

// bench runs the command and returns its output.
func bench(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, err strings.Builder
	code = run(args, &out, &err)
	return out.String(), err.String(), code
}

// replayed are the output lines of a run that must succeed, by policy.
func replayed(t *testing.T, args ...string) map[string]line {
	t.Helper()
	stdout, stderr, code := bench(t, args...)
	if code != exitDone || stderr != "" {
		t.Fatalf("%v: exit %d, %s", args, code, stderr)
	}
	lines := map[string]line{}
	for text := range strings.Lines(stdout) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		lines[l.Policy] = l
	}
	return lines
}

// traceFile is a file with these lines.
func traceFile(t *testing.T, lines ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "made.jsonl")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// The modes have the properties that README.md and docs/pruning.md state.
func TestGates(t *testing.T) {
	lines := replayed(t, openTrace)
	if l := lines["economic"]; l.CostPct > 71.5 || l.MissPct > 2.0 {
		t.Errorf("economic: %+v", l)
	}
	if l := lines["turns"]; l.CostPct > 87.0 {
		t.Errorf("turns: %+v", l)
	}
	if l := replayed(t, publicTrace)["economic"]; l.CostPct > 72 || l.MissPct > 1.2 {
		t.Errorf("economic, public: %+v", l)
	}
	if l := replayed(t, "-single", openTrace)["economic"]; l.CostPct > 76 {
		t.Errorf("economic, single: %+v", l)
	}
}

// numbers are the cost, the tokens, the misses and the prunes of a line.
type numbers struct {
	cost, tokens, miss float64
	events             int
}

// The page has the table that its command prints.
func TestTableOfThePage(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	table, _, _ := bench(t, "-table", openTrace, publicTrace)
	for row := range strings.Lines(table) {
		if !strings.Contains(string(page), row) {
			t.Errorf("README.md lacks the row %s", row)
		}
	}
}

// The numbers of the reference, which is another program in another language, for the
// same rules and the same cost model.
func TestAgreesWithTheReference(t *testing.T) {
	tests := []struct {
		args            []string
		turns, economic numbers
	}{
		{nil, numbers{86.16, 79.81, 1.09, 66}, numbers{70.31, 64.06, 1.88, 117}},
		{[]string{"-single"}, numbers{100, 100, 0, 0}, numbers{74.24, 69.70, 1.18, 91}},
		{[]string{"-cache=lcp"}, numbers{86.16, 79.81, 1.09, 66}, numbers{70.28, 63.50, 1.92, 124}},
		{[]string{"-cache=prefix"}, numbers{86.16, 79.81, 1.09, 66}, numbers{71.15, 65.62, 1.62, 82}},
		{[]string{"-w=1.25", "-ttl=30m"}, numbers{90.99, 79.81, 1.09, 66}, numbers{75.87, 65.97, 1.75, 93}},
		{[]string{"-r=0.25"}, numbers{82.40, 79.81, 1.09, 66}, numbers{64.33, 60.15, 2.31, 188}},
		{[]string{"-r=0.5"}, numbers{80.74, 79.81, 1.09, 66}, numbers{60.09, 58.19, 2.58, 271}},
		{[]string{"-r=1"}, numbers{79.81, 79.81, 1.09, 66}, numbers{54.01, 54.01, 3.36, 482}},
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			lines := replayed(t, append(tt.args, openTrace)...)
			for policy, want := range map[string]numbers{"off": {100, 100, 0, 0}, "turns": tt.turns, "economic": tt.economic} {
				if got := lines[policy]; (numbers{got.CostPct, got.TokensPct, got.MissPct, got.Events}) != want || got.Calls != 2291 {
					t.Errorf("%s: got %+v, want %+v", policy, got, want)
				}
			}
		})
	}
}

// Each file has lines of its own, one for each policy.
func TestOutput(t *testing.T) {
	file := traceFile(t, `{"id":"w","items":[{"r":"u","t":10,"u":true}],"at":[1],"gap":[-1],"needs":[null]}`, "", "")
	stdout, _, _ := bench(t, file, file)
	first, _, _ := strings.Cut(stdout, "\n")
	if want := `{"trace":"made","policy":"off","cost_pct":100,"tokens_pct":100,"miss_pct":0,"miss_tokens_pct":0,"cost_95":[100,100],"miss_95":[0,0],"events":0,"calls":1}`; first != want {
		t.Errorf("it prints\n%s\nwant\n%s", first, want)
	}
	if n := strings.Count(stdout, "\n"); n != 2*len(policies) {
		t.Errorf("%d lines", n)
	}
	table, _, _ := bench(t, "-table", file)
	if want := "| made | off | 100.00 % | 100.0 to 100.0 | 0.00 % | 0.00 to 0.00 | 0.00 % | 0 |\n"; !strings.Contains(table, want) {
		t.Errorf("the table is\n%s", table)
	}
}

// The intervals have the value of all windows in them, and a trace of equal windows has none.
func TestIntervals(t *testing.T) {
	for policy, l := range replayed(t, publicTrace) {
		if l.Cost95[0] > l.CostPct || l.Cost95[1] < l.CostPct || l.Miss95[0] > l.MissPct || l.Miss95[1] < l.MissPct {
			t.Errorf("%s: %+v", policy, l)
		}
	}
	one := outcome{cost: 3, misses: 1, calls: 4}
	off := outcome{cost: 4, calls: 4}
	cost, miss := bootstrap([]outcome{one, one, one}, []outcome{off, off, off})
	if cost != (interval{75, 75}) || miss != (interval{25, 25}) {
		t.Errorf("equal windows: %v, %v", cost, miss)
	}
}

func TestUsage(t *testing.T) {
	tests := map[string]struct {
		args []string
		code int
		// part is from the standard output for exit 0, otherwise from the standard error.
		part string
	}{
		"help":                {[]string{"-h"}, exitDone, "-single"},
		"help, long":          {[]string{"--help"}, exitDone, "usage: go run ./internal/testing/prunebench"},
		"no file":             {nil, exitUsage, "no trace file is named"},
		"flags alone":         {[]string{"-single"}, exitUsage, "no trace file is named"},
		"an unknown flag":     {[]string{"-x", openTrace}, exitUsage, "-x"},
		"a wrong cache":       {[]string{"-cache", "all", openTrace}, exitUsage, "use ends, lcp or prefix"},
		"a wrong lifetime":    {[]string{"-ttl", "soon", openTrace}, exitUsage, "use seconds"},
		"no lifetime":         {[]string{"-ttl", "0", openTrace}, exitUsage, "lifetime"},
		"an endless lifetime": {[]string{"-ttl", "Inf", openTrace}, exitUsage, "use seconds"},
		"no number":           {[]string{"-r", "x", openTrace}, exitUsage, "-r"},
		"not a number":        {[]string{"-r", "NaN", openTrace}, exitUsage, "cached input"},
		"r above w":           {[]string{"-r", "2", openTrace}, exitUsage, "cached input"},
		"w at 0":              {[]string{"-r", "0", "-w", "0", openTrace}, exitUsage, "newly written input"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, code := bench(t, tt.args...)
			text, other := stdout, stderr
			if tt.code != exitDone {
				text, other = stderr, stdout
			}
			if code != tt.code || !strings.Contains(text, tt.part) || other != "" {
				t.Errorf("exit %d\n%s\n%s", code, stdout, stderr)
			}
			if tt.code == exitUsage && strings.Count(stderr, "\n") != 1 {
				t.Errorf("not one line: %s", stderr)
			}
		})
	}
}

func TestFlagsMayStandBehindFiles(t *testing.T) {
	file := traceFile(t, `{"items":[],"at":[0],"gap":[-1],"needs":[null]}`)
	for _, args := range [][]string{{"-ttl", "1800", file, "-single"}, {file, "-cache=lcp", file}, {"-single", "--", file}} {
		replayed(t, args...)
	}
	if _, stderr, code := bench(t, "--", file, "-single"); code != exitFailed || !strings.Contains(stderr, "-single") {
		t.Errorf("behind -- all are files: exit %d, %s", code, stderr)
	}
}

func TestBadInput(t *testing.T) {
	const good = `{"items":[{"r":"u","t":1}],"at":[1],"gap":[-1],"needs":[null]}`
	tests := map[string]struct {
		line string
		part string
	}{
		"broken JSON":         {`{"items":[`, "is not a JSON object"},
		"no object":           {`[1,2]`, "is not a JSON object"},
		"two objects":         {good + good, "is not a JSON object"},
		"text":                {`hello`, "is not a JSON object"},
		"a size as text":      {`{"items":[{"r":"u","t":"1"}],"at":[1],"gap":[-1],"needs":[null]}`, `"items.t" cannot be a JSON string`},
		"half a token":        {`{"items":[{"r":"u","t":1.5}],"at":[1],"gap":[-1],"needs":[null]}`, `"items.t" cannot be a JSON number 1.5`},
		"a negative size":     {`{"items":[{"r":"u","t":-1}],"at":[1],"gap":[-1],"needs":[null]}`, "items[0]"},
		"no role":             {`{"items":[{"t":1}],"at":[1],"gap":[-1],"needs":[null]}`, `items[0]: the role "r" is ""`},
		"an unknown role":     {`{"items":[{"r":"su","t":1}],"at":[1],"gap":[-1],"needs":[null]}`, `the role "r" is "su"`},
		"no calls":            {`{"items":[{"r":"u","t":1}]}`, `"at" is absent`},
		"a gap too few":       {`{"items":[],"at":[0,0],"gap":[-1],"needs":[null,null]}`, `"gap" has 1 numbers for 2`},
		"needs too few":       {`{"items":[],"at":[0],"gap":[-1]}`, `"needs" has 0 lists for 1`},
		"an endless gap":      {`{"items":[],"at":[0],"gap":[1e300],"needs":[null]}`, "gap[0]"},
		"more than all items": {`{"items":[],"at":[1],"gap":[-1],"needs":[null]}`, "at[0] is 1"},
		"fewer items later":   {`{"items":[{"r":"u","t":1}],"at":[1,0],"gap":[-1,1],"needs":[null,null]}`, "at[1] is 0"},
		"a need of nothing":   {`{"items":[],"at":[0],"gap":[-1],"needs":[[[]]]}`, "needs[0][0] names no item"},
		"a negative need":     {`{"items":[{"r":"o","t":1}],"at":[1],"gap":[-1],"needs":[[[-1]]]}`, "needs[0][0] names item -1"},
		"a need of later":     {`{"items":[{"r":"o","t":1}],"at":[0],"gap":[-1],"needs":[[[0]]]}`, "needs[0][0] names item 0"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			file := traceFile(t, good, tt.line)
			stdout, stderr, code := bench(t, file)
			if code != exitFailed || stdout != "" || !strings.Contains(stderr, tt.part) ||
				!strings.HasPrefix(stderr, "prunebench: "+file+":2: ") || strings.Count(stderr, "\n") != 1 {
				t.Errorf("exit %d, %s%s", code, stdout, stderr)
			}
		})
	}
	missing := filepath.Join(t.TempDir(), "missing.jsonl")
	for file, part := range map[string]string{
		missing:              "no such file",
		t.TempDir():          "is a directory",
		traceFile(t, "", ""): "the file holds no window",
		plainGzip(t):         "cannot read the trace",
	} {
		stdout, stderr, code := bench(t, openTrace, file)
		if code != exitFailed || stdout != "" || !strings.Contains(stderr, part) || !strings.Contains(stderr, file) {
			t.Errorf("%s: exit %d, %s", file, code, stderr)
		}
	}
}

// plainGzip is a file that only its name calls compressed.
func plainGzip(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "made.jsonl.gz")
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
