package builtin_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// New lines get the ends of the lines that they replace, or of those beside them.
func TestEditFileKeepsLineEnds(t *testing.T) {
	const script = "#!/bin/sh\necho a\necho b\nprintf x\r\n"
	for _, c := range []struct{ name, text, old, new, after string }{
		{"one CRLF line elsewhere", script, "echo a", "echo a1\necho a2", strings.Replace(script, "echo a", "echo a1\necho a2", 1)},
		{"whole lines", script, "echo a\necho b\n", "x\ny\nz\n", "#!/bin/sh\nx\ny\nz\nprintf x\r\n"},
		{"over both", script, "echo b\nprintf x\n", "1\n2\n3\n", "#!/bin/sh\necho a\n1\n2\r\n3\r\n"},
		{"over both, in a line", script, "b\nprintf", "1\n2", "#!/bin/sh\necho a\necho 1\n2 x\r\n"},
		{"CRLF among LF", script, "printf x", "printf x\nprintf y", script + "printf y\r\n"},
		{"LF among CRLF", "a\r\nb\nc\r\n", "b", "b\nB", "a\r\nb\nB\nc\r\n"},
		{"in lines of a CRLF file", "one two\r\nthree four\r\n", "two\nthree", "2\n2.5\n3", "one 2\r\n2.5\r\n3 four\r\n"},
		{"after a mark", "\ufeffa\r\nb\r\n", "a\nb\n", "x\ny\nz\n", "\ufeffx\r\ny\r\nz\r\n"},
		{"loose lines after a mark", "\ufeff  a\r\n  b\r\n", "a\nb\n", "x\nb\n", "\ufeff  x\r\n  b\r\n"},
		{"loose lines", "a \r\n b\nc\r\n", "a\n b\nc\n", "x\n y\nz\n", "x\r\n y\nz\r\n"},
		{"both kinds, all", "x\ny\nx\r\ny\r\n", "x\ny\n", "1\n2\n3\n", "1\n2\n3\n1\r\n2\r\n3\r\n"},
		{"about the line ends", "a\r\nb\r\n", "a\r\nb", "a\nb", "a\nb\r\n"},
		{"no end at all", "a\r\nb", "b", "b\nc", "a\r\nb\r\nc"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, map[string]string{"f": c.text})
			out := b.call("edit_file", object("path", "f", "old", c.old, "new", c.new, "all", strings.Contains(c.name, "all") && c.name != "no end at all"))
			if got := b.read("f"); out.IsError || got != c.after {
				t.Errorf("got %q, want %q: %+v", got, c.after, out)
			}
		})
	}
}

// Lines that an edit does not name keep their bytes, whatever the ends, and no line gets an end that the
// file does not have.
func TestEditsLeaveOtherLines(t *testing.T) {
	b := newBench(t, nil)
	rapid.Check(t, func(rt *rapid.T) {
		ends := rapid.SampledFrom([]string{"\n", "\r\n"})
		n := rapid.IntRange(1, 8).Draw(rt, "lines")
		var lines []string
		for i := range n {
			lines = append(lines, string(rune('a'+i))+ends.Draw(rt, "end"))
		}
		if rapid.Bool().Draw(rt, "no newline") {
			lines[n-1] = lines[n-1][:1]
		}
		text := strings.Join(lines, "")
		from := rapid.IntRange(0, n-1).Draw(rt, "from")
		to := rapid.IntRange(from+1, n).Draw(rt, "to")
		old := strings.ReplaceAll(strings.Join(lines[from:to], ""), "\r\n", "\n")
		fresh := rapid.SliceOfN(rapid.SampledFrom([]string{"A", "B", "C"}), 1, 5).Draw(rt, "new")
		tool := rapid.SampledFrom([]string{"edit_file", "apply_patch", "write_file"}).Draw(rt, "tool")
		b.write("f", text)
		b.call("read_file", object("path", "f"))
		var arguments string
		switch tool {
		case "edit_file":
			end := "\n"[:strings.Count(old[len(old)-1:], "\n")]
			arguments = object("path", "f", "old", old, "new", strings.Join(fresh, "\n")+end)
		case "apply_patch":
			hunk := "*** Update File: f\n@@\n-" + strings.ReplaceAll(strings.TrimSuffix(old, "\n"), "\n", "\n-") + "\n+" + strings.Join(fresh, "\n+")
			arguments = object("input", patch(hunk))
		default:
			whole := strings.ReplaceAll(strings.Join(lines[:from], ""), "\r\n", "\n") + strings.Join(fresh, "\n") + "\n"[:strings.Count(old[len(old)-1:], "\n")] +
				strings.ReplaceAll(strings.Join(lines[to:], ""), "\r\n", "\n")
			arguments = object("path", "f", "content", whole)
		}
		out := b.call(tool, arguments)
		got := slices.Collect(strings.Lines(b.read("f")))
		if out.IsError || len(got) != n-(to-from)+len(fresh) {
			rt.Fatalf("%s of %q makes %q: %+v", tool, text, got, out)
		}
		if !slices.Equal(got[:from], lines[:from]) || !slices.Equal(got[from+len(fresh):], lines[to:]) {
			rt.Fatalf("%s of %q makes %q of other lines", tool, text, got)
		}
		for i, line := range got[from : from+len(fresh)] {
			if i == len(fresh)-1 && to == n {
				continue // The end of the last line is checked by the number of lines.
			}
			near := func(l string) bool { return l[1:] == strings.TrimLeft(line, "ABC") }
			if others := lines[max(0, from-1):min(n, to+1)]; !slices.ContainsFunc(others, near) && strings.Contains(strings.Join(others, ""), "\n") {
				rt.Fatalf("%s of %q makes %q", tool, text, got)
			}
		}
		if strings.HasSuffix(text, "\n") != strings.HasSuffix(b.read("f"), "\n") {
			rt.Fatalf("%s of %q makes %q", tool, text, got)
		}
	})
}

// write_file keeps what a model does not write: a byte order mark and CRLF line ends, and says so.
func TestWriteFileKeepsMarkAndLineEnds(t *testing.T) {
	for _, c := range []struct{ name, text, content, after, says string }{
		{"both", "\ufeffa\r\nb\r\n", "a\nB\n", "\ufeffa\r\nB\r\n", "write_file: replaced f, 2 lines, 9 bytes; kept the byte order mark and CRLF line ends"},
		{"mark alone", "\ufeffa\n", "b\n", "\ufeffb\n", "; kept the byte order mark"},
		{"line ends alone", "a\r\nb\r\n", "x\na\n\nb", "x\r\na\r\n\r\nb", "; kept the CRLF line ends"},
		{"mixed", "#!/bin/sh\nx\r\ny\nz\r\n", "#!/bin/sh\nnew\nx\ny\nz\nend\n", "#!/bin/sh\nnew\nx\r\ny\nz\r\nend\r\n", "; kept the CRLF line ends"},
		{"the model writes CRLF", "a\r\nb\r\n", "a\r\nb\n", "a\r\nb\n", "5 bytes"},
		{"the model writes the mark", "\ufeffa\n", "\ufeffb\n", "\ufeffb\n", "bytes"},
		{"emptied", "\ufeffa\r\n", "", "", "0 bytes"},
		{"plain", "a\n", "b\n", "b\n", "write_file: replaced f, 1 line, 2 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, map[string]string{"f": c.text})
			b.call("read_file", object("path", "f"))
			arguments := object("path", "f", "content", c.content)
			want := proposed(t, map[string]string{"f": c.text}, b.preview("write_file", arguments).Files)["f"]
			out := b.call("write_file", arguments)
			if got := b.read("f"); out.IsError || got != c.after || got != want || !strings.HasSuffix(out.Summary, c.says) && !strings.Contains(out.Summary, c.says) {
				t.Errorf("got %q, want %q (preview %q): %+v", got, c.after, want, out)
			}
		})
	}
}

// An edit keeps the quotes, dashes and blanks of the file where the model wrote others for them.
func TestEditsKeepTypography(t *testing.T) {
	for _, c := range []struct{ name, text, old, new, after string }{
		{"another word in curly quotes", "say “yes”\n", `say "yes"`, `say "no"`, "say “no”\n"},
		{"new quotes beside curly ones", "say “yes”\n", `say "yes"`, `say "yes" and "no"`, "say “yes” and “no”\n"},
		{"apostrophes", "it’s\n", "it's", "it's what they're", "it’s what they’re\n"},
		{"both kinds", "“It’s” he said\n", `"It's" he said`, `"Isn't it" she said, ("don't")`, "“Isn’t it” she said, (“don’t”)\n"},
		{"German", "„ja“ sagt er\n", `"ja" sagt er`, `"nein" sagt er, "nie"`, "„nein“ sagt er, „nie“\n"},
		{"straight in the file", "say \"yes\"\n", "say “yes”", "say “no” or “maybe”", "say \"no\" or \"maybe\"\n"},
		{"dashes", "a – b\n", "a - b", "a - c", "a – c\n"},
		{"a new dash is the model's", "a – b\n", "a - b", "a - b-c", "a – b-c\n"},
		{"no-break space", "10\u00a0km\n", "10 km", "12 km", "12\u00a0km\n"},
		{"meant", "echo '%s'\n", "'%s'", "‘%s’", "echo ‘%s’\n"},
		{"indented too", "x:\n    say “yes”\n", "say \"yes\"\n", "say \"no\"\nsay \"never\"\n", "x:\n    say “no”\n    say “never”\n"},
		{"several lines", "“a”\n“b”\n“c”\n", "\"a\"\n\"b\"\n\"c\"\n", "\"a\"\n\"x\"\n\"c\"\n", "“a”\n“x”\n“c”\n"},
		{"mixed but clear", "“a” and \"b\"\n", `"a" and "b"`, `"a" or "b"`, "“a” or \"b\"\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, map[string]string{"f": c.text, "g": c.text})
			out := b.call("edit_file", object("path", "f", "old", c.old, "new", c.new))
			if got := b.read("f"); out.IsError || got != c.after {
				t.Errorf("got %q, want %q: %+v", got, c.after, out)
			}
			if strings.Contains(c.text, c.old) {
				return
			}
			lines := func(op, text string) string {
				return op + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+op)
			}
			out = b.call("apply_patch", object("input", patch("*** Update File: g", "@@", lines("-", c.old), lines("+", c.new))))
			if got := b.read("g"); out.IsError || got != c.after {
				t.Errorf("the patch makes %q, want %q: %+v", got, c.after, out)
			}
		})
	}
	b := newBench(t, map[string]string{"f": "“a” and \"b\"\n"})
	out := b.call("edit_file", object("path", "f", "old", `"a" and "b"`, "new", `"a" and "b" and "c"`))
	if want := "edit_file: the lines at 1 of f have straight and typographic quotes: copy old from the file, and write the quotes of new as they shall be"; out.Summary != want || b.read("f") != "“a” and \"b\"\n" {
		t.Errorf("got %+v", out)
	}
}
