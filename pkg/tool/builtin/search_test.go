package builtin_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"strings"
	"testing"

	"podd/pkg/item"
	"podd/pkg/tool"
	"podd/pkg/tool/builtin"
	"podd/pkg/tool/tooltest"
)

// engines runs a test with RE2 alone and, where rg is installed, with rg.
func engines(t *testing.T, test func(t *testing.T, rg string)) {
	t.Helper()
	t.Run("RE2", func(t *testing.T) { test(t, "-") })
	t.Run("rg", func(t *testing.T) {
		rg, err := exec.LookPath("rg")
		if err != nil {
			t.Skip("rg is not installed")
		}
		test(t, rg)
	})
}

// manyFiles is enough files that a search is worth a start of rg.
func manyFiles(more map[string]string) map[string]string {
	files := map[string]string{}
	maps.Copy(files, more)
	for i := range 150 {
		files[fmt.Sprintf("fill/%03d.txt", i)] = "nothing here\n"
	}
	return files
}

func withRipgrep(path string) func(*builtin.Config) {
	return func(c *builtin.Config) { c.Search.Ripgrep = path }
}

func TestSearch(t *testing.T) {
	files := manyFiles(map[string]string{
		"a.go":        "package a\n\nfunc One() {}\n\nvar x = 1\nvar y = 2\nvar z = 3\n\n// One is the first.\nfunc Two() { One() }\n",
		"b/b.go":      "package b\n\nfunc One(s string) {}\n",
		"b/c.txt":     "one\r\nOne\r\n",
		"-e":          "One in a file with a bad name\n",
		"-":           "One in a file called -\n",
		".env":        "hidden One\n",
		"skip/x.go":   "func One() {}\n",
		".gitignore":  "skip/\n",
		".git/config": "One\n",
		"bin":         "One\x00One\n",
		"ünï.txt":     "Ünïcode One ſ\n",
		"latin":       "caf\xe9 One\n",
	})
	engines(t, func(t *testing.T, rg string) {
		b := newBench(t, files, withRipgrep(rg))
		for _, c := range []struct{ name, args, summary, content string }{
			{"context and gaps", `{"pattern":"func \\w+\\(\\)","path":"a.go"}`, `search: "func \w+\(\)" in a.go, 2 matches in 1 file`,
				"a.go\n1-package a\n2-\n3:func One() {}\n4-\n5-var x = 1\n--\n8-\n9-// One is the first.\n10:func Two() { One() }\n"},
			{"adjacent context is not repeated", `{"pattern":"var|first","path":"a.go"}`, "4 matches in 1 file",
				"a.go\n3-func One() {}\n4-\n5:var x = 1\n6:var y = 2\n7:var z = 3\n8-\n9:// One is the first.\n10-func Two() { One() }\n"},
			{"directory", `{"pattern":"func One","path":"b"}`, `search: "func One" in b, 1 match in 1 file`, "b/b.go\n1-package b\n2-\n3:func One(s string) {}\n"},
			{"glob", `{"pattern":"package","glob":"*.go"}`, `search: "package" in . (*.go), 2 matches in 2 files`,
				"a.go\n1:package a\n2-\n3-func One() {}\nb/b.go\n1:package b\n2-\n3-func One(s string) {}\n"},
			{"glob below a path", `{"pattern":"one","glob":"*.txt","path":"b"}`, "1 match in 1 file", "b/c.txt\n1:one\n2-One\n"},
			{"glob with a slash", `{"pattern":"package","glob":"b/**"}`, "1 match in 1 file", "b/b.go\n1:package b\n2-\n3-func One(s string) {}\n"},
			{"case", `{"pattern":"HIDDEN one","ignore_case":true}`, "1 match in 1 file", ".env\n1:hidden One\n"},
			{"end of a CRLF line", `{"pattern":"^one$"}`, "1 match in 1 file", "b/c.txt\n1:one\n2-One\n"},
			{"option-like pattern", `{"pattern":"--version|bad name"}`, "1 match in 1 file", "-e\n1:One in a file with a bad name\n"},
			{"standard input's name", `{"pattern":"called -"}`, "1 match in 1 file", "-\n1:One in a file called -\n"},
			{"not ASCII", `{"pattern":"Ünï\\w+"}`, "1 match in 1 file", "ünï.txt\n1:Ünïcode One ſ\n"},
			{"bytes that are no UTF-8", `{"pattern":"caf"}`, "1 match in 1 file", "latin\n1:caf? One\n"},
			{"Perl classes are ASCII", `{"pattern":"^\\w+code"}`, "no match in 160 files", ""},
			{"none", `{"pattern":"no such thing"}`, "no match in 160 files", ""},
			{"line by line", `{"pattern":"One\\n"}`, "no match in 160 files", ""},
			{"start of text", `{"pattern":"\\Aone"}`, "1 match in 1 file", "b/c.txt\n1:one\n2-One\n"},
			{"quoted", `{"pattern":"\\QOne()\\E {}"}`, "1 match in 1 file", "a.go\n1-package a\n2-\n3:func One() {}\n4-\n5-var x = 1\n"},
			{"ignored directory by name", `{"pattern":"One","path":"skip"}`, "1 match in 1 file", "skip/x.go\n1:func One() {}\n"},
			{"missing", `{"pattern":"x","path":"nowhere"}`, "search: nowhere does not exist", ""},
			{"out of scope", `{"pattern":"x","path":"/etc"}`, "outside of the scope", ""},
			{"bad glob", `{"pattern":"x","glob":"["}`, "malformed", ""},
		} {
			t.Run(c.name, func(t *testing.T) {
				out := b.call("search", c.args)
				if !strings.Contains(out.Summary, c.summary) || out.Content != c.content {
					t.Errorf("got %q\n%s\nwant %q\n%s", out.Summary, out.Content, c.summary, c.content)
				}
				if !out.IsError && out.Kind != item.OutputSearch {
					t.Errorf("kind %q", out.Kind)
				}
			})
		}
	})
}

func TestSearchLimits(t *testing.T) {
	long := strings.Repeat("é", 1000) + "needle" + strings.Repeat("x", 1000)
	files := manyFiles(map[string]string{
		"a": strings.Repeat("hit\n", 60), "b": strings.Repeat("hit\n", 60), "c": "hit\n", "long": long + "\n" + strings.Repeat("y", 600) + "\n",
	})
	engines(t, func(t *testing.T, rg string) {
		b := newBench(t, files, withRipgrep(rg))
		out := b.call("search", `{"pattern":"hit"}`)
		if out.Summary != `search: "hit" in ., the first 100 matches in 2 files: narrow it for the others` || strings.Count(out.Content, ":hit\n") != 100 {
			t.Errorf("got %q, %d matches", out.Summary, strings.Count(out.Content, ":hit\n"))
		}
		out = b.call("search", `{"pattern":"needle"}`)
		lines := strings.Split(out.Content, "\n")
		if len(lines) != 4 || !strings.Contains(lines[1], "éneedlexxx") || !strings.HasPrefix(lines[1], "1:…é") || !strings.HasSuffix(lines[1], "x…") ||
			lines[2] != "2-"+strings.Repeat("y", 500)+"…" {
			t.Errorf("got %q", out.Content)
		}
		for _, line := range lines {
			if len(line) > 510 {
				t.Errorf("a line of %d bytes", len(line))
			}
		}
	})
	b := newBench(t, files, func(c *builtin.Config) { c.Search = builtin.Search{MaxMatches: 2, Context: -1, Ripgrep: "-"} })
	if out := b.call("search", `{"pattern":"hit"}`); out.Content != "a\n1:hit\n2:hit\n" {
		t.Errorf("got %q\n%s", out.Summary, out.Content)
	}
}

// A spooled output is searched as the marker of a cut says.
func TestSearchInAnOutputThatWasCut(t *testing.T) {
	b := newBench(t, nil)
	cut := b.call("shell", object("command", "seq 1 100000")).Cut
	out := b.call("search", object("pattern", "^50000$", "path", cut.SpoolPath))
	if want := cut.SpoolPath + "\n49999-49998\n50000-49999\n50001:50000\n50002-50001\n50003-50002\n"; out.Content != want {
		t.Errorf("got %q\n%s", out.Summary, out.Content)
	}
	out = b.call("read_file", object("path", cut.SpoolPath, "start_line", 50001, "end_line", 50001))
	if out.Content != "50001\t50000\n" {
		t.Errorf("got %q\n%s", out.Summary, out.Content)
	}
}

// rg only speeds a search up: one that fails, or lies, changes nothing.
func TestSearchWithABadRipgrep(t *testing.T) {
	files := manyFiles(map[string]string{"a": "needle\n"})
	b := newBench(t, files)
	b.write("rg-fails", "#!/bin/sh\nexit 2\n")
	b.write("rg-lies", "#!/bin/sh\nprintf '/etc/passwd\\0./fill/001.txt\\0./a\\0../x\\0'\n")
	for _, name := range []string{"rg-fails", "rg-lies", "rg-absent"} {
		_ = os.Chmod(b.path(name), 0o755)
		c := newBench(t, files, withRipgrep(b.path(name)))
		if out := c.call("search", `{"pattern":"needle|root"}`); out.Content != "a\n1:needle\n" {
			t.Errorf("%s: %q\n%s", name, out.Summary, out.Content)
		}
	}
}

// rg gets no environment and no configuration of podd's user.
func TestSearchGivesRipgrepNothing(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "secret-key")
	t.Setenv("RIPGREP_CONFIG_PATH", "/etc/passwd")
	b := newBench(t, nil)
	b.write("rg", "#!/bin/sh\n{ env; echo \"$@\"; } >"+b.path("seen")+"\nexit 1\n")
	if err := os.Chmod(b.path("rg"), 0o755); err != nil {
		t.Fatal(err)
	}
	c := newBench(t, manyFiles(nil), withRipgrep(b.path("rg")))
	c.call("search", `{"pattern":"-rf"}`)
	seen := b.read("seen")
	if strings.Contains(seen, "secret-key") || strings.Contains(seen, "RIPGREP_CONFIG_PATH") || !strings.Contains(seen, "--no-config") ||
		!strings.Contains(seen, "-e -rf -- ./fill/000.txt") {
		t.Errorf("rg saw\n%.600s", seen)
	}
}

func TestSearchEndsWithItsContext(t *testing.T) {
	engines(t, func(t *testing.T, rg string) {
		b := newBench(t, manyFiles(nil), withRipgrep(rg))
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("the user cancelled")
		cancel(cause)
		if _, err := b.tool("search").Run(ctx, `{"pattern":"x"}`); !errors.Is(err, cause) {
			t.Errorf("Run = %v", err)
		}
	})
}

func TestSearchArguments(t *testing.T) {
	tl := newBench(t, nil).tool("search")
	tooltest.Conform(t, tl, `{"pattern":"a"}`, `{"pattern":"a","path":"b","glob":"*.go","ignore_case":true}`)
	for arguments, want := range map[string]string{
		`{"pattern":""}`:           "pattern is empty",
		`{"pattern":"a("}`:         "pattern is no RE2 regular expression",
		`{"pattern":"(?=a)"}`:      "there is no look-around",
		`{"pattern":"a","Path":1}`: "write it exactly as path",
	} {
		if _, err := tl.Check(arguments); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Check(%s): %v, want %q", arguments, err, want)
		}
	}
}

// Both ways of searching find the same, whatever the expression.
func FuzzSearchEngines(f *testing.F) {
	rg, err := exec.LookPath("rg")
	if err != nil {
		f.Skip("rg is not installed")
	}
	files := manyFiles(map[string]string{"a": source, "b": "x\r\ny\nz\n", "c": "é ſ K k ß\n", "d": "(a)[b]{c}\\d$ ^\n"})
	for _, seed := range []string{"x", "^", "$", "[^a]", "(?i)k", `\bx\b`, `\W`, `[^\w]x`, `^.$`, `\x{e9}`, `[a[b]]`, `[a&&b]`, `a{,2}`, `\<x`, "é", `\pL+`, "a|b", `\d`, `x{2,}`, "(?s).", `[[:alpha:]]+$`, `\x41`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, pattern string) {
		var outs [2]tool.Output
		for i, path := range []string{"-", rg} {
			b := newBench(t, files, withRipgrep(path))
			arguments := object("pattern", pattern)
			if _, err := b.tool("search").Check(arguments); err != nil {
				return
			}
			outs[i] = b.call("search", arguments)
		}
		if outs[0] != outs[1] {
			t.Errorf("%q: RE2 finds %q\n%s\nrg finds %q\n%s", pattern, outs[0].Summary, outs[0].Content, outs[1].Summary, outs[1].Content)
		}
	})
}
