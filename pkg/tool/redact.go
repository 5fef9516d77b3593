package tool

// Redactor takes secrets out of text. It is safe for concurrent use.
type Redactor interface {
	// Redact is the text without its secrets. Redacting again changes nothing.
	Redact(text string) string
	// Live redacts text that is written in fragments and reports what can be shown.
	// flush ends the text. Both may be called from any goroutine.
	Live(report func(text string)) (write func(text string), flush func())
}

// Redact is a text without the secrets that the limits were made to keep out. Limits
// that are nil or know none return it as it is.
func (l *Limits) Redact(text string) string {
	if l == nil || l.redactor == nil {
		return text
	}
	return l.redactor.Redact(text)
}

// Live passes the fragments of a running tool's output on to report without secrets,
// also where a fragment ends in the middle of one. flush is called once, after the
// last of them.
func (l *Limits) Live(report func(text string)) (write func(text string), flush func()) {
	if l == nil || l.redactor == nil {
		return report, func() {}
	}
	return l.redactor.Live(report)
}

// Clean is an output without secrets, as Normal has it. It comes before anything else
// gets to see the output: hooks, models that summarise, the log. Doing it again changes
// nothing.
func (l *Limits) Clean(out Output) Output {
	out.Summary, out.Content = l.Redact(out.Summary), l.Redact(out.Content)
	return Normal(out)
}
