package pages

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Page is one Markdown file.
type Page struct {
	// Name is its path from the root of the repository.
	Name  string
	lines []string
}

// All reads README.md, the other pages at the root for people and programs, and all of
// docs. root is the repository.
func All(root string) ([]Page, error) {
	names, err := filepath.Glob(filepath.Join(root, "*.md"))
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(filepath.Join(root, "docs"), func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var pages []Page
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		short, err := filepath.Rel(root, name)
		if err != nil {
			return nil, err
		}
		pages = append(pages, Page{Name: filepath.ToSlash(short), lines: strings.Split(string(text), "\n")})
	}
	return pages, nil
}

// Block is one block of code.
type Block struct {
	// Line is where its text begins, from 1.
	Line int
	// Language is the word after the fence; "" for an indented block.
	Language string
	Text     string
}

// Blocks are the page's blocks of code, fenced and indented.
func (p Page) Blocks() []Block {
	var blocks []Block
	for i := 0; i < len(p.lines); i++ {
		line := strings.TrimLeft(p.lines[i], " ")
		fence := strings.HasPrefix(line, "```")
		if !fence && !(strings.HasPrefix(p.lines[i], "    ") && (i == 0 || p.lines[i-1] == "")) {
			continue
		}
		indent := len(p.lines[i]) - len(line)
		b := Block{Line: i + 1}
		if fence {
			b.Language, _, _ = strings.Cut(strings.TrimPrefix(line, "```"), " ")
			b.Line++
			i++
		}
		start := i
		for i < len(p.lines) && !(fence && strings.HasPrefix(strings.TrimLeft(p.lines[i], " "), "```")) && (fence || p.lines[i] == "" || strings.HasPrefix(p.lines[i], "    ")) {
			b.Text += p.lines[i][min(indent, len(p.lines[i])-len(strings.TrimLeft(p.lines[i], " "))):] + "\n"
			i++
		}
		if !fence && i > start {
			i--
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// code is a span of code in a sentence.
var code = regexp.MustCompile("`[^`]*`")

// prose returns each line outside of fenced blocks, numbered from 1.
func (p Page) prose(yield func(int, string) bool) {
	fenced := false
	for i, line := range p.lines {
		if strings.HasPrefix(strings.TrimLeft(line, " "), "```") {
			fenced = !fenced
		} else if !fenced && !yield(i+1, line) {
			return
		}
	}
}
