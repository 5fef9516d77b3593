package item

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// Item is one element of the conversation. The kinds are UserMessage,
// SystemMessage, AssistantMessage, Reasoning, ToolCall and ToolResult, always as
// values.
type Item interface {
	isItem()
}

// UserMessage is what the user said, as one text. It has a file reference as @path, and
// one from a client that could not be resolved as [unresolved file ref: PATH].
type UserMessage struct {
	Text string
	// Images are what the user attached, in the order in which Text names them.
	Images *Images
}

// Origins of a SystemMessage.
const (
	// OriginFileRef marks a resolved file reference: "[File: PATH]", a newline,
	// the body.
	OriginFileRef = "file_ref"
	// OriginNote marks a client's note.
	OriginNote = "note"
	// OriginLetter marks a letter of another pod or a person.
	OriginLetter = "letter"
	// OriginInterceptor marks text that an interceptor added.
	OriginInterceptor = "interceptor"
	// OriginCompaction marks the summary that replaces the items before it.
	OriginCompaction = "compaction"
	// OriginRefusedCall marks podd's message to the model about a tool call that the
	// endpoint refused.
	OriginRefusedCall = "refused_call"
	// OriginNoAnswer marks podd's message to the model about an answer that had neither text
	// nor a call.
	OriginNoAnswer = "no_answer"
	// OriginLoop marks podd's message to the model about a call that it repeats.
	OriginLoop = "loop"
	// OriginAnswerSchema marks the JSON Schema of a turn's last answer, and what is wrong with
	// an answer.
	OriginAnswerSchema = "answer_schema"
	// OriginState marks what changes between turns, such as the day and the branch. The last
	// one counts.
	OriginState = "state"
	// OriginReadBack marks what podd adds again after a compaction: files as they are then,
	// and the task list.
	OriginReadBack = "read_back"
)

// SystemMessage is text that podd, an interceptor or a client's note added.
type SystemMessage struct {
	Origin string
	// Ref is that of a wing's note, which has an origin of its own; otherwise empty.
	Ref  string
	Text string
	// Images are those of a file reference that leads to one.
	Images *Images
}

// FromFiles says that the text is the content of files, which has no authority of its
// own. Its first line is a heading.
func (m SystemMessage) FromFiles() bool {
	return m.Origin == OriginFileRef || m.Origin == OriginReadBack
}

// FromNote says that the text is a note of a client, of podd or of a wing.
func (m SystemMessage) FromNote() bool { return m.Origin == OriginNote || m.Ref != "" }

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

// Opaque is an endpoint's JSON that goes back to it unchanged: encrypted reasoning,
// thought signatures. podd never reads it, and sends it only through API, to Endpoint and
// to Model. The zero value means nothing to send back.
type Opaque struct {
	// API is the wire format: "responses", "chat" or "messages".
	API string
	// Endpoint is the one whose answer had it; empty in entries of older versions of podd.
	Endpoint string
	// Model is the requested model whose answer had it; empty when unknown.
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
	// Arguments is JSON as the model wrote it, possibly malformed.
	Arguments string
	// Via is the tool by which the model called this one: call_tool, or empty for most. With
	// it Arguments is an object.
	Via    string
	Opaque Opaque
}

// Sent is the name and the arguments as requests carry the call.
func (c ToolCall) Sent() (name, arguments string) {
	if c.Via == "" {
		return c.Name, c.Arguments
	}
	quoted, _ := json.Marshal(c.Name) // A string has a form.
	return c.Via, `{"name":` + string(quoted) + `,"arguments":` + c.Arguments + `}`
}

// Key is the call's own for whoever it reaches, such as a server that does the same request once: 32
// hexadecimal digits. It follows from what the log says of the call, so it is the same after a restart, on
// another node and when the call runs again. A fork has another pod id, and so other keys.
func (c ToolCall) Key(pod string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{pod, c.CallID, c.Name, c.Arguments}, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// ToolResult is the one result of a tool call.
type ToolResult struct {
	CallID string
	// Tool is the tool's name.
	Tool string
	Output
	// DurationMS is how long the tool ran, in milliseconds.
	DurationMS int64
	// Recovery says how podd learned the outcome of a call that the end of an earlier podd
	// interrupted; empty for a call that nothing interrupted.
	Recovery Recovery
	// Denied says that the call did not run because a person, a rule or an interceptor forbade
	// it. What a turn that only plans may not do does not count.
	Denied bool
	// Aborted says which interceptor ends the turn at this call, and why; usually empty. The
	// model does not see it.
	Aborted string
}

// Recovery is how podd learned the outcome of a call that the end of an earlier podd
// interrupted.
type Recovery string

const (
	// RecoveryFound says that the call has ended, and podd found its result.
	RecoveryFound Recovery = "found"
	// RecoveryAgain says that the call changes nothing, or its other end knows it, so it ran again.
	RecoveryAgain Recovery = "again"
	// RecoveryNoEffect says that the call had no effect.
	RecoveryNoEffect Recovery = "no_effect"
	// RecoveryUnknown says that the call may have taken effect.
	RecoveryUnknown Recovery = "unknown"
)

func (UserMessage) isItem()      {}
func (SystemMessage) isItem()    {}
func (AssistantMessage) isItem() {}
func (Reasoning) isItem()        {}
func (ToolCall) isItem()         {}
func (ToolResult) isItem()       {}

// Remark follows the result of a call for people, where the result does not say itself that podd ended meanwhile.
func (r Recovery) Remark() string {
	switch r {
	case RecoveryFound:
		return " (found after a restart)"
	case RecoveryAgain:
		return " (run again after a restart)"
	}
	return ""
}
