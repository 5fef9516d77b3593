package tool

import "context"

type progressKey struct{}

// WithProgress lets a running tool report output as it comes. report may be called
// from any goroutine until Run returns, and must not block for long.
func WithProgress(ctx context.Context, report func(text string)) context.Context {
	return context.WithValue(ctx, progressKey{}, report)
}

// Progress reports a fragment of output to whoever watches. It is live only: what
// counts is the Output.
func Progress(ctx context.Context, text string) {
	if report, ok := ctx.Value(progressKey{}).(func(string)); ok {
		report(text)
	}
}
