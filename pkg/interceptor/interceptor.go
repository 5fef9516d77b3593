package interceptor

import (
	"context"

	"podd/pkg/item"
)

// Interceptor is code that may decide what a pod does. It is asked at the edges
// below and answers with a verdict value; the zero verdict lets things go on as
// they are. Embed Base to answer only where there is something to say.
//
// The methods of one interceptor are called from one goroutine for each pod, and
// from several for several pods. They should return soon after ctx ends. A panic
// fails the turn, not the daemon. What an interceptor gets is a copy: changing it
// changes nothing.
//
// An interceptor may only narrow: what it continues, others may still deny.
type Interceptor interface {
	// Name is shown as the cause of what the interceptor did.
	Name() string
	// PromptSubmit is asked before a submit becomes a turn, at least once: a crash
	// between verdict and commit asks again.
	PromptSubmit(ctx context.Context, s Submit) SubmitVerdict
	// BeforeTool is asked before a tool call runs, with validated arguments.
	BeforeTool(ctx context.Context, c Call) CallVerdict
	// TurnEnd is asked when the model has no more calls to make.
	TurnEnd(ctx context.Context, t Turn) TurnVerdict
}

// Submit is what PromptSubmit decides on.
type Submit struct {
	Pod       string
	RequestID string
	Segments  []item.Segment
	// Text is the user message's text with its references as placeholders.
	Text string
	// Resolved is what the file references of Segments became when the submit was
	// accepted. FileRefs adds them to the history; no other interceptor has to.
	Resolved []item.Item
}

// Call is what BeforeTool decides on.
type Call struct {
	Pod    string
	Turn   int64
	CallID string
	Tool   string
	// Arguments is canonical JSON: what policy sees is what runs.
	Arguments string
}

// Turn is what TurnEnd decides on.
type Turn struct {
	Pod  string
	Turn int64
	// Steps counts the turn's model requests so far.
	Steps int
	// Answer is the text of the last assistant message.
	Answer string
}

// Base continues at every edge. Interceptors embed it.
type Base struct{}

// PromptSubmit continues.
func (Base) PromptSubmit(context.Context, Submit) SubmitVerdict { return SubmitVerdict{} }

// BeforeTool continues.
func (Base) BeforeTool(context.Context, Call) CallVerdict { return CallVerdict{} }

// TurnEnd lets the turn finish.
func (Base) TurnEnd(context.Context, Turn) TurnVerdict { return TurnVerdict{} }
