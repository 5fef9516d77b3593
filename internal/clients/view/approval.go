package view

import (
	"encoding/hex"
	"fmt"
	"time"

	"podd/internal/clients/show"
	"podd/internal/sanitize"
	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// Approval is a call that waits for approval.
type Approval struct {
	// Pod is the pod's name.
	Pod  string
	Turn int64
	// Call is the sequence of the call's entry.
	Call item.Seq
	// Time is when podd asked.
	Time time.Time
	item.ApprovalRequested
	// At is where the person is in a form that is asked question by question; nil shows all questions.
	At *Cursor
}

// ApprovalFromProto converts a call that waits for approval.
func ApprovalFromProto(p *poddv1.Approval) Approval {
	a := Approval{
		Pod: p.GetPodName(), Turn: p.GetTurn(), Call: item.Seq(p.GetCallSeq()), Time: p.GetTime().AsTime(),
		ApprovalRequested: item.ApprovalRequested{
			CallID: p.GetCallId(), Digest: string(p.GetDigest()), Question: p.GetQuestion(),
			Tool: p.GetTool(), Arguments: p.GetArguments(), Previews: wire.PreviewsFromProto(p.GetPreviews()), Form: wire.FormFromProto(p.GetForm()),
		},
	}
	if a.Pod == "" {
		a.Pod = p.GetPod()
	}
	if p.GetExpires() != nil {
		a.Expires = p.GetExpires().AsTime()
	}
	return a
}

// Title is the call in one safe line.
func (a Approval) Title() string {
	if a.Form != nil {
		return fmt.Sprintf("call %d of pod %s waits for your answer: %s", a.Call, sanitize.Line(a.Pod), sanitize.Line(orTool(a.Tool)))
	}
	return fmt.Sprintf("call %d of pod %s needs approval: %s", a.Call, sanitize.Line(a.Pod), sanitize.Line(orTool(a.Tool)))
}

// Shown is what a person needs to decide: why podd asks, exactly what will run, and when the
// question expires. What the call makes of files takes the place of its arguments, unless
// that is not all, or raw asks for them. The text of what it executes follows them. The lines are at most columns wide; 0 means
// unlimited.
func (a Approval) Shown(columns int, raw bool) []show.Line {
	if a.Form != nil {
		return formLines(a.ApprovalRequested, columns, a.At)
	}
	if raw {
		return requestLines(a.ApprovalRequested, columns, asArguments)
	}
	return requestLines(a.ApprovalRequested, columns, asPreviews)
}

// Lines are the safe texts of Shown.
func (a Approval) Lines(columns int) []string {
	return texts(a.Shown(columns, false))
}

// LinesBesideDiffs are Lines for a client that shows the diffs of Previews itself. They have
// only the diffs with characters that such a client may hide.
func (a Approval) LinesBesideDiffs(columns int) []string {
	return texts(requestLines(a.ApprovalRequested, columns, besideDiffs))
}

// texts are the safe texts of lines.
func texts(lines []show.Line) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = line.String()
	}
	return out
}

// HowTo is a safe line with the commands that answer the call, or says that the question
// has expired.
func (a Approval) HowTo(now time.Time) string {
	if a.Form != nil {
		return a.howToAnswer()
	}
	if !a.Expires.IsZero() && !now.Before(a.Expires) {
		return "expired: podd denies this call as soon as the turn continues"
	}
	pod := sanitize.Line(a.Pod)
	return fmt.Sprintf("answer with: podctl approve %s %d or podctl deny %s %d", pod, a.Call, pod, a.Call)
}

// ShortDigest is the start of a digest in hexadecimal: enough to tell two calls apart by
// eye.
func ShortDigest(digest string) string {
	return hex.EncodeToString([]byte(digest[:min(len(digest), shortDigest)]))
}

const shortDigest = 6

// form is how a request shows what the call would do.
type form int

const (
	// asPreviews shows what the call makes of files, or its arguments if that is not all.
	asPreviews form = iota
	// asArguments shows the arguments.
	asArguments
	// besideDiffs is asPreviews without the diffs that hide nothing.
	besideDiffs
)

func requestLines(a item.ApprovalRequested, columns int, f form) []show.Line {
	if a.Form != nil {
		return formLines(a, columns, nil)
	}
	var lines []show.Line
	add := func(st show.Style, texts ...string) {
		for _, text := range texts {
			lines = append(lines, show.Plain(text, st))
		}
	}
	if a.Question != "" {
		lines = append(lines, show.Wrap(show.Plain(exactLine(a.Question), show.Style{}), nil, show.Plain(wrapMark, show.Style{}), columns)...)
	}
	inner := columns
	if columns > 0 {
		inner = max(columns-len(indent), 1)
	}
	hidden := 0
	preview := func(runs bool) {
		for _, p := range a.Previews {
			if p.Runs == runs && f != asArguments {
				lines = append(lines, indentedBy(indent, previewLines(p, inner, f == besideDiffs))...)
				hidden += hiddenInText(p.Path + p.MovesTo + p.Diff)
			}
		}
	}
	preview(false)
	if f == asArguments || !item.HideArguments(a.Previews) {
		for _, line := range argumentLines(a.Arguments, inner) {
			add(show.Style{}, indent+line)
		}
		hidden += hiddenIn(a.Arguments)
	}
	preview(true)
	if hidden > 0 {
		add(show.Style{}, wrap(fmt.Sprintf("! it contains %s, shown as escapes such as \\u202e", counted(hidden, "hidden character")), "", wrapMark, columns)...)
	}
	end := "digest " + ShortDigest(a.Digest)
	if !a.Expires.IsZero() {
		end += ", expires " + a.Expires.Local().Format(time.DateTime)
	}
	add(show.Style{}, wrap(end, "", wrapMark, columns)...)
	return lines
}

// indent separates what will run from the text about it.
const indent = "  "

// resolved is how a call was answered, in a safe line.
func resolved(k item.ApprovalResolved) string {
	if k.Key != "" {
		return sanitize.Line(oneLine(k.How()))
	}
	line := "denied"
	if k.Approved {
		line = "approved"
	}
	if k.By != "" {
		line += " by " + sanitize.Line(k.By)
	}
	return line
}
