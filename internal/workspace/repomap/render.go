package repomap

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Budget bounds a rendered map, newlines included.
type Budget struct {
	Bytes int
	Lines int
}

// Rendered is a map as text.
type Rendered struct {
	// Text has for each file its path and a colon, then a line for each shown definition:
	// its line number, a space, its first line. The most important file comes first;
	// definitions are in the order of the file.
	Text string
	// Files and Definitions count what is shown.
	Files, Definitions int
}

// candidate is a definition that may be shown.
type candidate struct {
	file  int
	at    int // in the file's definitions
	score float64
}

// Render shows the most important definitions that fit the budget. name makes a path safe
// to show; nil leaves paths unchanged.
func (m *Map) Render(b Budget, name func(path string) string) Rendered {
	if len(m.files) == 0 {
		return Rendered{}
	}
	if name == nil {
		name = func(path string) string { return path }
	}
	r := m.rank()
	shown := make(map[int][]int)
	out := Rendered{}
	for _, c := range m.candidates(r) {
		f := m.files[c.file]
		if slices.ContainsFunc(shown[c.file], func(at int) bool { return f.definitions[at].line == f.definitions[c.at].line }) {
			continue // One line may define several names.
		}
		lines, bytes := 1, len(line(f.definitions[c.at]))
		if shown[c.file] == nil {
			lines, bytes = 2, bytes+len(name(f.path))+len(":\n")
		}
		if lines > b.Lines || bytes > b.Bytes {
			break
		}
		b.Lines, b.Bytes = b.Lines-lines, b.Bytes-bytes
		shown[c.file] = append(shown[c.file], c.at)
		out.Definitions++
	}
	var text strings.Builder
	for _, i := range m.order(r, shown) {
		out.Files++
		text.WriteString(name(m.files[i].path) + ":\n")
		slices.Sort(shown[i])
		for _, at := range shown[i] {
			text.WriteString(line(m.files[i].definitions[at]))
		}
	}
	out.Text = text.String()
	return out
}

// candidates are all definitions, the most valuable first. One that no other file uses
// has no value; those come in the order of the files.
func (m *Map) candidates(r ranking) []candidate {
	var all []candidate
	for i, f := range m.files {
		for at, d := range f.definitions {
			c := candidate{file: i, at: at}
			if id, known := m.ids[d.name]; known {
				c.score = r.names[id] / float64(max(len(m.definers[id]), 1))
			}
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(r.files[b.file], r.files[a.file]))
	})
	return all
}

// order are the shown files, the most important first.
func (m *Map) order(r ranking, shown map[int][]int) []int {
	var files []int
	for i := range m.files {
		if shown[i] != nil {
			files = append(files, i)
		}
	}
	slices.SortStableFunc(files, func(a, b int) int { return cmp.Compare(r.files[b], r.files[a]) })
	return files
}

func line(d definition) string { return strconv.Itoa(d.line) + " " + d.text + "\n" }
