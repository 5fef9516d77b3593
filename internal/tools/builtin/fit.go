package builtin

import (
	"slices"
	"strings"
)

// fit is where lines that a model wrote occur in a file, and how they differ.
type fit struct {
	places []int
	// but names the difference; empty if the lines are the same.
	but string
	// indents convert the indentation that the model wrote to that of each place; if there
	// are none, it stays. One fails for an indentation that the rule does not cover.
	indents []func(string) (string, bool)
}

// findLines looks for want in lines, at or after from, in the strictest way that
// succeeds: exactly; except for blanks at line ends and typographic quotes and dashes; or
// with another indentation of all lines. It knows no similarity of words and no gaps: what
// could mean two things is refused. With atEnd it looks only at the end of the file.
func findLines(lines []textLine, want []string, from int, atEnd bool) fit {
	if atEnd {
		from = max(from, len(lines)-len(want))
	}
	exact := fit{places: places(lines, want, from, func(have, want string) bool { return have == want })}
	if len(exact.places) > 0 {
		return exact
	}
	loose := slices.Collect(mapped(want, plain))
	if f := (fit{places: places(lines, loose, from, func(have, want string) bool { return plain(have) == want }), but: "blanks at line ends, quotes or dashes"}); len(f.places) > 0 {
		return f
	}
	f := fit{but: "indentation"}
	bare := slices.Collect(mapped(loose, strings.TrimSpace))
	if !slices.ContainsFunc(bare, func(line string) bool { return line != "" }) {
		return fit{}
	}
	for _, at := range places(lines, bare, from, func(have, want string) bool { return strings.TrimSpace(plain(have)) == want }) {
		if indent := reindent(lines[at:at+len(want)], want); indent != nil {
			f.places, f.indents = append(f.places, at), append(f.indents, indent)
		}
	}
	return f
}

func mapped(lines []string, f func(string) string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for _, line := range lines {
			if !yield(f(line)) {
				return
			}
		}
	}
}

// places lists where want occurs in lines, at or after from.
func places(lines []textLine, want []string, from int, same func(have, want string) bool) []int {
	var found []int
	for i := from; i+len(want) <= len(lines); i++ {
		if slices.EqualFunc(lines[i:i+len(want)], want, func(l textLine, text string) bool { return same(l.text, text) }) {
			found = append(found, i)
		}
	}
	return found
}

// typographic maps typographic quotes, dashes and spaces to those of a keyboard.
var typographic = strings.NewReplacer(
	"‘", "'", "’", "'", "‚", "'", "‛", "'", "“", `"`, "”", `"`, "„", `"`, "‟", `"`,
	"‐", "-", "‑", "-", "‒", "-", "–", "-", "—", "-", "―", "-", "−", "-",
	"\u00a0", " ", "\u2007", " ", "\u2009", " ", "\u202f", " ", "\u3000", " ",
)

// plain is a line without what models often get wrong in it.
func plain(line string) string {
	return strings.TrimRight(typographic.Replace(line), " \t\r")
}

// reindent converts the indentation of want to that of lines, which are otherwise the
// same; nil if no single rule explains all lines.
func reindent(lines []textLine, want []string) func(string) (string, bool) {
	var wrote, has []string
	for i, w := range want {
		if strings.TrimSpace(w) != "" {
			wrote, has = append(wrote, indentation(w)), append(has, indentation(lines[i].text))
		}
	}
	for _, rule := range append([]func(string) (string, bool){shifted(wrote[0], has[0])}, retabbed...) {
		fits := true
		for i := range wrote {
			got, ok := rule(wrote[i])
			fits = fits && ok && got == has[i]
		}
		if fits {
			return rule
		}
	}
	return nil
}

func indentation(line string) string {
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// shifted replaces the beginning of an indentation in the way that turns wrote into has.
func shifted(wrote, has string) func(string) (string, bool) {
	for wrote != "" && has != "" && wrote[len(wrote)-1] == has[len(has)-1] {
		wrote, has = wrote[:len(wrote)-1], has[:len(has)-1]
	}
	return func(indent string) (string, bool) {
		rest, ok := strings.CutPrefix(indent, wrote)
		return has + rest, ok
	}
}

// retabbed exchanges tabs and spaces, in the usual widths.
var retabbed = func() (rules []func(string) (string, bool)) {
	for _, width := range []int{4, 2, 8} {
		unit := strings.Repeat(" ", width)
		for _, pair := range [][2]string{{unit, "\t"}, {"\t", unit}} {
			rules = append(rules, func(indent string) (string, bool) {
				n := len(indent) / len(pair[0])
				return strings.Repeat(pair[1], n), strings.Repeat(pair[0], n) == indent
			})
		}
	}
	return rules
}()

// indented is a line that a model wrote, with the indentation of a place.
func (f fit) indented(place int, line string) (string, bool) {
	if f.indents == nil || strings.TrimSpace(line) == "" {
		return line, true
	}
	old := indentation(line)
	indent, ok := f.indents[place](old)
	return indent + line[len(old):], ok
}
