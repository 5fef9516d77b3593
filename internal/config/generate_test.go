package config

import (
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write example.toml again")

// example.toml follows from the keys, their defaults, the reference and testdata/sample.toml.
func TestExampleIsFresh(t *testing.T) {
	e := example{decoder: newDecoder("testdata/sample.toml"), about: reference(readFileForTest(t, "../../docs/configuration.md"))}
	if wrong := e.decode([]byte(readFileForTest(t, e.name))); len(wrong) > 0 {
		t.Fatalf("the sample: %q", wrong)
	}
	e.derive()
	e.comment("A sample of podd's configuration. Remove the # before a key to set it, and the # before the header of its table where it has one. " +
		"podd config shows what is in effect.")
	e.keys("", e.decoder.keys())
	if *update {
		if err := os.WriteFile("example.toml", []byte(e.text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if e.text.String() != Example {
		t.Error("example.toml is not fresh: run go test ./internal/config -update, and commit what it changes")
	}
}

func readFileForTest(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// example writes a sample.
type example struct {
	*decoder
	text strings.Builder
	// about is the reference's text about keys; see reference.
	about map[string]string
}

// keys writes the keys of a table. Of a table that may be left out, it writes those that
// have a value.
func (e *example) keys(path string, keys []key) {
	header := path != ""
	for _, k := range keys {
		at := join(path, k.name)
		switch kind := k.kind(); {
		case k.hidden:
		case k.name == "*":
			e.elements(k, path)
		case kind == isTable:
			e.keys(at, k.keys())
		case kind != isValue:
			e.elements(k, at)
		case !optional(path) || e.origins[at] != "" || !k.value.IsZero():
			if header {
				e.header(path)
				header = false
			}
			e.text.WriteByte('\n')
			e.comment(e.said(path, k.name))
			e.text.WriteString("#" + k.name + " = " + k.whole() + "\n")
		}
	}
}

// header writes that of a table, which is a comment if the table may be left out.
func (e *example) header(path string) {
	e.text.WriteByte('\n')
	if optional(path) {
		e.text.WriteByte('#')
	}
	e.text.WriteString(label(path) + "\n")
}

func (e *example) elements(k key, path string) {
	for _, table := range k.elements(path) {
		e.keys(table.path, table.keys)
	}
}

// optional says whether a table may be left out: one of any number, and of a tool.
func optional(path string) bool { return strings.ContainsAny(path, ".[") }

// said is the reference's text about a key: in its table, or in one above, whose text is
// for all names below it.
func (e *example) said(table, key string) string {
	table, _, _ = strings.Cut(table, "[")
	if parts := strings.Split(table, "."); len(parts) == 3 {
		if said := e.about[join(join(parts[0], parts[2]), key)]; said != "" {
			return said
		}
	}
	for {
		if said := e.about[join(table, key)]; said != "" {
			return said
		}
		i := strings.LastIndex(table, ".")
		if i < 0 {
			return ""
		}
		table = table[:i]
	}
}

// comment writes a text in lines.
func (e *example) comment(text string) {
	const width = 98
	line := "#"
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > width {
			e.text.WriteString(line + "\n")
			line = "#"
		}
		line += " " + word
	}
	if line != "#" {
		e.text.WriteString(line + "\n")
	}
}

var (
	link   = regexp.MustCompile(`\[((?:[^][]|\[[^]]*\])*)\]\(([a-z-]*\.md)?[^)]*\)`)
	marked = strings.NewReplacer("`", "", "**", "", " (docs/)", "")
)

// reference is the text of a page's tables about keys, by their paths without the names
// of tables: "limits.max_steps", "prices.input", "rule.tool". A section has the keys of
// the tables in its heading, or of no table if the heading is a title.
func reference(page string) map[string]string {
	about := map[string]string{}
	_, page, _ = strings.Cut(page, "\n## config.toml\n")
	page, _, _ = strings.Cut(page, "\n## ")
	var tables []string
	for line := range strings.Lines(page) {
		if heading, ok := strings.CutPrefix(line, "### "); ok {
			tables = strings.Split(strings.TrimSpace(heading), ", ")
			if tables[0] != strings.ToLower(tables[0]) {
				tables = []string{""}
			}
		}
		cells := strings.Split(line, "|")
		if len(cells) != 5 {
			continue
		}
		text := strings.TrimSpace(marked.Replace(link.ReplaceAllString(cells[3], "$1 (docs/$2)")))
		for _, key := range strings.Split(strings.TrimSpace(cells[1]), ", ") {
			if key, ok := strings.CutPrefix(strings.TrimSuffix(key, "`"), "`"); ok {
				note(about, tables, key, text)
			}
		}
	}
	return about
}

// note adds the text about a key from a section with the keys of some tables.
func note(about map[string]string, tables []string, key, text string) {
	if first, _, dotted := strings.Cut(key, "."); dotted {
		if !slices.Contains(tables, first) {
			key = "tool_output.tools." + key
		}
		about[key] = text
		return
	}
	// "interceptor: what it is" is about that table only.
	if table, rest, ok := strings.Cut(text, ": "); ok && slices.Contains(tables, table) {
		tables, text = []string{table}, rest
	}
	for _, table := range tables {
		about[strings.TrimPrefix(table+"."+key, ".")] = text
	}
}
