package item

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
	Kind   OutputKind
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
