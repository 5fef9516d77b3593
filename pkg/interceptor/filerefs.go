package interceptor

import "context"

// FileRefs is the interceptor that adds the resolved file references of a submit after
// its user message. It is the first of every pod's chain.
type FileRefs struct{ Base }

// Name is "file_refs".
func (FileRefs) Name() string { return "file_refs" }

// PromptSubmit continues with the resolved references.
func (FileRefs) PromptSubmit(_ context.Context, s Submit) SubmitVerdict {
	return s.ContinueWith(s.Resolved...)
}
