package scopefs

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"podd/pkg/item"
)

// RefLimits bounds what a reference resolves to.
type RefLimits struct {
	// MaxBytes is how much of a file is kept; 0 means 16 KiB.
	MaxBytes int
	// DirEntries is how many entries of a directory are listed; 0 means 100.
	DirEntries int
}

func (l RefLimits) withDefaults() RefLimits {
	if l.MaxBytes <= 0 {
		l.MaxBytes = 16 << 10
	}
	if l.DirEntries <= 0 {
		l.DirEntries = 100
	}
	return l
}

// ExistsRef says whether the path, or one that looks the same, exists, for ParseRefs.
func (f *FS) ExistsRef(path string) bool {
	path, err := f.Alike(path)
	if err != nil {
		return true // There are several.
	}
	_, err = f.Stat(path)
	return err == nil
}

// ResolveRef reads a reference's target and makes the message that a model sees, of
// origin file_ref:
//
//	[File: PATH]          the file, or its beginning
//	[File: PATH:10-20]    these lines, as far as the file has them
//	[Dir: PATH]           the entries of the directory, sorted, one per line, with "/"
//	                      after the name of a directory
//
// A newline and the body follow the header. PATH is the path of the reference; the header
// and listings quote names that could imitate something else. Content above the limits is
// cut, between characters, and a last line says so and how much there is.
//
// The error is a *PathError of kind OutOfScope, NotFound (a range that begins after the
// last line, too), Refused, Binary (not UTF-8, or a NUL byte, in what was read) or IO.
func (f *FS) ResolveRef(ctx context.Context, ref item.FileRef, lim RefLimits) (item.SystemMessage, error) {
	r := refs{fs: f, lim: lim.withDefaults()}
	text, err := r.text(ctx, ref)
	if err != nil {
		return item.SystemMessage{}, r.fail(ref.Path, err)
	}
	return item.SystemMessage{Origin: item.OriginFileRef, Text: text}, nil
}

// refs turns references into text.
type refs struct {
	fs  *FS
	lim RefLimits
}

// fail converts an error to the kinds of a reference.
func (r refs) fail(path string, err error) *PathError {
	e, ok := errors.AsType[*PathError](r.fs.wrap(path, err))
	if !ok {
		return &PathError{Kind: IO, Path: path, Err: err}
	}
	switch e.Kind {
	case OutOfScope, NotFound, Refused, Binary, IO:
		return e
	}
	return &PathError{Kind: IO, Path: e.Path, Err: e.Err, says: strings.TrimPrefix(e.Error(), Display(e.Path)+" ")}
}

// text is the message for a file or a directory.
func (r refs) text(ctx context.Context, ref item.FileRef) (string, error) {
	if err := checkRef(ref); err != nil {
		return "", err
	}
	if err := context.Cause(ctx); err != nil {
		return "", err
	}
	file, info, err := r.fs.Open(ref.Path)
	if e, ok := errors.AsType[*PathError](err); ok && e.Kind == IsDir {
		if ref.StartLine != 0 {
			return "", sayf(IO, ref.Path, nil, "is a directory, which has no lines: leave out the range")
		}
		return r.dirText(ctx, ref)
	}
	if err != nil {
		return "", err
	}
	defer file.Close()
	var data []byte
	source := contextReader{ctx: ctx, r: file}
	if ref.StartLine == 0 {
		data, err = readUpTo(source, info.Size(), int64(r.lim.MaxBytes))
	} else {
		data, err = readLines(source, ref, r.lim.MaxBytes)
	}
	if err != nil {
		return "", err
	}
	return fileText(ref, data, r.lim.MaxBytes, max(info.Size(), int64(len(data))))
}

// checkRef refuses a reference without a file, or with an invalid range.
func checkRef(ref item.FileRef) error {
	switch start, end := ref.StartLine, ref.EndLine; {
	case ref.Path == "":
		return sayf(NotFound, ref.Path, nil, "names no file")
	case start < 0 || end < 0 || start == 0 && end != 0 || end != 0 && end < start:
		return sayf(IO, ref.Path, nil, "has no lines %d-%d: lines are numbered from 1, and the range must not be reversed", start, end)
	}
	return nil
}

// fileText is the message for a file. data is the part that was read, up to a byte more
// than may be kept; total is the size of the whole file.
func fileText(ref item.FileRef, data []byte, most int, total int64) (string, error) {
	body := CutRunes(string(data), most)
	if !utf8.ValidString(body) || strings.ContainsRune(body, 0) {
		return "", notText(ref.Path, data)
	}
	text := "[File: " + Display(ref.Path) + rangeSuffix(ref) + "]\n" + body
	if len(body) < len(data) {
		text = endLine(text) + fmt.Sprintf("[...truncated, %d bytes total — use read_file for the rest]", total)
	}
	return text, nil
}

func notText(path string, data []byte) error {
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return sayf(Binary, path, nil, "is UTF-16 text: convert it to UTF-8 first")
	}
	return &PathError{Kind: Binary, Path: path}
}

func endLine(text string) string {
	if strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// CutRunes is the longest beginning of s that has at most most bytes and ends between
// characters.
func CutRunes(s string, most int) string {
	if len(s) <= most {
		return s
	}
	cut := max(most, 0)
	for back := 0; back < utf8.UTFMax-1 && cut > 0 && !utf8.RuneStart(s[cut]); back++ {
		cut--
	}
	return s[:cut]
}

// readLines reads the lines of a range, up to most bytes and one more. It reads at most
// MaxFileBytes of the file.
func readLines(r io.Reader, ref item.FileRef, most int) ([]byte, error) {
	end := max(ref.StartLine, ref.EndLine)
	in := bufio.NewReaderSize(r, 64<<10)
	var kept []byte
	line, scanned := 1, 0
	for line <= end && len(kept) <= most {
		part, err := in.ReadSlice('\n')
		if bytes.IndexByte(part, 0) >= 0 {
			return nil, &PathError{Kind: Binary, Path: ref.Path}
		}
		if line >= ref.StartLine {
			kept = append(kept, part[:min(len(part), most+1-len(kept))]...)
		}
		switch {
		case err == nil:
			line++
		case errors.Is(err, io.EOF):
			return kept, checkBehind(ref, line, len(part) == 0)
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
		if scanned += len(part); scanned > MaxFileBytes {
			return nil, sayf(IO, ref.Path, nil, "cannot be searched for lines after its first %d bytes: name an earlier range", MaxFileBytes)
		}
	}
	return kept, nil
}

// checkBehind refuses a range that begins after the end of the file, which is in the
// given line, at its start or not.
func checkBehind(ref item.FileRef, line int, atStart bool) error {
	if atStart {
		line--
	}
	if ref.StartLine <= line {
		return nil
	}
	return sayf(NotFound, ref.Path, nil, "has no line %d: it ends with line %d", ref.StartLine, line)
}

// dirText is the message for a directory.
func (r refs) dirText(ctx context.Context, ref item.FileRef) (string, error) {
	p, err := r.fs.locate(ref.Path)
	if err != nil {
		return "", err
	}
	dir, err := r.fs.dirAt(p)
	if err != nil {
		return "", err
	}
	defer dir.Close()
	names, total, err := firstNames(ctx, dir, r.lim.DirEntries)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("[Dir: " + Display(ref.Path) + "]\n")
	for _, name := range names {
		b.WriteString(Display(name))
		if info, err := dir.Lstat(name); err == nil && info.IsDir() {
			b.WriteByte('/')
		}
		b.WriteByte('\n')
	}
	if more := total - len(names); more > 0 {
		fmt.Fprintf(&b, "[...%d more entries]\n", more)
	}
	return b.String(), nil
}

// firstNames is the first most names of a directory by name, and the number of its names.
// It keeps a bounded number of names in memory.
func firstNames(ctx context.Context, dir *os.Root, most int) (names []string, total int, err error) {
	file, err := dir.Open(".")
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	for {
		if err := context.Cause(ctx); err != nil {
			return nil, 0, err
		}
		batch, err := file.Readdirnames(4096)
		total += len(batch)
		names = append(names, batch...)
		slices.Sort(names)
		names = names[:min(len(names), most)]
		if errors.Is(err, io.EOF) {
			return names, total, nil
		}
		if err != nil {
			return nil, 0, err
		}
	}
}

// contextReader fails a read after the end of its context.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := context.Cause(c.ctx); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
