package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"podd/pkg/item"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
)

const (
	// maxReadBack bounds the files that are read again after a compaction.
	maxReadBack = 5
	// readBackShare bounds their share of the model's window.
	readBackShare = 0.05
	// readTool is the tool in whose name files are read, todoTool the one that writes the
	// task list.
	readTool = "read_file"
	todoTool = "todo"
)

// readBackHead begins the item.
const readBackHead = "[Read back after the summary: the task list and the files in use, as they are now]\n"

// backReader collects what a compaction adds besides its summary.
type backReader struct {
	w     *Worker
	j     *journal
	judge *judge
	ctx   context.Context
	// room is the remaining number of bytes.
	room     int
	sections []section
	// seen registers what is shown whole, once that is stored.
	seen []func()
}

// section is a line in brackets and, optionally, a body.
type section struct{ head, body string }

// readBackTokens is how many of the tokens that a summary saves may be used for files and
// the task list: at most half. window is an upper bound of the model's window; 0 if
// unknown.
func readBackTokens(window, saved int) int {
	if window > 0 {
		return min(saved/2, int(readBackShare*float64(window)))
	}
	return saved / 2
}

// readBack returns what is added, in at most the given number of bytes, when a summary
// replaces the first n items, up to an entry: the task list, and the files that the items
// read or changed. seen marks what is shown whole as read, once it is stored.
func (t *asker) readBack(ctx context.Context, n int, upTo item.Seq, room int) (kinds []item.Kind, seen []func()) {
	b := &backReader{w: t.w, j: t.j, judge: t.judge, ctx: ctx, room: t.w.Compaction.ReadBackBytes}
	if b.room == 0 {
		return nil, nil
	}
	b.room = min(b.room, room) - len(readBackHead)
	b.todo(upTo)
	items := t.j.now.Next.Items
	if _, ok := t.w.Tools.Lookup(readTool); ok && t.w.Files != nil {
		for _, path := range b.inUse(items[:n], items[n:]) {
			b.file(path)
		}
	}
	return b.kinds(), b.seen
}

// kinds are the entry with the additions; empty without any.
func (b *backReader) kinds() []item.Kind {
	if len(b.sections) == 0 {
		return nil
	}
	var text strings.Builder
	text.WriteString(readBackHead)
	fence := b.fence()
	for _, s := range b.sections {
		text.WriteString("[" + s.head + "]\n")
		if s.body != "" {
			text.WriteString(fence + s.body)
			if !strings.HasSuffix(s.body, "\n") {
				text.WriteByte('\n')
			}
			text.WriteString(fence)
		}
	}
	return []item.Kind{item.ItemAdded{Item: item.SystemMessage{Origin: item.OriginReadBack, Text: text.String()}}}
}

// fence is a line that no body has, so that no body can end early.
func (b *backReader) fence() string {
	for k := 1; ; k++ {
		fence := "----- file " + strconv.Itoa(k) + "\n"
		if !slices.ContainsFunc(b.sections, func(s section) bool { return strings.Contains(s.body, strings.TrimSuffix(fence, "\n")) }) {
			return fence
		}
	}
}

// add adds a section if there is room for it.
func (b *backReader) add(head, body string) bool {
	// A body is between two fences and may lack its last newline.
	const around = len("[]\n") + 2*len("----- file 100\n") + 1
	size := len(head) + len(body) + around
	if size > b.room {
		return false
	}
	b.room -= size
	b.sections = append(b.sections, section{head, body})
	return true
}

// todo adds the task list, unless it is above upTo and therefore sent anyway.
func (b *backReader) todo(upTo item.Seq) {
	var list item.ToolResult
	var at item.Seq
	for past, err := range b.j.log.History(b.ctx, 0) {
		if err != nil {
			b.j.logger.Warn("cannot read the log to find the task list", "error", err)
			return
		}
		if r, ok := past.Item.(item.ToolResult); ok && r.Tool == todoTool && !r.IsError {
			list, at = r, past.Seq
		}
	}
	if at <= upTo && list.Content != "" {
		b.add(list.Summary, list.Content)
	}
}

// inUse are the files that items read or changed and that later items do not show: the
// changed ones first, the newest first.
func (b *backReader) inUse(items, later []item.Item) []string {
	shown, changed := b.touched(later)
	for _, path := range changed {
		shown = slices.DeleteFunc(shown, func(s string) bool { return s == path })
	}
	read, edited := b.touched(items)
	// A later change that is not shown is newer.
	edited = append(changed, edited...)
	var paths []string
	for _, path := range append(edited, read...) {
		if len(paths) < maxReadBack && !slices.Contains(paths, path) && !slices.Contains(shown, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// touched are the files whose content results show and those that calls changed, the newest
// first.
func (b *backReader) touched(items []item.Item) (read, edited []string) {
	for i, it := range slices.Backward(items) {
		r, ok := it.(item.ToolResult)
		switch {
		case !ok || r.IsError:
		case r.Kind == item.OutputRead && r.Path != "":
			read = append(read, r.Path)
		case r.Kind == item.OutputEdit && r.Path != "":
			edited = append(edited, r.Path)
		case r.Kind == item.OutputEdit:
			edited = append(edited, b.named(items[:i], r)...)
		}
	}
	return read, edited
}

// named are the files that the call of a result names.
func (b *backReader) named(items []item.Item, r item.ToolResult) []string {
	for _, it := range slices.Backward(items) {
		c, ok := it.(item.ToolCall)
		if !ok || c.CallID != r.CallID {
			continue
		}
		found, ok := b.w.Tools.Lookup(c.Name)
		if !ok || b.w.Files == nil {
			return nil
		}
		access, _ := apart(b.ctx, b.w, func() tool.Access { return found.Access(c.Arguments) })
		paths := slices.Clone(access.Paths)
		for i := range paths {
			paths[i] = b.w.Files.Rel(paths[i])
		}
		return paths
	}
	return nil
}

// file adds a whole file, or the reason why not.
func (b *backReader) file(path string) {
	text, seen, err := b.read(path)
	shown := scopefs.Display(path)
	switch {
	case err != nil:
		b.add(fmt.Sprintf("Not read back: %v", err), "")
	case !b.add("File: "+shown, text):
		b.add(fmt.Sprintf("Not read back: %s, %d bytes: read what you need of it", shown, len(text)), "")
	case seen != nil:
		b.seen = append(b.seen, seen)
	}
}

// read reads a file as a call of the model would: rules and interceptors decide on it,
// and secrets are removed. seen marks it as read; it is nil if an interceptor changed
// what is shown.
func (b *backReader) read(path string) (text string, seen func(), err error) {
	c := &call{ToolCall: item.ToolCall{CallID: "read_back", Name: readTool}}
	arguments, err := json.Marshal(map[string]string{"path": path})
	if err != nil {
		return "", nil, err
	}
	c.tool, _ = b.w.Tools.Lookup(readTool)
	if c.arguments, err = c.tool.Check(string(arguments)); err != nil {
		return "", nil, err
	}
	before := c.arguments
	b.judge.decide(b.ctx, c)
	shown := scopefs.Display(path)
	switch {
	case c.state == callRefused:
		return "", nil, fmt.Errorf("%s: %s", shown, strings.TrimPrefix(c.output.Summary, readTool+": "))
	case len(c.questions) > 0 || c.state == callMade || c.arguments != before:
		return "", nil, fmt.Errorf("%s: read it again if you need it", shown)
	}
	file, err := b.content(path, c.targets)
	switch {
	case err != nil:
		return "", nil, err
	case file == nil:
		return "", nil, fmt.Errorf("%s: read it again if you need it", shown)
	case file.Truncated:
		return "", nil, fmt.Errorf("%s, %d bytes: read what you need of it", shown, file.Size)
	case !utf8.Valid(file.Data) || slices.Contains(file.Data, 0):
		return "", nil, fmt.Errorf("%s: not a text file", shown)
	}
	out := b.w.Output.Clean(tool.Output{Summary: readTool + ": " + shown, Content: string(file.Data), Kind: item.OutputRead, Path: path})
	reviewed := b.judge.review(b.ctx, c, out)
	if c.aborted != "" {
		return "", nil, fmt.Errorf("%s: %s", shown, c.aborted)
	}
	if reviewed.Content != out.Content {
		return reviewed.Content, nil, nil
	}
	return out.Content, func() { b.w.Files.NoteRead(path, scopefs.Digest(file.Data)) }, nil
}

// content reads a file that is still where a decision saw it; nil if it is not.
func (b *backReader) content(path string, decided []tool.Target) (*scopefs.File, error) {
	type read struct {
		file *scopefs.File
		err  error
	}
	files, most := b.w.Files, int64(max(b.room, 1))
	got, ok := apart(b.ctx, b.w, func() (r read) {
		target := files.Target(path)
		if len(decided) != 1 || decided[0].Seal() != target.Seal() {
			return r
		}
		file, err := files.Bound([]scopefs.Target{target}).ReadFile(path, most)
		return read{&file, err}
	})
	if !ok {
		return nil, context.Cause(b.ctx)
	}
	return got.file, got.err
}
