package builtin

import (
	"bytes"
	"context"
	"fmt"

	"podd/pkg/item"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
)

type writeArgs struct {
	Path    string `json:"path"`
	Content string `json:"content" jsonschema:"the whole file"`
}

func newWriteFile(f *files) tool.Tool {
	return tool.New("write_file", "Create a file and its directories, or replace a file that you have read.",
		f.write, tool.Validate(func(a *writeArgs) error { return needPath(a.Path) }), tool.Previews(f.previewWrite),
		tool.Plans(f.planWrite), recovers[writeArgs](f, "write_file"),
		tool.Touches(func(a writeArgs) tool.Access { return f.writing(a.Path) }))
}

func (f *files) write(ctx context.Context, call *tool.Invocation, args writeArgs) (tool.Output, error) {
	ctx, f = granted(ctx, call), f.bound(call)
	f.changing.Lock()
	defer f.changing.Unlock()
	verb, before, kept, err := f.allowWrite(&args)
	if err != nil {
		return failed(ctx, "write_file", err)
	}
	note, err := f.store(ctx, args.Path, []byte(args.Content))
	if kept != "" {
		note = "; kept the " + kept + note
	}
	if err != nil {
		return failed(ctx, "write_file", err)
	}
	out := f.edited(args.Path, fmt.Sprintf("write_file: %s %s, %s, %s%s", verb, f.show(args.Path),
		tool.Plural(tool.CountLines(args.Content), "line"), tool.Plural(int64(len(args.Content)), "byte"), note), "")
	out.Diffs = item.NewDiffs(f.diffOf(args.Path, before.text, args.Content))
	return out, nil
}

func (f *files) previewWrite(ctx context.Context, call *tool.Invocation, args writeArgs) (tool.Preview, error) {
	f = f.bound(call)
	f.changing.Lock()
	defer f.changing.Unlock()
	_, before, _, err := f.allowWrite(&args)
	if err != nil {
		return fails(ctx, "write_file", err)
	}
	return tool.Preview{Files: item.NewPreviews([]item.Preview{f.previewOf(args.Path, before, planned(args.Content))})}, nil
}

// allowWrite says what the write does, "created" or "replaced", and what the file has before it. It gives the
// content what kept names, which the file had. It refuses to replace a file
// whose current content the model has not seen: that would lose the whole file, not just
// a line.
func (f *files) allowWrite(args *writeArgs) (verb string, before plannedText, kept string, err error) {
	file, err := f.ReadFile(args.Path, maxEditBytes)
	if isKind(err, scopefs.NotFound) {
		return "created", plannedText{absent: true}, "", f.asAgreed(args.Path, item.NoFile)
	}
	if err != nil {
		return "", before, "", err
	}
	base := item.BaseOf(file.Data)
	if err := f.asAgreed(args.Path, base); err != nil {
		return "", before, "", err
	}
	_, seen := f.LastRead(args.Path)
	// A restarted podd does not know what was read, but the person saw what is lost.
	seen = seen || f.agreed[f.Rel(args.Path)] == base
	if file.Truncated || !seen && file.Size > 0 && !bytes.Equal(file.Data, []byte(args.Content)) {
		return "", before, "", fmt.Errorf("%s exists (%d bytes) and you have not read it: read it first, or change a part of it with edit_file", f.show(args.Path), file.Size)
	}
	before = planned(string(file.Data))
	args.Content, kept = asBefore(before.text, args.Content)
	if before.text == "" || before.text == args.Content {
		return "replaced", before, kept, nil
	}
	if err := f.keepsSecrets(args.Path, before.text, args.Content); err != nil {
		return "", before, "", err
	}
	return "replaced", before, kept, f.unchanged(args.Path, file.Data)
}
