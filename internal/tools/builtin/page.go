package builtin

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"podd/pkg/tool"
)

const (
	// pageNote is the room for the line that says what a page omits.
	pageNote = 120
	// maxCounted bounds how far a file is read only to count its lines, in bytes.
	maxCounted = 256 << 20
	// maxLineHeld bounds how much of one line is kept in memory.
	maxLineHeld = 1 << 20
)

var errBinary = errors.New("not UTF-8 text")

// page is a range of the lines of a file, as far as a limit allows.
type page struct {
	first, last int // the range, last 0 for the end of the file
	bytes       int // room
	rows        int

	text       strings.Builder
	shown      int   // lines in text
	shownBytes int64 // of the file
	partial    bool  // the one line shown is cut
	full       bool  // the range continues
	crlf       bool
	lines      int  // of the file
	more       bool // the file continues after lines
	rangeLines int  // of the file within the range
	rangeBytes int64
}

func newPage(first, last int, limit tool.Limit) *page {
	return &page{first: max(first, 1), last: last, bytes: max(limit.MaxBytes-pageNote, 0), rows: limit.MaxLines - 1}
}

// read fills the page from the start of a file and counts its lines. errBinary says that
// the range is not text.
func (p *page) read(ctx context.Context, r io.Reader) error {
	lines := newLineReader(r)
	for {
		line, size, err := lines.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		p.lines++
		if p.lines >= p.first && (p.last == 0 || p.lines <= p.last) {
			p.rangeLines++
			p.rangeBytes += size
			if err := p.add(line, size); err != nil {
				return err
			}
		}
		if lines.read > maxCounted && (p.full || p.last > 0 && p.lines >= p.last) {
			p.more = true
			return nil
		}
		if p.lines%4096 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// add adds one line of the range to the page, if there is room.
func (p *page) add(line []byte, size int64) error {
	if p.full {
		return nil
	}
	line = bytes.TrimSuffix(line, []byte("\n"))
	if text, ok := bytes.CutSuffix(line, []byte("\r")); ok {
		line, p.crlf = text, true
	}
	prefix := fmt.Sprintf("%d\t", p.lines)
	room := p.bytes - p.text.Len() - len(prefix) - 1
	if p.shown > 0 && (len(line) > room || p.shown == p.rows) {
		p.full = true
		return nil
	}
	if len(line) > room {
		line = trimRune(line[:max(room, 0)])
		p.partial, p.full, size = true, true, int64(len(line))
	}
	if bytes.IndexByte(line, 0) >= 0 || !utf8.Valid(line) {
		return errBinary
	}
	p.text.WriteString(prefix)
	p.text.Write(line)
	p.text.WriteByte('\n')
	p.shown++
	p.shownBytes += size
	return nil
}

// trimRune drops the incomplete rune that p ends in.
func trimRune(p []byte) []byte { return p[:len(p)-tool.Unfinished(p)] }

// lineReader reads lines of any length, of which it keeps the first maxLineHeld bytes.
type lineReader struct {
	r    *bufio.Reader
	line []byte
	read int64
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 64<<10)}
}

// binary says whether the file starts with bytes that no text has. Call it first.
func (l *lineReader) binary() bool {
	start, _ := l.r.Peek(8 << 10)
	return bytes.IndexByte(start, 0) >= 0
}

// next is the next line with its newline, valid until the next call, and its full size.
// io.EOF comes after the last.
func (l *lineReader) next() (line []byte, size int64, err error) {
	l.line = l.line[:0]
	for {
		piece, err := l.r.ReadSlice('\n')
		l.read += int64(len(piece))
		size += int64(len(piece))
		if err == nil && len(l.line) == 0 {
			return piece, size, nil
		}
		l.line = append(l.line, piece[:min(len(piece), maxLineHeld-len(l.line))]...)
		switch {
		case err == nil, errors.Is(err, io.EOF) && size > 0:
			return l.line, size, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, size, err
		}
	}
}
