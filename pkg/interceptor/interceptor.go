package interceptor

import (
	"context"

	"podd/pkg/item"
)

// Interceptor is code that may decide what a pod does. podd calls it at the edges below,
// and it answers with a verdict. The zero verdict changes nothing. Embed Base to
// implement only some edges.
//
// The methods of one interceptor are called from one goroutine for each pod, and from
// several for several pods. They should return soon after ctx ends. A panic fails the
// turn, not the daemon. An interceptor gets copies, which it may change without effect.
//
// An interceptor may only narrow: what it continues, others may still deny. It has to
// give the same verdict to the same question: podd asks again after a crash between a
// verdict and its commit, and after another interceptor's rewrite.
type Interceptor interface {
	// Name is shown as the cause of what the interceptor did.
	Name() string
	// PromptSubmit is called before a submit joins the conversation, at least once.
	PromptSubmit(ctx context.Context, s Submit) SubmitVerdict
	// BeforeRequest is called before each model request of a turn.
	BeforeRequest(ctx context.Context, r Request) RequestVerdict
	// BeforeTool is called before a tool call runs, with validated arguments, and again
	// after another interceptor rewrote them.
	BeforeTool(ctx context.Context, c Call) CallVerdict
	// AfterTool is called with the output of a call that ran or that an interceptor
	// answered, before the output is cut to size.
	AfterTool(ctx context.Context, r Result) ResultVerdict
	// TurnEnd is called when the model makes no further calls.
	TurnEnd(ctx context.Context, t Turn) TurnVerdict
	// Aborted is called when a turn ends in another way than finished. It decides nothing.
	Aborted(ctx context.Context, a Abort)
}

// Submit is the subject of PromptSubmit.
type Submit struct {
	Pod       string
	RequestID string
	Segments  []item.Segment
	// Text is the user message's text with its references as placeholders.
	Text string
	// Resolved are the resolved file references of Segments, as of when podd accepted the
	// submit. FileRefs adds them to the history; no other interceptor has to. A verdict may have
	// another text, but no segments, so that a rewrite can't make podd read another file.
	Resolved []item.Item
	// Conversation is the conversation before it.
	Conversation
}

// Request is the subject of BeforeRequest.
type Request struct {
	Pod  string
	Turn int64
	// Step is the number of the request in its turn, from 1.
	Step int
	// Tokens estimates the size of the request.
	Tokens int
	// Usage is what the turn's requests were billed until now.
	Usage item.Usage
	// Lifted are the pauses until a time that a person ended earlier in this turn.
	Lifted []item.Pause
	// Conversation is the conversation until now.
	Conversation
}

// Call is the subject of BeforeTool.
type Call struct {
	Pod    string
	Turn   int64
	CallID string
	// Key is that of [item.ToolCall.Key].
	Key  string
	Tool string
	// Arguments is canonical JSON: what policy sees is what runs.
	Arguments string
}

// Result is the subject of AfterTool.
type Result struct {
	Call
	Output item.Output
}

// Turn is the subject of TurnEnd.
type Turn struct {
	Pod  string
	Turn int64
	// Steps counts the turn's model requests until now.
	Steps int
	// Answer is the text of the last assistant message.
	Answer string
	// Conversation is the conversation including the answer.
	Conversation
}

// Abort is the subject of Aborted.
type Abort struct {
	Pod     string
	Turn    int64
	Outcome item.Outcome
	// Reason is a word for programs, Cause one sentence.
	Reason, Cause string
}

// Base continues at every edge. Interceptors embed it.
type Base struct{}

// RequestsOnly is Base for an interceptor that decides on nothing but model requests: podd
// need not wait for it elsewhere.
type RequestsOnly struct{ Base }

func (RequestsOnly) onlyRequests() {}

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
