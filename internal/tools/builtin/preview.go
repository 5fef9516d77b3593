package builtin

import (
	"context"
	"fmt"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"

	"podd/pkg/item"
	"podd/pkg/tool"
)

// previewOf is what a change makes of a file, as a person sees it before it is made.
func (f *files) previewOf(path string, before, after plannedText) item.Preview {
	p := item.Preview{Path: f.Rel(path), Base: item.NoFile, Deletes: after.absent && !before.absent}
	if !before.absent {
		p.Base = item.BaseOf([]byte(before.text))
	}
	if before.text == after.text {
		return p
	}
	sizes := fmt.Sprintf("%s become %s", tool.Grouped(int64(len(before.text)), "byte"), tool.Grouped(int64(len(after.text)), "byte"))
	if strings.Contains(before.text, "\x00") || strings.Contains(after.text, "\x00") {
		p.Omitted = "the file is binary: " + sizes
		return p
	}
	edits, ok := editsOf(before.text, after.text)
	if ok {
		_, _, p.Diff = unified(before.text, edits, previewContext)
	}
	if p.Diff == "" {
		p.Omitted = "the file is too large to compare: " + sizes
	}
	p.Diff = item.EscapeBytes(p.Diff)
	return p
}

// previewContext is how many lines a preview has around a change.
const previewContext = 3

// editsOf are the differences of two texts; false if they are too large to compare. Of large
// texts it compares what is between their common beginning and end.
func editsOf(before, after string) ([]udiff.Edit, bool) {
	head := 0
	if len(before)+len(after) > maxDiffed {
		var tail int
		head, tail = common(before, after)
		before, after = before[head:len(before)-tail], after[head:len(after)-tail]
		if before != "" && after != "" && len(before)+len(after) > maxDiffed {
			return nil, false
		}
	}
	// By lines, because by characters it takes a text that is not UTF-8 for another one.
	edits := udiff.Lines(before, after)
	for i := range edits {
		edits[i].Start, edits[i].End = edits[i].Start+head, edits[i].End+head
	}
	return edits, true
}

// common is how many bytes of whole lines two texts share at the beginning and at the end.
func common(a, b string) (head, tail int) {
	n := min(len(a), len(b))
	for head < n && a[head] == b[head] {
		head++
	}
	head = strings.LastIndexByte(a[:head], '\n') + 1
	for tail < n-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	_, lines, _ := strings.Cut(a[len(a)-tail:], "\n")
	return head, len(lines)
}

// fails is the preview of a call that fails; see [failed].
func fails(ctx context.Context, name string, err error) (tool.Preview, error) {
	out, err := failed(ctx, name, err)
	if err != nil {
		return tool.Preview{}, err
	}
	return tool.Preview{Fails: &out}, nil
}

// previews are what the plan makes of each file.
func (p *patchPlan) previews() []item.Preview {
	came := make(map[string]bool)
	var list []item.Preview
	for _, from := range p.found {
		to, moved := p.movedTo(from)
		now := *p.has(to)
		if moved {
			came[to.path] = true
		}
		if from.absent && now.absent {
			continue
		}
		one := p.previewOf(from.path, from.plannedText, now)
		if moved {
			one.MovesTo = to.path
		}
		list = append(list, one)
	}
	var rest []item.Preview
	for _, one := range list {
		if !came[one.Path] {
			rest = append(rest, one)
		}
	}
	return item.NewPreviews(rest)
}

// has is what the path has in the end.
func (p *patchPlan) has(f foundText) *plannedText {
	if t := p.texts[f.entry]; t != nil {
		return t
	}
	return p.texts[f.key]
}

// movedTo is where a file is in the end, if the plan moves it to where no file was.
func (p *patchPlan) movedTo(from foundText) (to foundText, moved bool) {
	at := from.entry
	for range p.moves {
		next, ok := p.moves[at]
		if !ok {
			break
		}
		at = next
	}
	for _, there := range p.found {
		if there.entry == at && there.absent && p.has(from).absent && !p.has(there).absent {
			return there, true
		}
	}
	return from, false
}
