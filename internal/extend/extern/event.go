package extern

import (
	"bytes"
	"encoding/json"

	"podd/pkg/hook"
	"podd/pkg/interceptor"
	"podd/pkg/item"
)

// Version is the version of the schema of events and verdicts. It changes when the meaning
// of something changes; a new field or event does not change it.
const Version = 1

// event is what a command reads. Fields that do not belong to an event are left out.
type event struct {
	Version int    `json:"version"`
	Event   string `json:"event"`
	// Name is the interceptor's or hook's own.
	Name string  `json:"name"`
	Pod  podInfo `json:"pod"`
	Turn int64   `json:"turn,omitempty"`

	Submit  *submitInfo  `json:"submit,omitempty"`
	Request *requestInfo `json:"request,omitempty"`
	Call    *callInfo    `json:"call,omitempty"`
	Output  *outputInfo  `json:"output,omitempty"`
	End     *endInfo     `json:"end,omitempty"`
	Abort   *abortInfo   `json:"abort,omitempty"`

	// History is a list of pastInfo, oldest first; HistoryLeftOut counts the earlier items
	// that were left out. Only a command that asks for history gets them.
	History        json.RawMessage `json:"history,omitempty"`
	HistoryLeftOut *int            `json:"history_left_out,omitempty"`
	// past is the source of History; nil without one.
	past *interceptor.Conversation

	// These are for hooks only. Entry and Alert have protobuf's JSON, as podctl prints it.
	Entry    json.RawMessage `json:"entry,omitempty"`
	Alert    json.RawMessage `json:"alert,omitempty"`
	Change   string          `json:"change,omitempty"`
	Decision string          `json:"decision,omitempty"`
}

// podInfo is empty for an event without a pod. A deleted pod has no Dir.
type podInfo struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Dir  string `json:"dir"`
}

type submitInfo struct {
	RequestID string         `json:"request_id"`
	Text      string         `json:"text"`
	Segments  []segmentInfo  `json:"segments,omitempty"`
	Resolved  []resolvedInfo `json:"resolved,omitempty"`
}

type segmentInfo struct {
	// Type is text, paste, file_ref or unknown.
	Type      string `json:"type"`
	Text      string `json:"text,omitempty"`
	Name      string `json:"name,omitempty"`
	Path      string `json:"path,omitempty"`
	StartLine int    `json:"start_line,omitempty"`
	EndLine   int    `json:"end_line,omitempty"`
}

// resolvedInfo is a resolved file reference: "[File: PATH]", a newline, the body.
type resolvedInfo struct {
	Origin string `json:"origin"`
	Text   string `json:"text"`
}

type requestInfo struct {
	Step   int        `json:"step"`
	Tokens int        `json:"tokens,omitempty"`
	Usage  *usageInfo `json:"usage,omitempty"`
}

type usageInfo struct {
	Requests    int64 `json:"requests"`
	Input       int64 `json:"input"`
	CachedInput int64 `json:"cached_input"`
	Output      int64 `json:"output"`
}

type callInfo struct {
	ID   string `json:"id"`
	Key  string `json:"key"`
	Tool string `json:"tool"`
	// Arguments is the JSON object that the tool gets.
	Arguments json.RawMessage `json:"arguments"`
	*lostInfo
}

type outputInfo struct {
	Summary string `json:"summary"`
	Content string `json:"content"`
	IsError bool   `json:"is_error"`
}

type endInfo struct {
	Steps  int    `json:"steps"`
	Answer string `json:"answer"`
}

type abortInfo struct {
	Outcome string `json:"outcome,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Cause   string `json:"cause"`
}

// encode is the event as one line.
func (e event) encode() ([]byte, error) { return encodeLine(e) }

func encodeLine(v any) ([]byte, error) {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return line.Bytes(), err
}

func describeSubmit(s interceptor.Submit) *submitInfo {
	info := &submitInfo{RequestID: s.RequestID, Text: s.Text}
	for _, segment := range s.Segments {
		info.Segments = append(info.Segments, describeSegment(segment))
	}
	for _, it := range s.Resolved {
		if m, ok := it.(item.SystemMessage); ok {
			info.Resolved = append(info.Resolved, resolvedInfo{Origin: m.Origin, Text: m.Text})
		}
	}
	return info
}

func describeSegment(segment item.Segment) segmentInfo {
	switch s := segment.(type) {
	case item.TextSegment:
		return segmentInfo{Type: "text", Text: s.Text}
	case item.PasteSegment:
		return segmentInfo{Type: "paste", Text: s.Text, Name: s.Name}
	case item.FileRef:
		return segmentInfo{Type: "file_ref", Path: s.Path, StartLine: s.StartLine, EndLine: s.EndLine}
	}
	return segmentInfo{Type: "unknown"}
}

func describeRequest(r interceptor.Request) *requestInfo {
	u := r.Usage
	return &requestInfo{Step: r.Step, Tokens: r.Tokens, Usage: &usageInfo{
		Requests: u.Requests, Input: u.Input, CachedInput: u.CachedInput, Output: u.Output,
	}}
}

func describeCall(id, key, tool, arguments string) *callInfo {
	return &callInfo{ID: id, Key: key, Tool: tool, Arguments: describeArguments(arguments)}
}

func describeArguments(arguments string) json.RawMessage {
	if json.Valid([]byte(arguments)) {
		return json.RawMessage(arguments)
	}
	// Cannot fail for a string.
	text, _ := json.Marshal(arguments)
	return text
}

func describeOutput(o item.Output) *outputInfo {
	return &outputInfo{Summary: o.Summary, Content: o.Content, IsError: o.IsError}
}

// describeEdge is an edge as the event of a hook: in the same shape as for an interceptor, with
// the fields that hooks get.
func describeEdge(e hook.Edge) event {
	out := event{Event: string(e.Name), Turn: e.Turn, Decision: e.Decision}
	switch e.Name {
	case hook.EdgePromptSubmit:
		out.Submit = &submitInfo{RequestID: e.RequestID, Text: e.Text}
	case hook.EdgeBeforeRequest:
		out.Request = &requestInfo{Step: e.Step}
	case hook.EdgeBeforeTool:
		out.Call = describeCall(e.CallID, e.Key, e.Tool, e.Arguments)
	case hook.EdgeAfterTool:
		out.Call = describeCall(e.CallID, e.Key, e.Tool, e.Arguments)
		out.Output = &outputInfo{Summary: e.Text}
	case hook.EdgeTurnEnd:
		out.End = &endInfo{Steps: e.Step, Answer: e.Text}
	case hook.EdgeAborted:
		out.Abort = &abortInfo{Cause: e.Text}
	}
	return out
}
