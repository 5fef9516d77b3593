package item

// Item is one element of the conversation. The kinds are UserMessage,
// SystemMessage, AssistantMessage, Reasoning, ToolCall and ToolResult, always as
// values.
type Item interface {
	isItem()
}

// UserMessage is what the user said, as one text. A file reference stands in it
// as @path, and one that a client named and that leads to nothing as
// [unresolved file ref: PATH].
type UserMessage struct {
	Text string
}

// Origins of a SystemMessage.
const (
	// OriginFileRef marks a resolved file reference: "[File: PATH]", a newline,
	// the body.
	OriginFileRef = "file_ref"
	// OriginNote marks a client's note.
	OriginNote = "note"
	// OriginInterceptor marks what an interceptor added.
	OriginInterceptor = "interceptor"
	// OriginCompaction marks the summary that stands for the items before it.
	OriginCompaction = "compaction"
	// OriginRefusedCall marks what podd tells the model about a tool call that the endpoint
	// refused.
	OriginRefusedCall = "refused_call"
	// OriginReadBack marks what comes back after a compaction: files as they are then, and
	// the task list.
	OriginReadBack = "read_back"
)

// SystemMessage is text that podd, an interceptor or a client's note added.
type SystemMessage struct {
	Origin string
	Text   string
}

// FromFiles says that the text is that of files, which has no authority of its own. Its
// first line is a heading.
func (m SystemMessage) FromFiles() bool {
	return m.Origin == OriginFileRef || m.Origin == OriginReadBack
}

// AssistantMessage is text that the model answered.
type AssistantMessage struct {
	Text   string
	Opaque Opaque
}

// Reasoning is the model's reasoning before an answer or a call. Text is empty
// when the endpoint only sends it encrypted.
type Reasoning struct {
	Text   string
	Opaque Opaque
}

// Opaque is JSON of an endpoint that goes back to it as it came: encrypted
// reasoning, thought signatures. podd never looks into it, and sends it through
// API and to Model only. The zero value means nothing to send back.
type Opaque struct {
	// API is "responses" or "chat".
	API string
	// Model is the model that it is of, as it was asked for; empty when that is not known.
	Model string
	// JSON is one JSON object of the endpoint's own shape.
	JSON string
}

// ToolCall is a tool call that the model asked for.
type ToolCall struct {
	// CallID is unique in the pod's log.
	CallID string
	// Name is the tool's name as the model wrote it.
	Name string
	// Arguments is JSON as the model wrote it, perhaps malformed.
	Arguments string
	Opaque    Opaque
}

// ToolResult is the one result of a tool call.
type ToolResult struct {
	CallID string
	// Tool is the tool's name.
	Tool string
	Output
	// DurationMS is how long the tool ran, in milliseconds.
	DurationMS int64
	// Aborted says which interceptor ends the turn at this call, and why; empty for most.
	// The model does not see it.
	Aborted string
}

func (UserMessage) isItem()      {}
func (SystemMessage) isItem()    {}
func (AssistantMessage) isItem() {}
func (Reasoning) isItem()        {}
func (ToolCall) isItem()         {}
func (ToolResult) isItem()       {}
