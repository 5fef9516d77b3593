package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const openTrace = "testdata/open.trace.jsonl"

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

// The modes have the properties that docs/pruning.md states.
func TestGates(t *testing.T) {
	lines := replayed(t, openTrace)
	if l := lines["economic"]; l.CostPct > 71.5 || l.MissPct > 2.0 {
		t.Errorf("economic: %+v", l)
	}
	if l := lines["turns"]; l.CostPct > 87.0 {
		t.Errorf("turns: %+v", l)
	}
	if l := replayed(t, "-single", openTrace)["economic"]; l.CostPct > 76 {
		t.Errorf("economic, single: %+v", l)
	}
}

// The numbers of the reference, which is another program in another language, for the
// same rules and the same cost model.
func TestAgreesWithTheReference(t *testing.T) {
	tests := []struct {
		args            []string
		turns, economic line
	}{
		{nil, line{"turns", 86.16, 79.81, 1.09, 66, 2291}, line{"economic", 70.31, 64.06, 1.88, 117, 2291}},
		{[]string{"-single"}, line{"turns", 100, 100, 0, 0, 2291}, line{"economic", 74.24, 69.70, 1.18, 91, 2291}},
		{[]string{"-cache=lcp"}, line{"turns", 86.16, 79.81, 1.09, 66, 2291}, line{"economic", 70.28, 63.50, 1.92, 124, 2291}},
		{[]string{"-cache=prefix"}, line{"turns", 86.16, 79.81, 1.09, 66, 2291}, line{"economic", 71.15, 65.62, 1.62, 82, 2291}},
		{[]string{"-w=1.25", "-ttl=30m"}, line{"turns", 90.99, 79.81, 1.09, 66, 2291}, line{"economic", 75.87, 65.97, 1.75, 93, 2291}},
		{[]string{"-r=0.25"}, line{"turns", 82.40, 79.81, 1.09, 66, 2291}, line{"economic", 64.33, 60.15, 2.31, 188, 2291}},
		{[]string{"-r=0.5"}, line{"turns", 80.74, 79.81, 1.09, 66, 2291}, line{"economic", 60.09, 58.19, 2.58, 271, 2291}},
		{[]string{"-r=1"}, line{"turns", 79.81, 79.81, 1.09, 66, 2291}, line{"economic", 54.01, 54.01, 3.36, 482, 2291}},
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			lines := replayed(t, append(tt.args, openTrace)...)
			off := line{"off", 100, 100, 0, 0, 2291}
			for _, want := range []line{off, tt.turns, tt.economic} {
				if got := lines[want.Policy]; got != want {
					t.Errorf("got %+v, want %+v", got, want)
				}
			}
		})
	}
}

func TestOutput(t *testing.T) {
	file := traceFile(t, `{"id":"w","items":[{"r":"u","t":10,"u":true}],"at":[1],"gap":[-1],"needs":[null]}`, "", "")
	stdout, _, _ := bench(t, file, file)
	want := `{"policy":"off","cost_pct":100,"tokens_pct":100,"miss_pct":0,"events":0,"calls":2}
{"policy":"turns","cost_pct":100,"tokens_pct":100,"miss_pct":0,"events":0,"calls":2}
{"policy":"economic","cost_pct":100,"tokens_pct":100,"miss_pct":0,"events":0,"calls":2}
`
	if stdout != want {
		t.Errorf("it prints\n%s", stdout)
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
	} {
		stdout, stderr, code := bench(t, openTrace, file)
		if code != exitFailed || stdout != "" || !strings.Contains(stderr, part) || !strings.Contains(stderr, file) {
			t.Errorf("%s: exit %d, %s", file, code, stderr)
		}
	}
}
