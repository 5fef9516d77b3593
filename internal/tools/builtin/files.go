package builtin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"podd/pkg/item"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
)

// maxEditBytes is the size of the largest file that the tools change. Larger ones can be
// read in parts, but no digest is recorded for them.
const maxEditBytes = 8 << 20

// files is the scope with one lock for changes: a tool reads, decides and writes
// under it, so that parallel calls do not lose each other's work.
type files struct {
	*scopefs.FS
	changing *sync.Mutex
	// mayChange says why no file may change; nil while one may.
	mayChange func() error
	// agreed are the bases of the previews that a person agreed to, by the paths to show; nil
	// for a call without previews. strict says that the files must still have them.
	agreed map[string]string
	strict bool
}

// load reads a file to be changed.
func (f *files) load(path string) ([]byte, error) {
	file, err := f.ReadFile(path, maxEditBytes)
	if isKind(err, scopefs.NotFound) {
		return nil, cmp.Or(f.asAgreed(path, item.NoFile), err)
	}
	if err != nil {
		return nil, err
	}
	if file.Truncated {
		return nil, fmt.Errorf("%s has %d bytes, but this tool only changes files up to %d bytes: use shell", f.show(path), file.Size, maxEditBytes)
	}
	return file.Data, f.asAgreed(path, item.BaseOf(file.Data))
}

// asAgreed refuses a file whose content is not that of the preview that a person saw.
func (f *files) asAgreed(path, base string) error {
	if !f.strict || f.agreed[f.Rel(path)] == base {
		return nil
	}
	return fmt.Errorf("%w: %s has another content than in its preview", tool.ErrChanged, f.show(path))
}

// redactedMark replaces secrets in what a model reads.
const redactedMark = "[redacted]"

// keepsSecrets refuses to replace a file without the mark by a text with it: the secret
// that the mark replaced would be lost.
func (f *files) keepsSecrets(path, before, after string) error {
	if strings.Count(after, redactedMark) > strings.Count(before, redactedMark) && before != "" {
		return fmt.Errorf("%s would get %s, which is a placeholder for a secret that you were not shown: change other lines with edit_file, without this text",
			f.show(path), redactedMark)
	}
	return nil
}

// store writes a file and records its new content. note is empty, or what to report about
// the file besides that it was written.
func (f *files) store(ctx context.Context, path string, data []byte) (note string, err error) {
	if err := f.mayChange(); err != nil {
		return "", err
	}
	written, err := f.WriteFile(ctx, path, data)
	if err != nil {
		return "", err
	}
	f.NoteRead(path, scopefs.Digest(data))
	return aboutWritten(written), nil
}

// aboutWritten is what to report about a file that was written; empty for nothing.
func aboutWritten(w scopefs.Written) string {
	if w.HardLinks == 0 {
		return ""
	}
	return fmt.Sprintf("; %s of the file (hard links) kept the old content", tool.Plural(int64(w.HardLinks), "other name"))
}

// unchanged refuses a file that changed since it was read. A file that was never read
// passes.
func (f *files) unchanged(path string, data []byte) error {
	if seen, ok := f.LastRead(path); ok && seen != scopefs.Digest(data) {
		return fmt.Errorf("%s changed since you read it: read it again, then change its current content", f.show(path))
	}
	return nil
}

// show is the path for a summary and for Output.Path.
func (f *files) show(path string) string { return scopefs.Display(f.Rel(path)) }

// failed turns an error of the scope into an output that the model reads. It returns an
// error that is not the call's fault.
func failed(ctx context.Context, name string, err error) (tool.Output, error) {
	switch {
	case ctx.Err() != nil:
		return tool.Output{}, context.Cause(ctx)
	case errors.Is(err, tool.ErrChanged):
		return tool.Output{}, err
	case isKind(err, scopefs.Changed):
		return tool.Output{}, fmt.Errorf("%w: %w", tool.ErrChanged, err)
	}
	if answer, ok := errors.AsType[answerError](err); ok {
		return answer.out, nil
	}
	return tool.Error("%s: %v", name, err), nil
}

// answerError is an error with the answer to the call.
type answerError struct{ out tool.Output }

func (e answerError) Error() string { return e.out.Summary }

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
