package item

// OutputKind says what a tool result is made of; it decides how long the result
// is worth carrying.
type OutputKind string

// The kinds of tool output. The empty kind counts as OutputOther.
const (
	OutputRead   OutputKind = "read"
	OutputSearch OutputKind = "search"
	OutputShell  OutputKind = "shell"
	OutputEdit   OutputKind = "edit"
	OutputTask   OutputKind = "task"
	OutputOther  OutputKind = "other"
)

// Output is what a tool answers: a summary that stays in the context for ever and
// a content that may be pruned from it.
type Output struct {
	// Summary is one or two lines that make sense alone, at most
	// MaxSummaryBytes.
	Summary string
	// Content is the detail; may be empty.
	Content string
	Kind    OutputKind
	// Path is the file that was read or written, relative to the workspace where
	// it lies in it; empty when there is none.
	Path string
	// Sticky output is never pruned.
	Sticky bool
	// IsError says that the tool failed; the summary says what to do instead.
	IsError bool
	// Cut says what the limits removed from Content; nil when nothing was cut.
	Cut *Cut
	// Summarized says that a model wrote Content, as a summary of what the tool made.
	Summarized bool
}

// OriginalBytes is the size of the content as the tool made it, before a limit cut it or a
// model summarized it.
func (o Output) OriginalBytes() int64 {
	if o.Cut != nil {
		return o.Cut.TotalBytes
	}
	return int64(len(o.Content))
}

// MaxSummaryBytes is the hard cap of a summary.
const MaxSummaryBytes = 400

// Text is what a model is sent while the output is not pruned: the summary, a
// newline and the content, or the summary alone.
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
	// SpoolPath is the file that holds the whole output; empty when none does.
	SpoolPath string
}

// Reduction is the share of the bytes that was removed, in whole per cent, rounded
// down: 100 means that nothing was kept.
func (c Cut) Reduction() int {
	if c.TotalBytes <= 0 {
		return 0
	}
	return int(float64(c.TotalBytes-c.KeptBytes) / float64(c.TotalBytes) * 100)
}
