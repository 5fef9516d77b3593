package repomap

import (
	"bytes"
	"cmp"
	"iter"
	"slices"
	"strings"
)

// Bounds of what is significant. Shorter words are used everywhere, and so are those that
// more files define.
const (
	minName     = 3
	maxName     = 64
	maxDefiners = 5
)

// Map collects files.
type Map struct {
	files []file
	// ids numbers the words of all files; definers says which files define each.
	ids      map[string]int32
	definers map[int32][]int32
	defined  int
}

type file struct {
	path string
	// family is the language; names are not shared between two of them.
	family      string
	test        bool
	definitions []definition
	words       []uses
}

// uses is how often a file has each word.
type uses struct {
	id int32
	n  int32
}

// New makes an empty map.
func New() *Map {
	return &Map{ids: map[string]int32{}, definers: map[int32][]int32{}}
}

// Add adds a file, and says whether it did: it skips one that a program wrote. It does
// not keep the text. Equal files in equal order give an equal result.
func (m *Map) Add(path string, text []byte) bool {
	if generated(text) {
		return false
	}
	n := int32(len(m.files))
	f := file{path: path, family: family(path), test: isTest(path), definitions: define(path, text)}
	for _, d := range f.definitions {
		if len(d.name) < minName || f.test {
			continue
		}
		id := m.id(d.name)
		if files := m.definers[id]; len(files) == 0 || files[len(files)-1] != n {
			m.definers[id] = append(files, n)
		}
	}
	m.defined += len(f.definitions)
	f.words = m.count(words(path, text))
	m.files = append(m.files, f)
	return true
}

// Files counts the added files.
func (m *Map) Files() int { return len(m.files) }

// Definitions counts their definitions.
func (m *Map) Definitions() int { return m.defined }

// generated says whether a program wrote the file.
func generated(text []byte) bool {
	head := text[:min(len(text), 2<<10)]
	for line := range bytes.Lines(head) {
		if bytes.Contains(line, []byte("DO NOT EDIT")) && bytes.Contains(line, []byte("generated")) {
			return true
		}
	}
	// A long first line is a bundle or a table.
	return len(head) == 2<<10 && bytes.IndexByte(head, '\n') < 0
}

func (m *Map) id(word string) int32 {
	id, known := m.ids[word]
	if !known {
		id = int32(len(m.ids))
		m.ids[word] = id
	}
	return id
}

// count is how often each word occurs, in the order of their numbers.
func (m *Map) count(words iter.Seq[string]) []uses {
	counts := map[int32]int32{}
	for word := range words {
		if len(word) < minName || len(word) > maxName {
			continue
		}
		id, known := m.ids[word]
		if !known {
			id = m.id(strings.Clone(word))
		}
		counts[id]++
	}
	all := make([]uses, 0, len(counts))
	for id, n := range counts {
		all = append(all, uses{id, n})
	}
	slices.SortFunc(all, func(a, b uses) int { return cmp.Compare(a.id, b.id) })
	return all
}
