package builtin_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"podd/internal/tools/builtin"
	"podd/pkg/item"
	"podd/pkg/tool"
	"podd/pkg/tool/spool"
	"podd/pkg/tool/tooltest"
)

// engines runs a test with only RE2 and, if rg is installed, with rg.
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

// manyFiles is enough files to make starting rg worthwhile.
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
			{"out of scope", `{"pattern":"x","path":"/etc"}`, "outside the scope", ""},
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
		out := b.call("search", `{"pattern":"hit","glob":"[ac]"}`)
		if out.Summary != `search: "hit" in . ([ac]), 61 matches in 2 files` || strings.Count(out.Content, ":hit\n") != 61 || out.Cut != nil {
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
	b.write("d", "a hot\nb hot\n")
	if out := b.call("search", `{"pattern":"hot"}`); out.Content != "d\n1:a hot\n2:b hot\n" {
		t.Errorf("got %q\n%s", out.Summary, out.Content)
	}
}

// manyMatches are 5,000 in 250 files: 250 in the first, none in the last, and so on.
func manyMatches() (files map[string]string, all int) {
	files = manyFiles(nil)
	for i := range 250 {
		n := 250 - i
		if i >= 20 {
			n = 1
		}
		files[fmt.Sprintf("src/%03d.go", i)] = "first\n" + strings.Repeat("a hit of "+fmt.Sprint(i)+"\n", n)
		all += n
	}
	files["src/bytes.go"] = "no text \xff here\n" + strings.Repeat("x", 5000) + "hit\n" + strings.Repeat("y", 70000) + "\nhit \x00 hit\n"
	return files, all + 2
}

// A search of very many matches counts them all, shows where most of them are, and keeps
// the whole result in a file that the other tools read.
func TestSearchOfVeryManyMatches(t *testing.T) {
	files, all := manyMatches()
	engines(t, func(t *testing.T, rg string) {
		b := newBench(t, files, withRipgrep(rg))
		out := b.call("search", `{"pattern":"hit"}`)
		if want := fmt.Sprintf(`search: "hit" in ., %d,%03d matches in 251 files`, all/1000, all%1000); out.Summary != want || out.IsError {
			t.Errorf("got %q, want %q", out.Summary, want)
		}
		lines := strings.Split(strings.TrimSuffix(out.Content, "\n"), "\n")
		if len(lines) != 203 || out.Cut == nil || !strings.Contains(lines[0], out.Cut.SpoolPath) || out.Cut.TotalLines != int64(all) {
			t.Fatalf("%d lines, cut %+v\n%s", len(lines), out.Cut, out.Content)
		}
		if lines[2] != "250 src/000.go:2:a hit of 0" || lines[21] != "231 src/019.go:2:a hit of 19" || lines[22] != "2 src/bytes.go:2:"+strings.Split(lines[22], ":2:")[1] {
			t.Errorf("the map begins with\n%s", strings.Join(lines[:24], "\n"))
		}
		if want := fmt.Sprintf("and 51 more files with %d matches", 51); lines[202] != want {
			t.Errorf("the map ends with %q, want %q", lines[202], want)
		}
		if out := b.call("read_file", object("path", out.Cut.SpoolPath, "start_line", 2, "end_line", 2)); out.Content != "2\tsrc/000.go:3:a hit of 0\n" {
			t.Errorf("the file has %q, %q", out.Summary, out.Content)
		}
		if out := b.call("read_file", object("path", out.Cut.SpoolPath, "start_line", all)); !strings.Contains(out.Content, "src/bytes.go:4:hit ? hit") {
			t.Errorf("the file ends with %q, %q", out.Summary, out.Content)
		}
		if out := b.call("search", object("pattern", "^src/249.go:", "path", out.Cut.SpoolPath)); !strings.Contains(out.Summary, "1 match in 1 file") {
			t.Errorf("a search of the file: %q", out.Summary)
		}
		kept, err := os.ReadFile(out.Cut.SpoolPath)
		if err != nil || strings.Count(string(kept), "\n") != all || int64(len(kept)) != out.Cut.TotalBytes {
			t.Errorf("%d lines, %d bytes, %v; cut %+v", strings.Count(string(kept), "\n"), len(kept), err, out.Cut)
		}
	})
}

// Counting ends at a bound, and says so.
func TestSearchThatCountsNoFurther(t *testing.T) {
	builtin.CountForLong(t)
	b := newBench(t, map[string]string{"a": strings.Repeat("hit\n", 60_000), "b": strings.Repeat("hit\n", 60_000)})
	out := b.call("search", `{"pattern":"hit"}`)
	if !strings.HasSuffix(out.Summary, "at least 100,000 matches in 2 files") || out.Cut.TotalLines != 100_000 {
		t.Errorf("got %q, %+v", out.Summary, out.Cut)
	}
}

// If the spool has no room, only the map is shown, which says so.
func TestSearchWithoutSpool(t *testing.T) {
	files, _ := manyMatches()
	for name, spoil := range map[string]func(b *bench){
		"full":    func(*bench) {},
		"missing": func(b *bench) { _ = os.RemoveAll(b.spool) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			b := newBench(t, files, func(c *builtin.Config) {
				all, err := spool.Open(spool.Config{Dir: dir, MaxBytes: 20_000})
				if err != nil {
					t.Fatal(err)
				}
				if c.Spool, err = all.Folder("q"); err != nil {
					t.Fatal(err)
				}
			})
			b.spool = filepath.Join(dir, "q")
			spoil(b)
			out := b.call("search", `{"pattern":"hit"}`)
			if !strings.HasPrefix(out.Content, "The matches were not kept: narrow the search to see them.\n") || !strings.Contains(out.Content, "\n250 src/000.go:2:a hit of 0\n") {
				t.Errorf("got %q\n%s", out.Summary, out.Content)
			}
			if left, _ := os.ReadDir(b.spool); len(left) > 0 || out.Cut.SpoolPath != "" {
				t.Errorf("%v are left, %+v", left, out.Cut)
			}
		})
	}
}

// A map is within the limit of its tool.
func TestSearchMapFits(t *testing.T) {
	files, _ := manyMatches()
	limits, err := tool.NewLimits(tool.LimitsConfig{Default: tool.Limit{MaxBytes: 1500, MaxLines: 20}})
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, files, func(c *builtin.Config) { c.Limits = limits })
	out := b.call("search", `{"pattern":"hit"}`)
	if fitted := limits.Apply("search", out, nil); fitted.Content != out.Content || !strings.Contains(out.Content, "more files with") {
		t.Errorf("%d bytes:\n%s", len(out.Content), out.Content)
	}
}

// rg only speeds a search up: one that fails or gives wrong results changes nothing.
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
		if _, err := b.tool("search").Run(ctx, &tool.Invocation{Arguments: `{"pattern":"x"}`}); !errors.Is(err, cause) {
			t.Errorf("Run = %v", err)
		}
	})
}

func TestSearchArguments(t *testing.T) {
	tl := newBench(t, nil).tool("search")
	tooltest.Conform(t, tl, `{"pattern":"a"}`, `{"pattern":"a","path":"b","glob":"*.go","ignore_case":true}`)
	for arguments, want := range map[string]string{
		`{"pattern":""}`:           "pattern is empty",
		`{"pattern":"a("}`:         "pattern is not a valid RE2 regular expression",
		`{"pattern":"(?=a)"}`:      "look-around is not supported",
		`{"pattern":"a","Path":1}`: "write it exactly as path",
	} {
		if _, err := tl.Check(arguments); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Check(%s): %v, want %q", arguments, err, want)
		}
	}
}

// Both ways of searching find the same, for any expression.
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
			// A map names a file of its own, so that no two are equal.
			b := newBench(t, files, func(c *builtin.Config) { c.Search = builtin.Search{Ripgrep: path, MaxMatches: 100_000} })
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
