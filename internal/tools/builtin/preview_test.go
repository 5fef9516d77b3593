package builtin_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"podd/pkg/item"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
)

// preview is what a call would do, as the worker asks for it. It must change nothing.
func (b *bench) preview(name, arguments string) tool.Preview {
	b.t.Helper()
	before := b.tree()
	tl := b.tool(name)
	canonical, err := tl.Check(arguments)
	if err != nil {
		b.t.Fatal(err)
	}
	p, err := tl.(tool.Previewer).Preview(b.t.Context(), &tool.Invocation{Arguments: canonical, Targets: tl.Access(canonical).Targets})
	if err != nil {
		b.t.Fatal(err)
	}
	if !maps.Equal(before, b.tree()) {
		b.t.Errorf("the preview of %s changed the files", arguments)
	}
	return p
}

// proposed is what previews make of files, as an editor computes it: from the content with the
// named base and from the diff.
func proposed(t *testing.T, files map[string]string, list []item.Preview) map[string]string {
	t.Helper()
	after := map[string]string{}
	maps.Copy(after, files)
	texts := make([]string, len(list))
	for i, p := range list {
		before, exists := files[p.Path]
		if exists != (p.Base != item.NoFile) || exists && p.Base != item.BaseOf([]byte(before)) {
			t.Errorf("the base of %s is %q", p.Path, p.Base)
		}
		if p.Omitted != "" {
			t.Errorf("%s: %s", p.Path, p.Omitted)
		}
		texts[i] = patched(t, before, p.Diff)
		delete(after, p.Path)
	}
	for i, p := range list {
		switch {
		case p.Deletes:
		case p.MovesTo != "":
			after[p.MovesTo] = texts[i]
		default:
			after[p.Path] = texts[i]
		}
	}
	return after
}

// patched applies a unified diff.
func patched(t *testing.T, text, diff string) string {
	t.Helper()
	lines := strings.SplitAfter(text, "\n")
	var b strings.Builder
	at := 0
	take := func(want string) string {
		if at >= len(lines) || strings.TrimSuffix(lines[at], "\n") != want {
			t.Fatalf("line %d is not %q in\n%s\nof\n%s", at+1, want, diff, text)
		}
		at++
		return lines[at-1]
	}
	var last string
	for line := range strings.Lines(diff) {
		body := strings.TrimSuffix(line[1:], "\n")
		switch line[0] {
		case '@':
			b.WriteString(last)
			last = ""
			var from, n int
			if _, err := fmt.Sscanf(line, "@@ -%d,%d ", &from, &n); err != nil {
				if _, err := fmt.Sscanf(line, "@@ -%d ", &from); err != nil {
					t.Fatal(err)
				}
				n = 1
			}
			if n == 0 {
				from++
			}
			for ; at < from-1; at++ {
				b.WriteString(lines[at])
			}
		case '\\':
			last = strings.TrimSuffix(last, "\n")
		case ' ':
			b.WriteString(last)
			last = take(body)
		case '-':
			b.WriteString(last)
			last = ""
			take(body)
		case '+':
			b.WriteString(last)
			last = body + "\n"
		}
	}
	b.WriteString(last)
	return b.String() + strings.Join(lines[min(at, len(lines)):], "")
}

// What a preview says is what the call then does.
func TestPreview(t *testing.T) {
	big := numberedLines(200_000)
	for _, c := range []struct {
		name, tool, arguments string
		files                 map[string]string
		read                  bool
		diff                  string
	}{
		{"edit", "edit_file", object("path", "f", "old", "b", "new", "B"), map[string]string{"f": "a\nb\nc\n"}, false, "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"},
		{"forgiven", "edit_file", object("path", "f", "old", "if x:\n  y()\n", "new", "if x:\n  z()\n"), map[string]string{"f": "def f():\n    if x:\n      y()\n"}, false,
			"@@ -1,3 +1,3 @@\n def f():\n     if x:\n-      y()\n+      z()\n"},
		{"all", "edit_file", object("path", "f", "old", "x", "new", "y", "all", true), map[string]string{"f": "x\n1\n2\n3\n4\n5\n6\n7\n8\nx\n"}, false,
			"@@ -1,4 +1,4 @@\n-x\n+y\n 1\n 2\n 3\n@@ -7,4 +7,4 @@\n 6\n 7\n 8\n-x\n+y\n"},
		{"CRLF", "edit_file", object("path", "f", "old", "b", "new", "B"), map[string]string{"f": "a\r\nb\r\n"}, false, "@@ -1,2 +1,2 @@\n a\r\n-b\r\n+B\r\n"},
		{"no newline", "edit_file", object("path", "f", "old", "b", "new", "B"), map[string]string{"f": "a\nb"}, false,
			"@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+B\n\\ No newline at end of file\n"},
		{"large", "edit_file", object("path", "f", "old", "line 150000\n", "new", "LINE\n"), map[string]string{"f": big}, false, ""},
		{"create", "write_file", object("path", "d/f", "content", "one\ntwo"), nil, false, "@@ -0,0 +1,2 @@\n+one\n+two\n\\ No newline at end of file\n"},
		{"create empty", "write_file", object("path", "f", "content", ""), nil, false, ""},
		{"replace", "write_file", object("path", "f", "content", "a\nB\n"), map[string]string{"f": "a\nb\n"}, true, "@@ -1,2 +1,2 @@\n a\n-b\n+B\n"},
		{"replace an empty one", "write_file", object("path", "f", "content", "a\n"), map[string]string{"f": ""}, false, "@@ -0,0 +1 @@\n+a\n"},
		{"the same", "write_file", object("path", "f", "content", "a\n"), map[string]string{"f": "a\n"}, false, ""},
		{"patch", "apply_patch", object("input", patch("*** Update File: f", "@@", "-a", "+A", "*** Delete File: g", "*** Add File: h", "+x")),
			map[string]string{"f": "a\n", "g": "b\n"}, false, ""},
		{"move", "apply_patch", object("input", patch("*** Update File: f", "*** Move to: d/g", "@@", "-a", "+b")), map[string]string{"f": "a\n"}, false, "@@ -1 +1 @@\n-a\n+b\n"},
		{"twice", "apply_patch", object("input", patch("*** Update File: f", "@@", "-a", "+A", "*** Update File: f", "@@", "-b", "+B")), map[string]string{"f": "a\nb\n"}, false,
			"@@ -1,2 +1,2 @@\n-a\n-b\n+A\n+B\n"},
		{"delete and add", "apply_patch", object("input", patch("*** Delete File: f", "*** Add File: f", "+b")), map[string]string{"f": "a\n"}, false, "@@ -1 +1 @@\n-a\n+b\n"},
		{"swap", "apply_patch", object("input", patch("*** Update File: f", "*** Move to: t", "*** Update File: g", "*** Move to: f", "*** Update File: t", "*** Move to: g")),
			map[string]string{"f": "1\n", "g": "2\n"}, false, ""},
		{"no difference", "apply_patch", object("input", patch("*** Update File: f", "@@", "-a", "+a")), map[string]string{"f": "a\n"}, false, ""},
		{"moved on", "apply_patch", object("input", patch("*** Update File: f", "*** Move to: g", "*** Update File: g", "*** Move to: h")), map[string]string{"f": "a\n"}, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, c.files)
			if c.read {
				b.call("read_file", object("path", "f"))
			}
			p := b.preview(c.tool, c.arguments)
			if p.Fails != nil || c.diff != "" && p.Files[0].Diff != c.diff {
				t.Fatalf("got %+v", p)
			}
			want := proposed(t, c.files, p.Files)
			if out := b.call(c.tool, c.arguments); out.IsError {
				t.Fatalf("got %+v", out)
			}
			if got := b.tree(); !maps.Equal(got, want) && (len(got) > 0 || len(want) > 0) {
				t.Errorf("the call made %.200q, its preview %.200q", got, want)
			}
		})
	}
}

// A preview says what its diff does not show.
func TestPreviewOmits(t *testing.T) {
	hidden := strings.Repeat("x\n", 1<<20)
	for _, c := range []struct {
		name, file, content, omitted, diff string
	}{
		{"binary", "a\x00b\n", "a\x00c\n", "the file is binary: 4 bytes become 4 bytes", ""},
		{"to binary", "a\n", "a\x00c\n", "the file is binary: 2 bytes become 4 bytes", ""},
		{"bytes", "caf\xe9\n", "café\n", "", "@@ -1 +1 @@\n-caf\\xe9\n+café\n"},
		{"long", "", strings.Repeat("0123456\n", 1<<14), "9105 more lines of the diff (81945 bytes) are left out", "@@ -0,0 +1,16384 @@\n+0123456\n"},
		{"one long line", "", strings.Repeat("0", 1<<17), "2 more lines of the diff (131102 bytes) are left out", "@@ -0,0 +1 @@\n"},
		{"large", hidden, strings.ReplaceAll(hidden, "x", "y"), "the file is too large to compare: 2,097,152 bytes become 2,097,152 bytes", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, map[string]string{"f": c.file})
			note(t, b, "f")
			p := b.preview("write_file", object("path", "f", "content", c.content))
			if len(p.Files) != 1 {
				t.Fatalf("got %+v", p)
			}
			if one := p.Files[0]; one.Omitted != c.omitted || !strings.HasPrefix(one.Diff, c.diff) || len(one.Diff) > item.MaxPreviewBytes || !utf8.ValidString(one.Diff) {
				t.Errorf("omitted %q, diff %.100q", one.Omitted, one.Diff)
			}
		})
	}
}

// note records that the model read a file, which may not be text.
func note(t *testing.T, b *bench, path string) {
	t.Helper()
	data, err := b.fs.ReadFile(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	b.fs.NoteRead(path, scopefs.Digest(data.Data))
}

// The diffs of a patch share one bound.
func TestPreviewsShareABound(t *testing.T) {
	b := newBench(t, nil)
	var lines []string
	for i := range 4 {
		lines = append(lines, fmt.Sprintf("*** Add File: f%d", i), "+"+strings.Repeat("x", 30_000))
	}
	total := 0
	p := b.preview("apply_patch", object("input", patch(lines...)))
	for i, one := range p.Files {
		total += len(one.Diff)
		if (one.Omitted != "") != (i > 1) {
			t.Errorf("%s omits %q", one.Path, one.Omitted)
		}
	}
	if len(p.Files) != 4 || total > item.MaxPreviewBytes {
		t.Errorf("%d previews of %d bytes", len(p.Files), total)
	}
}

// A call that cannot do its work says so with the answer that it would have, and no preview
// has a byte of a file that the tools do not read.
func TestPreviewFails(t *testing.T) {
	b := newBench(t, map[string]string{"f": "a\nb\na\n", "new/keep": "", "huge": strings.Repeat("0123456789abcde\n", 10<<20/16)})
	if err := os.Symlink("/etc/passwd", b.path("out")); err != nil {
		t.Fatal(err)
	}
	for name, arguments := range map[string]string{
		"edit_file":   object("path", "f", "old", "x", "new", "y"),
		"edit_file 2": object("path", "f", "old", "a", "new", "y"),
		"edit_file 3": object("path", "none", "old", "a", "new", "y"),
		"edit_file 4": object("path", "out", "old", "root", "new", "y"),
		"edit_file 5": object("path", "huge", "old", "0123", "new", "y"),
		"edit_file 6": object("path", "new", "old", "0123", "new", "y"),
		"write_file":  object("path", "f", "content", "x"),
		"apply_patch": object("input", patch("*** Update File: f", "@@", "-nothing", "+b")),
	} {
		name, _, _ = strings.Cut(name, " ")
		p := b.preview(name, arguments)
		if p.Fails == nil || !p.Fails.IsError || len(p.Files) > 0 || strings.Contains(p.Fails.Content+p.Fails.Summary, "root:") {
			t.Errorf("%s: got %+v", arguments, p)
			continue
		}
		if out := b.call(name, arguments); out.Summary != p.Fails.Summary || out.Content != p.Fails.Content {
			t.Errorf("the call says %+v, its preview %+v", out, p.Fails)
		}
	}
}

// A call runs only on the files that a person saw.
func TestAgreedCallRunsOnWhatWasSeen(t *testing.T) {
	for name, arguments := range map[string]string{
		"edit_file":   object("path", "f", "old", "b", "new", "B"),
		"write_file":  object("path", "f", "content", "a\nB\n"),
		"apply_patch": object("input", patch("*** Update File: f", "@@", "-b", "+B", "*** Add File: g", "+x")),
	} {
		for what, change := range map[string]func(b *bench){
			"":         func(*bench) {},
			"changed":  func(b *bench) { b.write("f", "b\n") },
			"deleted":  func(b *bench) { _ = os.Remove(b.path("f")) },
			"appeared": func(b *bench) { b.write("g", "") },
		} {
			if what == "appeared" && name != "apply_patch" {
				continue
			}
			b := newBench(t, map[string]string{"f": "a\nb\n"})
			note(t, b, "f")
			p := b.preview(name, arguments)
			if p.Fails != nil {
				t.Fatalf("%s: %+v", name, p)
			}
			change(b)
			// A restarted podd does not know what was read.
			again, err := openBench(b.dir, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			again.t = t
			before, tl := b.tree(), again.tool(name)
			_, err = tl.Run(t.Context(), &tool.Invocation{Arguments: arguments, Approved: true, Agreed: p.Files, Targets: tl.Access(arguments).Targets})
			if errors.Is(err, tool.ErrChanged) != (what != "") || (what != "") != maps.Equal(before, b.tree()) {
				t.Errorf("%s, %q: %v, %q", name, what, err, b.tree())
			}
			_ = again.fs.Close()
		}
	}
}
