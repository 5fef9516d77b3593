package tool

import "podd/pkg/item"

// Redactor removes secrets from text. It is safe for concurrent use.
type Redactor interface {
	// Redact is the text without its secrets. Redacting again changes nothing.
	Redact(text string) string
	// Live redacts text that is written in fragments and reports what can be shown.
	// flush ends the text. Both may be called from any goroutine.
	Live(report func(text string)) (write func(text string), flush func())
}

// Redact is a text without the secrets that the limits know. With nil limits, or without
// secrets, it returns the text unchanged.
func (l *Limits) Redact(text string) string {
	if l == nil || l.redactor == nil {
		return text
	}
	return l.redactor.Redact(text)
}

// Live passes fragments of a running tool's output to report without secrets, even if a
// fragment ends in the middle of one. flush is called once, after the last fragment.
func (l *Limits) Live(report func(text string)) (write func(text string), flush func()) {
	if l == nil || l.redactor == nil {
		return report, func() {}
	}
	return l.redactor.Live(report)
}

// Clean is an output without secrets, as Normal returns it. It precedes everything else
// that reads the output: hooks, models that summarise, the log. Applying it again changes
// nothing.
func (l *Limits) Clean(out Output) Output {
	out.Summary, out.Content = l.Redact(out.Summary), l.Redact(out.Content)
	var diffs []item.FileDiff
	for _, d := range out.Diffs.List() {
		diffs = append(diffs, item.FileDiff{Path: l.Redact(d.Path), Diff: l.Redact(d.Diff)})
	}
	out.Diffs = item.NewDiffs(diffs...)
	return Normal(out)
}
