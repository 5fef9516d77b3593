package tool

import (
	"slices"
	"strings"
	"unicode/utf8"

	"podd/pkg/item"
)

// Strategy says which part of an output above its limit is kept.
type Strategy string

// The strategies. The empty one means the default of the tool.
const (
	StrategyHeadTail Strategy = "head_tail"
	StrategyHead     Strategy = "head"
	StrategyTail     Strategy = "tail"
	// StrategySummarize is for callers that can ask a model. Outputs that are not summarised
	// are cut as under head_tail, also by Limits.
	StrategySummarize Strategy = "summarize"
)

// The smallest limits that leave room for the marker of a cut and some text.
const (
	minLimitBytes = 256
	minLimitLines = 2
	// minResultBytes leaves that room beside the longest summary.
	minResultBytes = 1024
)

// Limit bounds the content of one output, the marker of the cut included. A zero field
// means the tool's default, which in turn falls back to the general one.
type Limit struct {
	// MaxBytes is at least 256; by default 16 KiB.
	MaxBytes int
	// MaxLines is at least 2; by default 500. A last line without a newline counts.
	MaxLines int
	// Strategy is head_tail by default.
	Strategy Strategy
	// HeadPercent is the head's share under head_tail, 1 to 99; by default 50.
	HeadPercent int
}

// LimitsConfig is the [tool_output] table of the configuration. Tools has the differences
// for single tools, built-in or not.
type LimitsConfig struct {
	Default Limit
	Tools   map[string]Limit
	// MaxResultBytes bounds a whole result, summary and content, whatever the limit of its
	// tool is. It is at least 1,024; zero means DefaultMaxResultBytes.
	MaxResultBytes int
	// Redactor removes secrets from outputs; nil removes none.
	Redactor Redactor
}

// DefaultMaxResultBytes is the default of LimitsConfig.MaxResultBytes.
const DefaultMaxResultBytes = 64 << 10

// Limits is the one place where outputs are cut to size. It does not change after
// NewLimits and is safe for concurrent use.
type Limits struct {
	general Limit
	tools   map[string]Limit
	// most is the room that the bound of a whole result leaves for a content.
	most     int
	redactor Redactor
}

func generalLimit() Limit {
	return Limit{MaxBytes: 16 << 10, MaxLines: 500, Strategy: StrategyHeadTail, HeadPercent: 50}
}

// toolLimit is how a built-in tool differs from the general limit.
func toolLimit(name string) Limit {
	switch name {
	case "read_file", "web_fetch":
		return Limit{Strategy: StrategyHead}
	case "repo_map":
		return Limit{MaxBytes: 10_000, MaxLines: 1_000}
	case "shell":
		// Errors are at the end.
		return Limit{HeadPercent: 20}
	}
	return Limit{}
}

// Pages says whether a built-in tool fits its output to its limit itself, so that no
// longer text exists to summarise.
func Pages(name string) bool { return name == "read_file" }

// NewLimits checks the limits. A field out of range is an error of kind
// KindInvalid, reason BAD_LIMIT.
func NewLimits(c LimitsConfig) (*Limits, error) {
	if err := c.Default.check("tool_output"); err != nil {
		return nil, err
	}
	if c.MaxResultBytes == 0 {
		c.MaxResultBytes = DefaultMaxResultBytes
	}
	if c.MaxResultBytes < minResultBytes {
		return nil, item.Errorf(item.KindInvalid, "BAD_LIMIT", "tool_output: max_request_result_bytes must be at least %d", minResultBytes)
	}
	l := &Limits{
		general: c.Default.or(generalLimit()),
		tools:   make(map[string]Limit, len(c.Tools)),
		most:    c.MaxResultBytes - item.MaxSummaryBytes - len("\n"),

		redactor: c.Redactor,
	}
	for name, limit := range c.Tools {
		if err := limit.check("tool_output.tools." + name); err != nil {
			return nil, err
		}
		if limit.Strategy == StrategySummarize && Pages(name) {
			return nil, item.Errorf(item.KindInvalid, "BAD_LIMIT", "tool_output.tools.%s: strategy must not be summarize: the tool has pages", name)
		}
		l.tools[name] = limit
	}
	return l, nil
}

func (l Limit) check(where string) error {
	bad := func(what string) error {
		return item.Errorf(item.KindInvalid, "BAD_LIMIT", "%s: %s", where, what)
	}
	known := []Strategy{"", StrategyHeadTail, StrategyHead, StrategyTail, StrategySummarize}
	switch {
	case l.MaxBytes != 0 && l.MaxBytes < minLimitBytes:
		return bad("max_bytes must be at least 256")
	case l.MaxLines != 0 && l.MaxLines < minLimitLines:
		return bad("max_lines must be at least 2")
	case l.HeadPercent < 0 || l.HeadPercent > 99:
		return bad("the head's share must be 1 to 99 per cent")
	case !slices.Contains(known, l.Strategy):
		return bad("strategy must be head_tail, head, tail or summarize")
	}
	return nil
}

// or fills the zero fields of l from next.
func (l Limit) or(next Limit) Limit {
	if l.MaxBytes == 0 {
		l.MaxBytes = next.MaxBytes
	}
	if l.MaxLines == 0 {
		l.MaxLines = next.MaxLines
	}
	if l.Strategy == "" {
		l.Strategy = next.Strategy
	}
	if l.HeadPercent == 0 {
		l.HeadPercent = next.HeadPercent
	}
	return l
}

// For is the limit of a tool, with no zero field: the configured one, otherwise the
// tool's own default, otherwise the general one; and never more bytes than the bound of a
// whole result leaves. nil limits are the defaults. A tool that captures more than it can keep in memory uses it to
// decide what to keep.
func (l *Limits) For(name string) Limit {
	if l == nil {
		l, _ = NewLimits(LimitsConfig{})
	}
	limit := l.tools[name].or(toolLimit(name)).or(l.general)
	limit.MaxBytes = min(limit.MaxBytes, l.most)
	return limit
}

// Apply fits an output that Clean has cleaned: the summary by Bound, the content by the
// limit of the tool. The result is within the limit, its marker included, so that its
// Text is within MaxResultBytes. Applying it again changes nothing.
//
// keep stores the full content and returns the path for the marker. It is called at most
// once, and only when something is cut. If keep is nil or fails, the marker says that the
// full text is gone; keep itself knows why. Otherwise Apply is a pure function.
//
// An output with a Cut was cut by its tool, which keeps the full text or none: Apply does
// not call keep for it, and a further cut continues its counts. Bytes that are not UTF-8
// become question marks, one each, so that counts stay right.
func (l *Limits) Apply(name string, out Output, keep func(full string) (path string, err error)) Output {
	out = Normal(out)
	full := out.Content
	out.Content = Repair(full)
	limit := l.For(name)
	if limit.fits(out.Content) {
		return out
	}
	if out.Cut != nil {
		return limit.cutAgain(out)
	}
	cut := item.Cut{TotalBytes: int64(len(full)), TotalLines: CountLines(full)}
	if keep != nil {
		if path, err := keep(full); err == nil {
			cut.SpoolPath = path
		}
	}
	out.Content, cut = limit.Fit(out.Content, out.Content, nil, cut)
	out.Cut = &cut
	return out
}

// Normal bounds the summary of an output. A summary that is too long and has no content
// becomes a content with a summary. Applying it again changes nothing.
func Normal(out Output) Output {
	if out.Content == "" && len(escapeControls(out.Summary)) > item.MaxSummaryBytes {
		plain := FromString(out.Summary)
		out.Summary, out.Content = plain.Summary, plain.Content
	}
	out.Summary = Bound(out.Summary)
	return out
}

// Over says how much an output has that exceeds the limit or was cut by its tool, and
// where the whole text is, if known; ok is false for any other output. For one that was
// not cut, Content is the whole text.
func (l Limit) Over(out Output) (whole item.Cut, ok bool) {
	if out.Cut != nil {
		return *out.Cut, true
	}
	return item.Cut{TotalBytes: int64(len(out.Content)), TotalLines: CountLines(out.Content)}, !l.fits(out.Content)
}

func (l Limit) fits(s string) bool {
	return len(s) <= l.MaxBytes && CountLines(s) <= int64(l.MaxLines)
}

// cutAgain shortens an output that its tool has cut.
func (l Limit) cutAgain(out Output) Output {
	cut := *out.Cut
	head, tail, found := splitAtMarker(out.Content, cut)
	if !found {
		// The tool's own words about it stay where they are.
		head, tail = out.Content, out.Content
	}
	content, again := l.Fit(head, tail, nil, cut)
	again.KeptBytes = min(again.KeptBytes, cut.KeptBytes)
	again.KeptLines = min(again.KeptLines, cut.KeptLines)
	out.Content, out.Cut = content, &again
	return out
}

// Repair replaces each byte that is not UTF-8 by a question mark.
func Repair(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && size == 1 {
			b.WriteByte('?')
		} else {
			b.WriteString(s[:size])
		}
		s = s[size:]
	}
	return b.String()
}
