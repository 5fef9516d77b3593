package config

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"podd/docs"
)

// Example is a config.toml with every table and key. All keys are comments, each below
// its text in the reference. A key shows its default, or a sample if it has none.
func Example() string {
	e := example{about: reference(docs.Configuration)}
	e.comment("A sample of podd's configuration. Remove the # before a key to set it, and the # before the header of its table where it has one. " +
		"podd config shows what is in effect.")
	l := newLoader()
	l.finish()
	e.keys("", "", l.root)
	return e.text.String()
}

// example writes a sample.
type example struct {
	text strings.Builder
	// about is the reference's text about keys; see reference.
	about map[string]string
}

// keys writes the keys of a table. path is its path; named is its name if it is one of
// many.
func (e *example) keys(path, named string, keys []*setting) {
	for _, s := range keys {
		at := join(path, s.key)
		switch {
		case s.noFile, s.only != "" && s.only != named:
		case s.begin != nil:
			for i, name := range strings.Fields(s.sample) {
				e.one(at, i, name, s)
			}
		case s.keys != nil:
			switch {
			case named != "":
				e.text.WriteString("\n#" + label(at) + "\n")
			case s.keys[0].begin == nil:
				e.text.WriteString("\n" + label(at) + "\n")
			}
			e.keys(at, "", s.keys)
		default:
			e.text.WriteByte('\n')
			e.comment(e.said(path, s.key))
			e.text.WriteString("#" + s.key + " = " + cmp.Or(s.sample, s.show()) + "\n")
		}
	}
}

// one writes one of the tables of a setting.
func (e *example) one(at string, i int, name string, s *setting) {
	path := join(at, name)
	if s.list {
		path = element(at, i+1)
	}
	e.text.WriteString("\n#" + label(path) + "\n")
	e.keys(path, name, s.open(path, name, "").keys)
}

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
