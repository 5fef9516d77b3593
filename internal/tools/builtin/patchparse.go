package builtin

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"podd/pkg/lazy"

	"podd/pkg/tool"
)

// The lines of the patch format that are not content.
const (
	patchBegin  = "*** Begin Patch"
	patchEnd    = "*** End Patch"
	patchAdd    = "*** Add File:"
	patchDelete = "*** Delete File:"
	patchUpdate = "*** Update File:"
	patchMove   = "*** Move to:"
	patchEOF    = "*** End of File"
)

// fileChange is a patch's change of one file.
type fileChange struct {
	// verb is add, delete or update.
	verb, path string
	// moveTo is the new path of an update; empty if it stays.
	moveTo string
	// content is that of an added file.
	content string
	hunks   []hunk
}

// hunk is one change of an update.
type hunk struct {
	// number counts the hunks of the file from 1.
	number int
	// headers are the lines after @@, which come before the change in the file, in order.
	headers []string
	lines   []hunkLine
	// atEnd: the change is at the end of the file.
	atEnd bool
}

// hunkLine is kept (' '), removed ('-') or added ('+').
type hunkLine struct {
	op   byte
	text string
}

// old is the lines that the hunk expects in the file.
func (h hunk) old() []string {
	var lines []string
	for _, l := range h.lines {
		if l.op != '+' {
			lines = append(lines, l.text)
		}
	}
	return lines
}

// count is how many lines of an op the hunk has. One that only keeps lines says where
// the next hunk is.
func (h hunk) count(op byte) int {
	n := 0
	for _, l := range h.lines {
		if l.op == op {
			n++
		}
	}
	return n
}

// patchParser reads the lines of a patch.
type patchParser struct {
	lines []string
	at    int
}

// parsePatch reads a patch:
//
//	*** Begin Patch
//	*** Add File: PATH          then lines that start with +
//	*** Delete File: PATH
//	*** Update File: PATH       then perhaps *** Move to: PATH, and hunks
//	*** End Patch
//
// A hunk begins with @@, which may be followed by a line that comes before it in
// the file; its lines start with a space, - or +. *** End of File after it ties it
// to the end. The first hunk of a file may do without @@. An error names the line
// of the patch.
func parsePatch(text string) ([]fileChange, error) {
	p := &patchParser{lines: strings.Split(strings.ReplaceAll(unwrapPatch(text), "\r\n", "\n"), "\n")}
	last := len(p.lines) - 1
	switch {
	case strings.TrimSpace(p.lines[0]) != patchBegin:
		return nil, fmt.Errorf("the patch must begin with the line %q", patchBegin)
	case strings.TrimSpace(p.lines[last]) != patchEnd:
		return nil, fmt.Errorf("the patch must end with the line %q", patchEnd)
	}
	p.lines, p.at = p.lines[:last], 1
	var changes []fileChange
	for p.skipBlank() {
		change, err := p.change()
		if err != nil {
			return nil, err
		}
		changes = append(changes, change)
	}
	if len(changes) == 0 {
		return nil, errors.New("the patch changes no file: write *** Update File: PATH and hunks between its first and its last line")
	}
	return changes, nil
}

// unwrapPatch removes what models put around a patch: a here-document or a fence.
func unwrapPatch(text string) string {
	text = strings.TrimSpace(text)
	first, rest, _ := strings.Cut(text, "\n")
	if strings.HasPrefix(first, "<<") || strings.HasPrefix(first, "```") {
		if i := strings.LastIndex(rest, "\n"); i >= 0 {
			return strings.TrimSpace(rest[:i])
		}
	}
	return text
}

// errorf names the current line.
func (p *patchParser) errorf(format string, args ...any) error {
	return fmt.Errorf("line %d of the patch: %s", p.at+1, fmt.Sprintf(format, args...))
}

// skipBlank skips empty lines and says whether there is more.
func (p *patchParser) skipBlank() bool {
	for p.at < len(p.lines) && strings.TrimSpace(p.lines[p.at]) == "" {
		p.at++
	}
	return p.at < len(p.lines)
}

// header reads the current line if it starts with marker.
func (p *patchParser) header(marker string) (rest string, ok bool) {
	if p.at == len(p.lines) {
		return "", false
	}
	rest, ok = strings.CutPrefix(strings.TrimSpace(p.lines[p.at]), marker)
	if ok {
		p.at++
	}
	return strings.TrimSpace(rest), ok
}

func (p *patchParser) change() (fileChange, error) {
	if path, ok := p.header(patchAdd); ok {
		return p.added(path)
	}
	if path, ok := p.header(patchDelete); ok {
		return fileChange{verb: "delete", path: path}, p.need(path)
	}
	if path, ok := p.header(patchUpdate); ok {
		return p.updated(path)
	}
	return fileChange{}, p.errorf("%q is not one of %q, %q and %q", tool.Shorten(p.lines[p.at], 60), patchAdd+" PATH", patchUpdate+" PATH", patchDelete+" PATH")
}

func (p *patchParser) need(path string) error {
	if path == "" {
		p.at--
		return p.errorf("the path is missing: write it after the colon")
	}
	return nil
}

func (p *patchParser) added(path string) (fileChange, error) {
	if err := p.need(path); err != nil {
		return fileChange{}, err
	}
	var b strings.Builder
	for p.at < len(p.lines) && p.lines[p.at] != "" && !p.atFile() {
		text, ok := strings.CutPrefix(p.lines[p.at], "+")
		if !ok {
			return fileChange{}, p.errorf("each line of the added file %s must start with +", path)
		}
		b.WriteString(text + "\n")
		p.at++
	}
	return fileChange{verb: "add", path: path, content: b.String()}, nil
}

func (p *patchParser) updated(path string) (fileChange, error) {
	c := fileChange{verb: "update", path: path}
	if err := p.need(path); err != nil {
		return c, err
	}
	if to, ok := p.header(patchMove); ok {
		if c.moveTo = to; to == "" {
			return c, p.need(to)
		}
	}
	for p.skipBlank() && !p.atFile() {
		h, err := p.hunk(len(c.hunks) + 1)
		if err != nil {
			return c, err
		}
		c.hunks = append(c.hunks, h)
	}
	changes := func(h hunk) bool { return h.count('+')+h.count('-') > 0 }
	switch {
	case c.moveTo == "" && len(c.hunks) == 0:
		return c, p.errorf("the update of %s has no hunk: write @@ and the lines to keep, remove and add", path)
	case c.moveTo == "" && !slices.ContainsFunc(c.hunks, changes):
		p.at--
		return c, p.errorf("the update of %s removes and adds nothing: start changed lines with - or +", path)
	}
	return c, nil
}

// atFile says whether the current line begins another file. Unlike in a header, space
// before it matters: it makes the line content.
func (p *patchParser) atFile() bool {
	return slices.ContainsFunc([]string{patchAdd, patchDelete, patchUpdate}, func(marker string) bool {
		return strings.HasPrefix(p.lines[p.at], marker)
	})
}

// lineNumbers matches what a unified diff has after @@.
var lineNumbers = lazy.Regexp(`^-\d+(,\d+)? \+\d+(,\d+)? @@ ?`)

func (p *patchParser) hunk(number int) (hunk, error) {
	h := hunk{number: number}
	for p.at < len(p.lines) && strings.HasPrefix(p.lines[p.at], "@@") {
		rest := strings.TrimPrefix(strings.TrimPrefix(p.lines[p.at], "@@"), " ")
		if rest = lineNumbers().ReplaceAllString(rest, ""); strings.TrimSpace(rest) != "" {
			h.headers = append(h.headers, rest)
		}
		p.at++
	}
	gap := 0
	for ; p.at < len(p.lines) && !p.atFile() && !strings.HasPrefix(p.lines[p.at], "@@"); p.at++ {
		line := p.lines[p.at]
		if strings.TrimSpace(line) == patchEOF {
			h.atEnd = true
			p.at++
			break
		}
		if line == "" {
			// A kept empty line, unless it only separates the next part.
			gap++
			continue
		}
		for ; gap > 0; gap-- {
			h.lines = append(h.lines, hunkLine{' ', ""})
		}
		if line[0] != ' ' && line[0] != '-' && line[0] != '+' {
			return h, p.errorf("%q must start with a space (kept), - (removed) or + (added)", tool.Shorten(line, 60))
		}
		h.lines = append(h.lines, hunkLine{line[0], line[1:]})
	}
	return h, nil
}
