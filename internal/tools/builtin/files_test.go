package builtin_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"podd/internal/tools/builtin"
	"podd/pkg/item"
	"podd/pkg/tool"
	"podd/pkg/tool/spool"
	"podd/pkg/tool/tooltest"
)

func numberedLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

func TestReadFile(t *testing.T) {
	b := newBench(t, map[string]string{
		"a.txt": "one\ntwo\nthree\n", "open.txt": "one\ntwo", "empty": "", "crlf.txt": "a\r\nb\r\n", "sub/b.go": "package b\n",
		"bin": "ab\x00c", "latin": "caf\xe9\n", "utf16": "\xff\xfea\x00", "late": strings.Repeat("x\n", 20) + "\x00\n",
	})
	for _, c := range []struct {
		name, args, summary, content string
		isError                      bool
	}{
		{"whole", `{"path":"a.txt"}`, "read_file: a.txt, 3 lines", "1\tone\n2\ttwo\n3\tthree\n", false},
		{"without a newline", `{"path":"open.txt"}`, "read_file: open.txt, 2 lines", "1\tone\n2\ttwo\n", false},
		{"range", `{"path":"a.txt","start_line":2,"end_line":2}`, "read_file: a.txt, lines 2-2 of 3", "2\ttwo\n", false},
		{"from", `{"path":"a.txt","start_line":2}`, "read_file: a.txt, lines 2-3 of 3", "2\ttwo\n3\tthree\n", false},
		{"to", `{"path":"./a.txt","end_line":1}`, "read_file: a.txt, lines 1-1 of 3", "1\tone\n", false},
		{"past the end", `{"path":"a.txt","start_line":3,"end_line":99}`, "read_file: a.txt, lines 3-3 of 3", "3\tthree\n", false},
		{"empty", `{"path":"empty"}`, "read_file: empty, empty", "", false},
		{"CRLF", `{"path":"crlf.txt"}`, "read_file: crlf.txt, 2 lines, CRLF", "1\ta\n2\tb\n", false},
		{"behind", `{"path":"a.txt","start_line":9}`, "read_file: a.txt has 3 lines; start_line 9 is past the end", "", true},
		{"NUL", `{"path":"bin"}`, "read_file: bin is not UTF-8 text (4 bytes): inspect it with shell (file, xxd, strings, iconv)", "", true},
		{"latin-1", `{"path":"latin"}`, "read_file: latin is not UTF-8 text", "", true},
		{"UTF-16", `{"path":"utf16"}`, "read_file: utf16 is not UTF-8 text", "", true},
		{"directory", `{"path":"sub"}`, "read_file: sub is a directory: use list_dir", "", true},
		{"missing", `{"path":"nope.txt"}`, "read_file: nope.txt does not exist", "", true},
		{"missing, elsewhere", `{"path":"b.go"}`, "list its directory; there is sub/b.go", "", true},
		{"out of scope", `{"path":"/etc/passwd"}`, "outside the scope", "", true},
		{"dots", `{"path":"../x"}`, "outside the scope", "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := b.call("read_file", c.args)
			if !strings.Contains(out.Summary, c.summary) || out.Content != c.content || out.IsError != c.isError {
				t.Errorf("got %+v\nwant %q", out, c.summary)
			}
			if !c.isError && (out.Kind != item.OutputRead || out.Path == "") {
				t.Errorf("kind %q, path %q", out.Kind, out.Path)
			}
		})
	}
	if _, err := os.Stat(b.path("late")); err != nil {
		t.Fatal(err)
	}
	if out := b.call("read_file", `{"path":"late","end_line":3}`); out.IsError {
		t.Errorf("a range before the NUL: %q", out.Summary)
	}
}

func TestReadFileArguments(t *testing.T) {
	tl := newBench(t, nil).tool("read_file")
	tooltest.Conform(t, tl, `{"path":"a"}`, `{"path":"a","start_line":1,"end_line":2}`)
	for arguments, want := range map[string]string{
		`{}`:                           "missing path",
		`{"path":""}`:                  "path is empty",
		`{"path":"a","start_line":-1}`: "count from 1",
		`{"path":"a","start_line":5,"end_line":4}`: "end_line 4 is before start_line 5",
		`{"path":"a","startLine":5}`:               "write it exactly as start_line",
	} {
		if _, err := tl.Check(arguments); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Check(%s): %v, want %q", arguments, err, want)
		}
	}
}

// Reading page after page gives the whole file, each page within the limit.
func TestReadFilePages(t *testing.T) {
	for name, text := range map[string]string{
		"lines": numberedLines(1700),
		"bytes": strings.Repeat(strings.Repeat("é", 300)+"\n", 100),
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, map[string]string{"f": text})
			limits, err := tool.NewLimits(tool.LimitsConfig{})
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			total := int64(strings.Count(text, "\n"))
			for next, pages := 1, 0; ; pages++ {
				out := b.call("read_file", object("path", "f", "start_line", next))
				if again := limits.Apply("read_file", out, nil); again != out {
					t.Fatalf("the page is over the limit: %d bytes", len(out.Content))
				}
				last := next
				for line := range strings.Lines(out.Content) {
					if n, text, ok := strings.Cut(line, "\t"); ok {
						if n != fmt.Sprint(last) {
							t.Fatalf("line %s, want %d", n, last)
						}
						got.WriteString(text)
						last++
					}
				}
				if out.Cut == nil {
					if pages < 2 {
						t.Errorf("only %d pages", pages+1)
					}
					break
				}
				c := *out.Cut
				if c.TotalLines != total-int64(next)+1 || c.KeptLines != int64(last-next) {
					t.Errorf("cut %+v at line %d", c, next)
				}
				if want := fmt.Sprintf("[lines %d-%d of %d; continue with start_line %d]", next, last-1, total, last); !strings.HasSuffix(out.Content, want) {
					t.Errorf("note %q, want %q", out.Content[len(out.Content)-80:], want)
				}
				if !strings.HasSuffix(out.Summary, fmt.Sprintf("lines %d-%d of %d", next, last-1, total)) {
					t.Errorf("summary %q", out.Summary)
				}
				next = last
			}
			if got.String() != text {
				t.Errorf("the pages have %d bytes, the file %d", got.Len(), len(text))
			}
		})
	}
}

func TestReadFileEndlessLine(t *testing.T) {
	b := newBench(t, map[string]string{"f": "x\n" + strings.Repeat("日", 1_000_000) + "\nlast\n"})
	out := b.call("read_file", `{"path":"f","start_line":2}`)
	if !strings.HasSuffix(out.Content, " bytes]") || !strings.Contains(out.Content, "[lines 2-2 of 3; line 2 is cut after ") ||
		len(out.Content) > 16384 || len(out.Content) < 16000 || out.Cut == nil || out.Cut.TotalLines != 2 {
		t.Errorf("%q %+v: %d bytes, %q", out.Summary, out.Cut, len(out.Content), out.Content[len(out.Content)-80:])
	}
}

// A file above the size limit for edits is read as a stream.
func TestReadFileLarge(t *testing.T) {
	b := newBench(t, map[string]string{"big": strings.Repeat(strings.Repeat("x", 99)+"\n", 100_000)})
	out := b.call("read_file", `{"path":"big","start_line":99999}`)
	if out.Summary != "read_file: big, lines 99999-100000 of 100000" || strings.Count(out.Content, "\n") != 2 {
		t.Errorf("got %q", out.Summary)
	}
	out = b.call("edit_file", object("path", "big", "old", "x\nx", "new", "y"))
	if !out.IsError || !strings.Contains(out.Summary, "big has 10000000 bytes, but this tool only changes files up to 8388608 bytes") {
		t.Errorf("got %q", out.Summary)
	}
}

func TestWriteFile(t *testing.T) {
	b := newBench(t, map[string]string{"old.txt": "a\nb\n", "empty": "", "dir/x": ""})
	tooltest.Conform(t, b.tool("write_file"), `{"path":"a","content":"b"}`)
	steps := []struct {
		name, tool, args, summary string
		isError                   bool
	}{
		{"create", "write_file", object("path", "new/deep/a.txt", "content", "x\ny\n"), "write_file: created new/deep/a.txt, 2 lines, 4 bytes", false},
		{"again", "write_file", object("path", "new/deep/a.txt", "content", "z"), "write_file: replaced new/deep/a.txt, 1 line, 1 byte", false},
		{"unread", "write_file", object("path", "old.txt", "content", "z"), "write_file: old.txt exists (4 bytes) and you have not read it: read it first, or change a part of it with edit_file", true},
		{"same", "write_file", object("path", "old.txt", "content", "a\nb\n"), "write_file: replaced old.txt, 2 lines, 4 bytes", false},
		{"over empty", "write_file", object("path", "empty", "content", "1"), "write_file: replaced empty, 1 line, 1 byte", false},
		{"directory", "write_file", object("path", "dir", "content", "1"), "write_file: dir is a directory", true},
		{"scope", "write_file", object("path", "/tmp/podd-x", "content", "1"), "outside the scope", true},
		{"read-only root", "write_file", object("path", b.spool+"/x", "content", "1"), "read-only", true},
	}
	for _, c := range steps {
		out := b.call(c.tool, c.args)
		if !strings.Contains(out.Summary, c.summary) || out.IsError != c.isError {
			t.Errorf("%s: got %+v\nwant %q", c.name, out, c.summary)
		}
		if !c.isError && out.Kind != item.OutputEdit {
			t.Errorf("%s: kind %q", c.name, out.Kind)
		}
	}
	if got := b.read("new/deep/a.txt") + b.read("old.txt"); got != "za\nb\n" {
		t.Errorf("files: %q", got)
	}
}

// A file that changed without the model's knowledge is not overwritten.
func TestChangesRefuseAFileThatChangedSinceItWasRead(t *testing.T) {
	patch := "*** Begin Patch\n*** Update File: f\n@@\n-theirs\n+mine\n*** End Patch"
	for _, c := range []struct{ name, tool, args string }{
		{"write", "write_file", object("path", "f", "content", "mine")},
		{"edit", "edit_file", object("path", "f", "old", "theirs", "new", "mine")},
		{"patch", "apply_patch", object("input", patch)},
		{"delete", "apply_patch", object("input", "*** Begin Patch\n*** Delete File: f\n*** End Patch")},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, map[string]string{"f": "first\n"})
			b.call("read_file", `{"path":"f"}`)
			b.write("f", "theirs\n")
			out := b.call(c.tool, c.args)
			if !out.IsError || !strings.Contains(out.Summary, "f changed since you read it: read it again") || b.read("f") != "theirs\n" {
				t.Errorf("got %q, file %q", out.Summary, b.read("f"))
			}
			b.call("read_file", `{"path":"f","end_line":1}`)
			if out := b.call(c.tool, c.args); out.IsError {
				t.Errorf("after reading: %q", out.Summary)
			}
		})
	}
}

func TestEditFile(t *testing.T) {
	text := "func a() {\n\treturn 1\n}\n\nfunc b() {\n\treturn 1\n}\n"
	for _, c := range []struct {
		name, text, args, summary, content, after string
	}{
		{"once", text, object("path", "f", "old", "func a() {\n\treturn 1", "new", "func a() {\n\treturn 2"),
			"edit_file: f, 1 place replaced at line 1, +2 -2 lines", "@@ -1,4 +1,4 @@\n-func a() {\n-\treturn 1\n+func a() {\n+\treturn 2\n }\n \n", strings.Replace(text, "1", "2", 1)},
		{"all", text, object("path", "f", "old", "return 1", "new", "return 3", "all", true),
			"edit_file: f, 2 places replaced at line 2, 6, +2 -2 lines", "", strings.ReplaceAll(text, "1", "3")},
		{"delete", "a\nb\nc\n", object("path", "f", "old", "b\n", "new", ""),
			"edit_file: f, 1 place replaced at line 2, +0 -1 lines", "@@ -1,3 +1,2 @@\n a\n-b\n c\n", "a\nc\n"},
		{"twice", text, object("path", "f", "old", "return 1", "new", "x"),
			"edit_file: old occurs 2 times in f, at lines 2, 6: add lines around it to make it unique, or set all", "", text},
		{"absent", text, object("path", "f", "old", "nothing like it", "new", "x"),
			"edit_file: old is not in f, nor are similar lines: read the file again and copy the text from it", "", text},
		{"similar", text, object("path", "f", "old", "func b() {\n\treturn 2\n}", "new", "x"),
			`edit_file: old is not in f; the nearest lines are 5-7, but line 6 is "\treturn 1", not "\treturn 2": copy the text from the file`, "func b() {\n\treturn 1\n}\n", text},
		{"CRLF", "a\r\nb\r\nc\r\n", object("path", "f", "old", "a\nb\n", "new", "x\ny\nz\n"),
			"edit_file: f, 1 place replaced at line 1, +3 -2 lines", "@@ -1,3 +1,4 @@\n-a\n-b\n+x\n+y\n+z\n c\n", "x\r\ny\r\nz\r\nc\r\n"},
		{"CRLF within a line", "a\r\nb\r\n", object("path", "f", "old", "b", "new", "b\nc"), "", "", "a\r\nb\r\nc\r\n"},
		{"mixed line ends", "a\r\nb\nc\n", object("path", "f", "old", "b\nc", "new", "x\ny"), "", "", "a\r\nx\ny\n"},
		{"LF file, CRLF text", "a\nb\n", object("path", "f", "old", "a\r\nb", "new", "x\r\ny"), "", "", "x\ny\n"},
		{"missing", text, object("path", "g", "old", "a", "new", "b"), "edit_file: g does not exist", "", text},
		{"overlapping", "aaaa\n", object("path", "f", "old", "aa", "new", "b", "all", true), "2 places", "", "bb\n"},
		{"no newline at the end", "a\nb", object("path", "f", "old", "b", "new", "c"), "", "", "a\nc"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, map[string]string{"f": c.text})
			out := b.call("edit_file", c.args)
			if !strings.Contains(out.Summary, c.summary) || c.content != "" && out.Content != c.content {
				t.Errorf("got %+v\nwant %q\n%s", out, c.summary, c.content)
			}
			if b.read("f") != c.after || out.IsError != (c.text == c.after) {
				t.Errorf("error %v, file %q, want %q", out.IsError, b.read("f"), c.after)
			}
			if !out.IsError && (out.Kind != item.OutputEdit || out.Path != "f") {
				t.Errorf("kind %q, path %q", out.Kind, out.Path)
			}
		})
	}
}

func TestEditFileArguments(t *testing.T) {
	tl := newBench(t, nil).tool("edit_file")
	tooltest.Conform(t, tl, `{"path":"a","old":"b","new":"c"}`, `{"path":"a","old":"b","new":"","all":true}`)
	for arguments, want := range map[string]string{
		`{"path":"a","old":"","new":"x"}`:             "old is empty",
		`{"path":"a","old":"x","new":"x"}`:            "old and new are the same",
		`{"path":"a","old":"x"}`:                      "missing new",
		`{"path":"a","old":"x","new":"y","ALL":true}`: "write it exactly as all",
	} {
		if _, err := tl.Check(arguments); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Check(%s): %v, want %q", arguments, err, want)
		}
	}
}

// The calls of one step run in parallel; no change is lost.
func TestParallelChangesOfOneFile(t *testing.T) {
	text := numberedLines(40)
	b := newBench(t, map[string]string{"f": text})
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			out := b.call("edit_file", object("path", "f", "old", fmt.Sprintf("line %d\n", i+1), "new", fmt.Sprintf("done %d\n", i+1)))
			if out.IsError {
				t.Error(out.Summary)
			}
		})
	}
	wg.Wait()
	if got := b.read("f"); got != strings.ReplaceAll(text, "line", "done") {
		t.Errorf("changes are lost:\n%s", got)
	}
}

func TestListDir(t *testing.T) {
	b := newBench(t, map[string]string{"b.txt": "12345", "a/x": "", ".hidden": "1", ".gitignore": "b.txt\n", "odd\nname": ""},
		func(c *builtin.Config) { c.ListDir.MaxEntries = 6 })
	tooltest.Conform(t, b.tool("list_dir"), `{}`, `{"path":"a"}`)
	if err := os.Symlink("b.txt", b.path("link")); err != nil {
		t.Fatal(err)
	}
	out := b.call("list_dir", "")
	if out.Summary != "list_dir: ., 1 directory, 5 files" || out.Content != ".gitignore 6\n.hidden 1\na/\nb.txt 5\nlink@\n\"odd\\nname\" 0\n" {
		t.Errorf("got %q\n%s", out.Summary, out.Content)
	}
	b.write("c", "")
	if out := b.call("list_dir", `{"path":"."}`); out.Summary != "list_dir: ., 1 directory, 6 files; the first 6 entries are shown" || strings.Count(out.Content, "\n") != 6 {
		t.Errorf("got %q\n%s", out.Summary, out.Content)
	}
	for path, want := range map[string]string{"b.txt": "is not a directory", "none": "does not exist", "..": "outside the scope"} {
		if out := b.call("list_dir", object("path", path)); !out.IsError || !strings.Contains(out.Summary, want) {
			t.Errorf("%s: %q", path, out.Summary)
		}
	}
}

func TestRepoStructure(t *testing.T) {
	files := map[string]string{"main.go": "", "pkg/a/a.go": "", "pkg/a/deep/er/x.go": "", "pkg/b.go": "", "node_modules/x.js": "", ".gitignore": "node_modules\n", ".git/config": ""}
	b := newBench(t, files)
	tooltest.Conform(t, b.tool("repo_structure"), `{}`, `{"path":"pkg","depth":1}`)
	out := b.call("repo_structure", "{}")
	want := ".gitignore\nmain.go\npkg/\n  a/\n    a.go\n    deep/\n  b.go\n"
	if out.Summary != "repo_structure: ., 3 directories, 4 files, depth 3" || out.Content != want {
		t.Errorf("got %q\n%s", out.Summary, out.Content)
	}
	out = b.call("repo_structure", `{"path":"pkg","depth":1}`)
	if out.Summary != "repo_structure: pkg, 1 directory, 1 file, depth 1" || out.Content != "a/\nb.go\n" {
		t.Errorf("got %q\n%s", out.Summary, out.Content)
	}
	if _, err := b.tool("repo_structure").Check(`{"depth":-1}`); err == nil {
		t.Error("a negative depth passes")
	}
	if out := b.call("repo_structure", `{"path":"nowhere"}`); !out.IsError || !strings.Contains(out.Summary, "nowhere does not exist") {
		t.Errorf("got %q", out.Summary)
	}
}

// With too many entries the upper levels are whole before the lower ones begin.
func TestRepoStructureShowsTheTopFirst(t *testing.T) {
	files := map[string]string{"z.txt": ""}
	for i := range 30 {
		files[fmt.Sprintf("assets/%02d.png", i)] = ""
	}
	files["src/a.go"], files["src/b.go"] = "", ""
	b := newBench(t, files, func(c *builtin.Config) { c.Tree.MaxEntries = 5 })
	out := b.call("repo_structure", "")
	want := "assets/ (28 more)\n  00.png\n  01.png\nsrc/ (2 more)\nz.txt\n"
	if out.Content != want || !strings.HasSuffix(out.Summary, "2 directories, 33 files, depth 3; 5 of 35 entries are shown: name a directory") {
		t.Errorf("got %q\n%s", out.Summary, out.Content)
	}
}

func TestGlob(t *testing.T) {
	b := newBench(t, map[string]string{"a.go": "", "x/b.go": "", "x/c.ts": "", "x/d.tsx": "", "skip/e.go": "", ".gitignore": "skip\n"},
		func(c *builtin.Config) { c.Glob.MaxEntries = 3 })
	tooltest.Conform(t, b.tool("glob"), `{"pattern":"*"}`)
	for _, c := range []struct{ pattern, summary, content string }{
		{"**/*.go", "glob: **/*.go, 2 files", "a.go\nx/b.go\n"},
		{"x/*.{ts,tsx}", "glob: x/*.{ts,tsx}, 2 files", "x/c.ts\nx/d.tsx\n"},
		{"*.rs", "glob: *.rs, 0 files", ""},
		{"**", "glob: **, the first 3 files; narrow the pattern to see others", ".gitignore\na.go\nx/b.go\n"},
		{"[", "the pattern [ is malformed", ""},
	} {
		out := b.call("glob", object("pattern", c.pattern))
		if !strings.Contains(out.Summary, c.summary) || out.Content != c.content {
			t.Errorf("%s: got %q\n%s", c.pattern, out.Summary, out.Content)
		}
	}
	if _, err := b.tool("glob").Check(`{"pattern":""}`); err == nil {
		t.Error("an empty pattern passes")
	}
}

func TestTodo(t *testing.T) {
	b := newBench(t, nil)
	tooltest.Conform(t, b.tool("todo"), `{"items":[]}`, `{"items":[{"text":"a","status":"done"}]}`)
	out := b.call("todo", `{"items":[{"text":"read","status":"done"},{"text":"write it","status":"in_progress"},{"text":"test","status":"pending"}]}`)
	want := tool.Output{Summary: "todo: 1 of 3 done, now: write it", Content: "[x] read\n[>] write it\n[ ] test\n", Kind: item.OutputTask, Sticky: true}
	if out != want {
		t.Errorf("got %+v", out)
	}
	for arguments, want := range map[string]string{
		`{"items":[{"text":"a","status":"finished"}]}`:                                                     "items[0].status must be one of pending, in_progress, done",
		`{"items":[{"text":" ","status":"done"}]}`:                                                         "items[0].text is empty",
		`{"items":[{"text":"a\nb","status":"done"}]}`:                                                      "one line",
		`{"items":[{"text":"a","text":"b","status":"done"}]}`:                                              "items[0].text is given twice",
		`{"items":[` + strings.TrimSuffix(strings.Repeat(`{"text":"a","status":"done"},`, 51), ",") + `]}`: "the limit is 50",
	} {
		if _, err := b.tool("todo").Check(arguments); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Check(%.80s): %v, want %q", arguments, err, want)
		}
	}
}

func TestNewRefusesAnIncompleteConfig(t *testing.T) {
	b := newBench(t, nil)
	for _, c := range []builtin.Config{{}, {FS: b.fs}, {Spool: new(spool.Folder)}} {
		if _, err := builtin.New(c); item.ReasonOf(err) != "BAD_CONFIG" {
			t.Errorf("New: %v", err)
		}
	}
}
