package builtin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"

	"podd/pkg/item"
	"podd/pkg/tool"
)

type editArgs struct {
	Path string `json:"path"`
	Old  string `json:"old" jsonschema:"exact text to replace, without line numbers; must occur once"`
	New  string `json:"new"`
	All  bool   `json:"all,omitempty" jsonschema:"replace every occurrence"`
}

func (a *editArgs) check() error {
	switch {
	case a.Old == "":
		return errors.New("old is empty: give the text to replace, or use write_file for a new file")
	case a.Old == a.New:
		return errors.New("old and new are the same, so nothing would change: change new")
	}
	return needPath(a.Path)
}

func newEditFile(f *files) tool.Tool {
	return tool.New("edit_file", "Replace text in a file.", f.edit, tool.Validate((*editArgs).check), tool.Previews(f.previewEdit),
		tool.Plans(f.planEditCall), recovers[editArgs](f, "edit_file"),
		tool.Touches(func(a editArgs) tool.Access { return f.writing(f.alike(a.Path)) }))
}

func (f *files) edit(ctx context.Context, call *tool.Invocation, args editArgs) (tool.Output, error) {
	var err error
	if args.Path, err = f.Alike(args.Path); err != nil {
		return failed(ctx, "edit_file", err)
	}
	ctx, f = granted(ctx, call), f.bound(call)
	f.changing.Lock()
	defer f.changing.Unlock()
	p, err := f.planEdit(args)
	if err != nil {
		return failed(ctx, "edit_file", err)
	}
	note, err := f.store(ctx, args.Path, []byte(p.after))
	if err != nil {
		return failed(ctx, "edit_file", err)
	}
	if p.but != "" {
		note = "; old differed from the file in " + p.but + note
	}
	added, removed, diff := showDiff(p.before, p.edits)
	out := f.edited(args.Path, fmt.Sprintf("edit_file: %s, %s replaced at line %s, +%d -%d lines%s",
		f.show(args.Path), tool.Plural(int64(len(p.starts)), "place"), lineList(p.before, p.starts), added, removed, note), diff)
	out.Diffs = item.NewDiffs(item.FileDiff{Path: f.Rel(args.Path), Diff: diff})
	return out, nil
}

func (f *files) previewEdit(ctx context.Context, call *tool.Invocation, args editArgs) (tool.Preview, error) {
	args.Path = f.alike(args.Path)
	f = f.bound(call)
	f.changing.Lock()
	defer f.changing.Unlock()
	p, err := f.planEdit(args)
	if err != nil {
		return fails(ctx, "edit_file", err)
	}
	return tool.Preview{Files: item.NewPreviews([]item.Preview{f.previewOf(args.Path, planned(p.before), planned(p.after))})}, nil
}

// editPlan is what an edit makes of a file.
type editPlan struct {
	before, after string
	replacement
}

func (f *files) planEdit(args editArgs) (p editPlan, err error) {
	data, err := f.load(args.Path)
	if err == nil {
		err = f.unchanged(args.Path, data)
	}
	if err != nil {
		return p, err
	}
	p.before = string(data)
	p.replacement = replacements(p.before, args)
	switch {
	case len(p.starts) == 0:
		return p, answerError{f.oldAbsent(p.before, args)}
	case p.mixed:
		return p, answerError{tool.Error("edit_file: the lines at %s of %s have straight and typographic quotes: copy old from the file, and write the quotes of new as they shall be",
			lineList(p.before, p.starts), f.show(args.Path))}
	case len(p.starts) > 1 && !args.All:
		return p, answerError{tool.Error("edit_file: old occurs %d times in %s, at lines %s: add lines around it to make it unique, or set all",
			len(p.starts), f.show(args.Path), lineList(p.before, p.starts))}
	}
	if p.after, err = udiff.Apply(p.before, p.edits); err != nil {
		return p, err
	}
	return p, f.keepsSecrets(args.Path, p.before, p.after)
}

// occurrences is where old starts in text, without overlaps.
func occurrences(text, old string) []int {
	var starts []int
	for at := 0; ; {
		i := strings.Index(text[at:], old)
		if i < 0 {
			return starts
		}
		starts = append(starts, at+i)
		at += i + len(old)
	}
}

// lineList is the lines of the offsets, the first few of them.
func lineList(text string, offsets []int) string {
	const most = 8
	var b strings.Builder
	line, at := 1, 0
	for i, offset := range offsets {
		if i == most {
			b.WriteString(", …")
			break
		}
		line += strings.Count(text[at:offset], "\n")
		at = offset
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, line)
	}
	return b.String()
}

// oldAbsent says that old is missing, and shows the most similar part of the file.
func (f *files) oldAbsent(text string, args editArgs) tool.Output {
	lines, old := splitLines(text), strings.Split(strings.Trim(strings.ReplaceAll(args.Old, "\r\n", "\n"), "\n"), "\n")
	at := nearest(lines, old)
	if at < 0 {
		return tool.Error("edit_file: old is not in %s, nor are similar lines: read the file again and copy the text from it", f.show(args.Path))
	}
	line, how := difference(lines, at, old)
	first := max(at, line-maxNearestLines/2)
	last := min(len(lines), at+len(old), first+maxNearestLines)
	out := tool.Error("edit_file: old is not in %s; the nearest lines are %d-%d, but %s: copy the text from the file", f.show(args.Path), at+1, min(len(lines), at+len(old)), how)
	out.Content = joinLines(lines[min(first, last):last])
	return out
}
