package repomap

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"
	"unicode/utf8"
)

// definition is a name that a file defines.
type definition struct {
	name string
	// line counts from 1.
	line int
	// text is the beginning of the definition.
	text string
}

// maxText bounds the shown text of a definition, in bytes.
const maxText = 160

// define lists the definitions of a file in the order of their lines.
func define(name string, text []byte) []definition {
	if path.Ext(name) == goExtension {
		return defineGo(text)
	}
	l := languageOf(path.Ext(name))
	if l == nil {
		return nil
	}
	var found []definition
	n := 0
	for line := range bytes.Lines(text) {
		n++
		line = bytes.TrimRight(line, "\r\n")
		for _, at := range matches(l, line) {
			if keyword(at) {
				continue
			}
			found = append(found, definition{name: at, line: n, text: show(string(line))})
		}
	}
	return found
}

// matches is the name that a line defines; empty without one.
func matches(l *language, line []byte) []string {
	const longest = 2000 // Longer lines are not written by hand.
	if len(line) > longest {
		return nil
	}
	groups := l.definition().FindSubmatch(line)
	for _, g := range groups[min(1, len(groups)):] {
		if len(g) > 0 {
			return []string{lastName(string(g))}
		}
	}
	return nil
}

// lastName is the name itself without its owner, as in Owner::name.
func lastName(s string) string {
	return strings.TrimPrefix(s[strings.LastIndex(s, ":")+1:], "~")
}

// keyword says whether a name that looks like a function to the expressions of the C
// family is a keyword.
func keyword(name string) bool {
	switch name {
	case "if", "for", "while", "switch", "return", "catch", "new", "else", "do", "sizeof", "throw", "using", "await", "lock":
		return true
	}
	return false
}

// defineGo uses the part of a file that parses.
func defineGo(text []byte) []definition {
	set := token.NewFileSet()
	file, _ := parser.ParseFile(set, "", text, parser.SkipObjectResolution)
	if file == nil {
		return nil
	}
	lines := strings.Split(string(text), "\n")
	var found []definition
	add := func(id *ast.Ident, at token.Pos) {
		line := set.PositionFor(at, false).Line
		if id.Name == "_" || line < 1 || line > len(lines) {
			return
		}
		found = append(found, definition{name: id.Name, line: line, text: show(lines[line-1])})
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			add(d.Name, d.Pos())
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					add(s.Name, s.Pos())
				case *ast.ValueSpec:
					for _, id := range s.Names {
						add(id, id.Pos())
					}
				}
			}
		}
	}
	return found
}

// show is a line without the start of its body.
func show(line string) string {
	line = strings.TrimRight(strings.ToValidUTF8(line, "?"), " \t\r{:")
	line = strings.ReplaceAll(line, "\t", " ")
	if len(line) <= maxText {
		return line
	}
	end := maxText
	for !utf8.RuneStart(line[end]) {
		end--
	}
	return line[:end] + "…"
}
