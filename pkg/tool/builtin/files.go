package builtin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"podd/pkg/item"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
)

// maxEditBytes is the largest file that the tools change. Larger ones can be read
// in parts, but no digest is remembered for them.
const maxEditBytes = 8 << 20

// files is the scope with one lock for changes: a tool reads, decides and writes
// under it, so that parallel calls do not lose each other's work.
type files struct {
	*scopefs.FS
	changing *sync.Mutex
}

// load reads a file that is to be changed.
func (f *files) load(path string) ([]byte, error) {
	file, err := f.ReadFile(path, maxEditBytes)
	if err != nil {
		return nil, err
	}
	if file.Truncated {
		return nil, fmt.Errorf("%s has %d bytes, and files over %d are not changed by this tool: use shell", f.show(path), file.Size, maxEditBytes)
	}
	return file.Data, nil
}

// redactedMark stands in what a model has read for a secret that it was not shown.
const redactedMark = "[redacted]"

// keepsSecrets refuses a text with the mark in place of a file that does not have it:
// the secret that it stands for would be lost.
func (f *files) keepsSecrets(path, before, after string) error {
	if strings.Count(after, redactedMark) > strings.Count(before, redactedMark) && before != "" {
		return fmt.Errorf("%s would get %s, which stands for a secret that you were not shown: change other lines with edit_file, without this text",
			f.show(path), redactedMark)
	}
	return nil
}

// store writes a file and remembers what it holds now. note is empty, or what there
// is to say of the file beside that it was written.
func (f *files) store(ctx context.Context, path string, data []byte) (note string, err error) {
	written, err := f.WriteFile(ctx, path, data)
	if err != nil {
		return "", err
	}
	f.NoteRead(path, scopefs.Digest(data))
	if n := written.HardLinks; n > 0 {
		note = fmt.Sprintf("; %s of the file (hard links) kept the old content", plural(int64(n), "other name"))
	}
	return note, nil
}

// unchanged refuses a file that was read and is another one by now. Of a file that
// was never read nothing can be said.
func (f *files) unchanged(path string, data []byte) error {
	if seen, ok := f.LastRead(path); ok && seen != scopefs.Digest(data) {
		return fmt.Errorf("%s changed since it was read: read it again, then change what is there now", f.show(path))
	}
	return nil
}

// show is the path for a summary and for Output.Path.
func (f *files) show(path string) string { return scopefs.Display(f.Rel(path)) }

// failed turns an error of the scope into an output that the model reads. What is
// no fault of the call is returned as an error.
func failed(ctx context.Context, name string, err error) (tool.Output, error) {
	switch {
	case ctx.Err() != nil:
		return tool.Output{}, context.Cause(ctx)
	case isKind(err, scopefs.Changed):
		return tool.Output{}, fmt.Errorf("%w: %w", tool.ErrChanged, err)
	}
	return tool.Error("%s: %v", name, err), nil
}

// isKind says whether err is a PathError of that kind.
func isKind(err error, kind scopefs.Kind) bool {
	e, ok := errors.AsType[*scopefs.PathError](err)
	return ok && e.Kind == kind
}

// needPath is the check of a required path.
func needPath(path string) error {
	if path == "" {
		return errors.New("path is empty: name a file, relative to the workspace or absolute")
	}
	return nil
}

// edited is the output of a changed file.
func (f *files) edited(path, summary, content string) tool.Output {
	return tool.Output{Summary: tool.Bound(summary), Content: content, Kind: item.OutputEdit, Path: f.Rel(path)}
}
