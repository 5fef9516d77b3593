package view

import (
	"encoding/hex"
	"fmt"
	"time"

	"podd/internal/sanitize"
	"podd/pkg/item"
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
}

// ApprovalFromProto converts a call that waits for approval.
func ApprovalFromProto(p *poddv1.Approval) Approval {
	a := Approval{
		Pod: p.GetPodName(), Turn: p.GetTurn(), Call: item.Seq(p.GetCallSeq()), Time: p.GetTime().AsTime(),
		ApprovalRequested: item.ApprovalRequested{
			CallID: p.GetCallId(), Digest: string(p.GetDigest()), Question: p.GetQuestion(),
			Tool: p.GetTool(), Arguments: p.GetArguments(),
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
	return fmt.Sprintf("call %d of pod %s needs approval: %s", a.Call, sanitize.Line(a.Pod), sanitize.Line(orTool(a.Tool)))
}

// Lines is what a person needs to decide: why podd asks, exactly what will run, and when
// the question expires. The lines are safe and at most columns wide; 0 means unlimited.
func (a Approval) Lines(columns int) []string {
	return requestLines(a.ApprovalRequested, columns)
}

// HowTo is a safe line with the commands that answer the call, or says that the question
// has expired.
func (a Approval) HowTo(now time.Time) string {
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

func requestLines(a item.ApprovalRequested, columns int) []string {
	var lines []string
	if a.Question != "" {
		lines = wrap(exactLine(a.Question), "", wrapMark, columns)
	}
	inner := columns
	if columns > 0 {
		inner = max(columns-len(indent), 1)
	}
	for _, line := range argumentLines(a.Arguments, inner) {
		lines = append(lines, indent+line)
	}
	if n := hiddenIn(a.Arguments); n > 0 {
		lines = append(lines, wrap(fmt.Sprintf("! it contains %s, shown as escapes such as \\u202e", counted(n, "hidden character")), "", wrapMark, columns)...)
	}
	end := "digest " + ShortDigest(a.Digest)
	if !a.Expires.IsZero() {
		end += ", expires " + a.Expires.Local().Format(time.DateTime)
	}
	return append(lines, wrap(end, "", wrapMark, columns)...)
}

// indent separates what will run from the text about it.
const indent = "  "

// resolved is how a call was answered, in a safe line.
func resolved(k item.ApprovalResolved) string {
	line := "denied"
	if k.Approved {
		line = "approved"
	}
	if k.By != "" {
		line += " by " + sanitize.Line(k.By)
	}
	return line
}
