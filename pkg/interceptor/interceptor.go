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
// An interceptor may only narrow: what it continues, others may still deny. It has to
// give the same verdict when it is asked the same again: a crash between a verdict
// and its commit asks again, and so does another interceptor's rewrite.
type Interceptor interface {
	// Name is shown as the cause of what the interceptor did.
	Name() string
	// PromptSubmit is asked before a submit joins the conversation, at least once.
	PromptSubmit(ctx context.Context, s Submit) SubmitVerdict
	// BeforeRequest is asked before each model request of a turn.
	BeforeRequest(ctx context.Context, r Request) RequestVerdict
	// BeforeTool is asked before a tool call runs, with validated arguments, and again
	// with what another interceptor rewrote them to.
	BeforeTool(ctx context.Context, c Call) CallVerdict
	// AfterTool is asked about what a call that ran or was answered by an interceptor
	// gave, before the output is cut to size.
	AfterTool(ctx context.Context, r Result) ResultVerdict
	// TurnEnd is asked when the model has no more calls to make.
	TurnEnd(ctx context.Context, t Turn) TurnVerdict
	// Aborted is told that a turn ends otherwise than finished. It decides nothing.
	Aborted(ctx context.Context, a Abort)
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
	// Conversation is what was said before it.
	Conversation
}

// Request is what BeforeRequest decides on.
type Request struct {
	Pod  string
	Turn int64
	// Step is the number of the request in its turn, from 1.
	Step int
	// Tokens estimates the size of the request.
	Tokens int
	// Usage is what the turn's requests were billed so far.
	Usage item.Usage
	// Conversation is what was said so far.
	Conversation
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

// Result is what AfterTool decides on.
type Result struct {
	Call
	Output item.Output
}

// Turn is what TurnEnd decides on.
type Turn struct {
	Pod  string
	Turn int64
	// Steps counts the turn's model requests so far.
	Steps int
	// Answer is the text of the last assistant message.
	Answer string
	// Conversation is what was said, the answer included.
	Conversation
}

// Abort is what Aborted is told.
type Abort struct {
	Pod     string
	Turn    int64
	Outcome item.Outcome
	// Reason is a word for programs, Cause one sentence.
	Reason, Cause string
}

// Base continues at every edge. Interceptors embed it.
type Base struct{}

// PromptSubmit continues.
func (Base) PromptSubmit(context.Context, Submit) SubmitVerdict { return SubmitVerdict{} }

// BeforeRequest continues.
func (Base) BeforeRequest(context.Context, Request) RequestVerdict { return RequestVerdict{} }

// BeforeTool continues.
func (Base) BeforeTool(context.Context, Call) CallVerdict { return CallVerdict{} }

// AfterTool continues.
func (Base) AfterTool(context.Context, Result) ResultVerdict { return ResultVerdict{} }

// TurnEnd lets the turn finish.
func (Base) TurnEnd(context.Context, Turn) TurnVerdict { return TurnVerdict{} }

// Aborted does nothing.
func (Base) Aborted(context.Context, Abort) {}
