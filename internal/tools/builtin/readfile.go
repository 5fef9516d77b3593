package builtin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"podd/internal/workspace/instructions"
	"podd/internal/workspace/picture"
	"podd/pkg/item"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
)

type readArgs struct {
	Path  string `json:"path"`
	Start int    `json:"start_line,omitempty" jsonschema:"from 1"`
	End   int    `json:"end_line,omitempty" jsonschema:"inclusive"`
}

func (a *readArgs) check() error {
	switch {
	case a.Start < 0 || a.End < 0:
		return errors.New("start_line and end_line count from 1")
	case a.End > 0 && a.End < a.Start:
		return fmt.Errorf("end_line %d is before start_line %d", a.End, a.Start)
	}
	return needPath(a.Path)
}

type reader struct {
	*files
	limit tool.Limit
	// told are the instruction files that a result has named, or that the model has read.
	told sync.Map
}

func newReadFile(f *files, c Config) tool.Tool {
	r := &reader{files: f, limit: c.Limits.For("read_file")}
	return tool.New("read_file", fmt.Sprintf("Read a text file or image, at most %d lines or %d KiB a call. "+
		"Each line comes as its number, a tab and its text.", r.limit.MaxLines-1, r.limit.MaxBytes>>10),
		r.run, tool.Validate((*readArgs).check),
		tool.Repeats[readArgs](), tool.Touches(func(a readArgs) tool.Access { return f.reading(f.alike(a.Path)) }))
}

func (r *reader) run(ctx context.Context, call *tool.Invocation, args readArgs) (tool.Output, error) {
	var err error
	if args.Path, err = r.Alike(args.Path); err != nil {
		return failed(ctx, "read_file", err)
	}
	file, info, err := r.bound(call).Open(args.Path)
	switch {
	case isKind(err, scopefs.IsDir):
		return tool.Error("read_file: %s is a directory: use list_dir", r.show(args.Path)), nil
	case isKind(err, scopefs.NotFound):
		return tool.Error("read_file: %v%s", err, r.elsewhere(ctx, args.Path)), nil
	case err != nil:
		return failed(ctx, "read_file", err)
	}
	defer file.Close()
	source := io.Reader(file)
	digest := func() {}
	if info.Size() <= maxEditBytes {
		// The whole file, so that a later edit can detect a change.
		data, err := io.ReadAll(io.LimitReader(file, maxEditBytes+1))
		if err != nil {
			return failed(ctx, "read_file", err)
		}
		digest = func() { r.NoteRead(args.Path, scopefs.Digest(data)) }
		source = bytes.NewReader(data)
	}
	p := newPage(args.Start, args.End, r.limit)
	if err := p.read(ctx, source); err != nil {
		if errors.Is(err, errBinary) {
			return r.image(file, info.Size(), args.Path), nil
		}
		return failed(ctx, "read_file", err)
	}
	if p.lines < p.first && p.lines > 0 {
		return tool.Error("read_file: %s has %s; start_line %d is past the end", r.show(args.Path), tool.Plural(int64(p.lines), "line"), p.first), nil
	}
	digest()
	out := p.output(r.show(args.Path), r.Rel(args.Path))
	out.Summary = tool.Bound(out.Summary + r.instructionsFor(r.Rel(args.Path)))
	return out, nil
}

// instructionsFor tells once of instructions for the directory of a file, by its path to show.
func (r *reader) instructionsFor(rel string) (note string) {
	if filepath.IsAbs(rel) {
		return ""
	}
	r.told.Store(filepath.Join(r.Dir(), rel), true)
	for _, file := range instructions.Below(r.FS, filepath.Dir(filepath.Join(r.Dir(), rel))) {
		if _, told := r.told.LoadOrStore(file, true); !told {
			note += "; " + r.show(file) + " has instructions for its directory: read it"
		}
	}
	return note
}

// image is the answer for a file that is not text.
func (r *reader) image(file io.ReadSeeker, size int64, name string) tool.Output {
	shown := r.show(name)
	var data []byte
	_, err := file.Seek(0, io.SeekStart)
	if err == nil {
		data, err = io.ReadAll(io.LimitReader(file, picture.MaxFileBytes+1))
	}
	if err != nil || picture.Kind(data) == "" {
		return tool.Error("read_file: %s is not UTF-8 text (%d bytes): inspect it with shell (file, xxd, strings, iconv)", shown, size)
	}
	image, err := picture.Read(data, shown)
	if err != nil {
		return tool.Error("read_file: %s %v", shown, err)
	}
	return tool.Output{
		Summary: tool.Bound("read_file: " + image.String()), Kind: item.OutputRead, Path: r.Rel(name), Images: item.NewImages(image),
	}
}

// elsewhere names files of the same name in other places.
func (r *reader) elsewhere(ctx context.Context, name string) string {
	base := path.Base(name)
	if strings.ContainsAny(base, `*?[]{}\`) {
		return ""
	}
	found, _, err := r.Glob(ctx, "**/"+base, 3)
	if err != nil || len(found) == 0 {
		return ""
	}
	for i := range found {
		found[i] = scopefs.Display(found[i])
	}
	return "; there is " + strings.Join(found, ", ")
}

// output is the page as the tool's answer; shown is for people, rel for programs.
func (p *page) output(shown, rel string) tool.Output {
	out := tool.Output{Kind: item.OutputRead, Path: rel}
	total := fmt.Sprint(p.lines)
	if p.more {
		total = "more than " + total
	}
	last := p.first + p.shown - 1
	switch {
	case p.lines == 0:
		out.Summary = "read_file: " + shown + ", empty"
	case p.first == 1 && last == p.lines && !p.more:
		out.Summary = fmt.Sprintf("read_file: %s, %s", shown, tool.Plural(int64(p.lines), "line"))
	default:
		out.Summary = fmt.Sprintf("read_file: %s, lines %d-%d of %s", shown, p.first, last, total)
	}
	if p.crlf {
		out.Summary += ", CRLF"
	}
	if p.full {
		out.Cut = &item.Cut{TotalBytes: p.rangeBytes, TotalLines: int64(p.rangeLines), KeptBytes: p.shownBytes, KeptLines: int64(p.shown)}
		next := fmt.Sprintf("continue with start_line %d", last+1)
		if p.partial {
			next = fmt.Sprintf("line %d is cut after %d bytes", last, p.shownBytes)
		}
		fmt.Fprintf(&p.text, "[lines %d-%d of %s; %s]", p.first, last, total, next)
	}
	out.Summary = tool.Bound(out.Summary)
	out.Content = p.text.String()
	return out
}
