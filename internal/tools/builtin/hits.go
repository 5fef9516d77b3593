package builtin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"podd/pkg/scopefs"
	"podd/pkg/tool"
)

// maxHitsBytes bounds the memory of the matches: many matches of long lines.
const maxHitsBytes = 256 << 10

// hits collects matching lines with the lines around them, one file after another, until
// they are too many to show:
//
//	path/of/file.go
//	11-line before
//	12:line that matches
//	--
//	40:another, further down
type hits struct {
	search Search
	re     *regexp.Regexp

	text strings.Builder
	all  *manyHits
}

// scan searches one file, whose name is shown above its first match. It finds nothing in
// a file that is not text.
func (h *hits) scan(ctx context.Context, name string, r io.Reader) error {
	f := fileHits{hits: h, name: name}
	lines := newLineReader(r)
	if lines.binary() {
		return nil
	}
	for !h.all.stopped {
		line, _, err := lines.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		f.add(bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")))
		if f.line%1024 != 0 {
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		h.all.late()
	}
	return nil
}

// fileHits is the scan of one file.
type fileHits struct {
	*hits
	name string
	// line is the number of the current line, last that of the last one shown.
	line, last int
	// before are the lines after last, as many as may be shown.
	before []string
	// after is how many lines are still to be shown.
	after int
	// found says that the file has a match.
	found bool
}

func (f *fileHits) add(line []byte) {
	f.line++
	at := f.re.FindIndex(line)
	switch {
	case at != nil:
		f.match(line, at[0])
	case f.all.begun:
	case f.after > 0:
		f.after--
		f.show('-', f.line, f.clip(line, 0))
	case f.search.Context > 0:
		if len(f.before) == f.search.Context {
			f.before = append(f.before[:0], f.before[1:]...)
		}
		f.before = append(f.before, f.clip(line, 0))
	}
}

func (f *fileHits) match(line []byte, at int) {
	if !f.all.begun && (f.all.matches == int64(f.search.MaxMatches) || f.text.Len() > maxHitsBytes) {
		f.all.begin()
	}
	text := f.clip(line, at)
	f.all.add(f.name, f.line, text, !f.found)
	f.found = true
	if f.all.begun {
		return
	}
	first := f.line - len(f.before)
	switch {
	case f.last == 0:
		f.text.WriteString(scopefs.Display(f.name) + "\n")
	case first > f.last+1:
		f.text.WriteString("--\n")
	}
	for i, text := range f.before {
		f.show('-', first+i, text)
	}
	f.show(':', f.line, text)
	f.before, f.after = f.before[:0], f.search.Context
}

func (f *fileHits) show(mark byte, line int, text string) {
	fmt.Fprintf(&f.text, "%d%c%s\n", line, mark, text)
	f.last = line
}

// clip bounds a line, around the byte at.
func (f *fileHits) clip(line []byte, at int) string {
	most := f.search.MaxLineBytes
	if len(line) <= most {
		return tool.Repair(string(line))
	}
	from := 0
	if at > most/2 {
		from = min(at-most/4, len(line)-most)
	}
	piece := trimRune(line[from : from+most])
	start, end := "", "…"
	if from > 0 {
		start = "…"
		piece = bytes.TrimLeftFunc(piece, func(r rune) bool { return r == '\uFFFD' })
	}
	if from+most == len(line) {
		end = ""
	}
	return start + tool.Repair(string(piece)) + end
}
