package item

import (
	"fmt"
	"strings"
)

// OutputKind says what a tool result is made of; it decides how long requests carry the
// result.
type OutputKind string

// The kinds of tool output. The empty kind means OutputOther.
const (
	OutputRead   OutputKind = "read"
	OutputSearch OutputKind = "search"
	OutputShell  OutputKind = "shell"
	OutputEdit   OutputKind = "edit"
	OutputTask   OutputKind = "task"
	OutputOther  OutputKind = "other"
)

// Output is a tool's answer: a summary that stays in the context for ever and a content
// that may be pruned from it.
type Output struct {
	// Summary is one or two lines that make sense alone, at most
	// MaxSummaryBytes.
	Summary string
	// Content is the detail; may be empty.
	Content string
	// Images are pictures, which are pruned with the content.
	Images *Images
	// Diffs are what the tool changed in files, for people; the model does not see them.
	Diffs *Diffs
	Kind  OutputKind
	// Path is the file that was read or written, relative to the workspace if it is inside;
	// empty without a file.
	Path string
	// Sticky output is never pruned.
	Sticky bool
	// IsError says that the tool failed; the summary says what to do instead.
	IsError bool
	// Cut says what the limits removed from Content; nil when nothing was cut.
	Cut *Cut
	// Summarized says that Content is a model's summary of what the tool returned.
	Summarized bool
}

// FileDiff is a unified diff of one file, without the lines with its names.
type FileDiff struct {
	// Path is relative to the workspace if the file is inside.
	Path, Diff string
}

// Diffs are the changes of an output; nil has none. They are behind a pointer so that outputs
// can be compared.
type Diffs []FileDiff

// MaxDiffBytes is how much the diffs of one output have together.
const MaxDiffBytes = 64 << 10

// NewDiffs are these diffs, those without a change left out; nil for none. What exceeds
// MaxDiffBytes is cut at a line, and a last line says so.
func NewDiffs(list ...FileDiff) *Diffs {
	var out Diffs
	left := MaxDiffBytes
	for _, d := range list {
		if d.Diff == "" {
			continue
		}
		if len(d.Diff) > left {
			kept := d.Diff[:strings.LastIndexByte(d.Diff[:left], '\n')+1]
			d.Diff = fmt.Sprintf("%s\\ %d more lines\n", kept, strings.Count(d.Diff[len(kept):], "\n"))
		}
		left -= min(left, len(d.Diff))
		out = append(out, d)
	}
	if len(out) == 0 {
		return nil
	}
	return &out
}

// List are the diffs in their order.
func (d *Diffs) List() []FileDiff {
	if d == nil {
		return nil
	}
	return *d
}

// OriginalBytes is the size of the content as the tool returned it, before a limit cut it
// or a model summarized it.
func (o Output) OriginalBytes() int64 {
	if o.Cut != nil {
		return o.Cut.TotalBytes
	}
	return int64(len(o.Content))
}

// MaxSummaryBytes is the hard cap of a summary.
const MaxSummaryBytes = 400

// Text is what a model gets while the output is not pruned: the summary, a newline and
// the content, or only the summary.
func (o Output) Text() string {
	if o.Content == "" {
		return o.Summary
	}
	return o.Summary + "\n" + o.Content
}

// Cut says what the limits removed from an output.
type Cut struct {
	TotalBytes, TotalLines int64
	KeptBytes, KeptLines   int64
	// SpoolPath is the file with the whole output; empty without one.
	SpoolPath string
}

// Reduction is the share of the bytes that was removed, in whole per cent, rounded down:
// 100 means that nothing was kept.
func (c Cut) Reduction() int {
	if c.TotalBytes <= 0 {
		return 0
	}
	return int(float64(c.TotalBytes-c.KeptBytes) / float64(c.TotalBytes) * 100)
}
