package view

import (
	"fmt"
	"io"
	"strings"

	"podd/internal/sanitize"
	"podd/internal/wire"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// Log shows the entries of a pod's log on Out, each as a block: a line with its
// sequence, time and kind, then its text, indented. Tool results show as their
// summary.
//
// What is unfinished when the stream has caught up shows as its text so far. With
// live fragments it goes on showing while it is made, and its entry is then a line
// that points to the text above.
type Log struct {
	Console
	live bool
	// shown are the live blocks whose entry has not come; at is the one whose text
	// stands last on Out, "" when there is none.
	shown map[string]*liveBlock
	order []string
	at    string
	body  *body
	// calls are the entries of the calls that have no result yet.
	calls map[string]item.Seq
}

// liveBlock is text that is shown while it is made.
type liveBlock struct {
	item.Delta
	text strings.Builder
}

// NewLog shows entries, and with live also fragments as they come. Close it after
// use.
func NewLog(c Console, live bool) *Log {
	return &Log{Console: c, live: live, shown: make(map[string]*liveBlock), calls: make(map[string]item.Seq)}
}

// Close ends what is shown.
func (l *Log) Close() error { return l.leave() }

// Lost says that the stream broke and is made again. What is unfinished shows anew
// then.
func (l *Log) Lost(err error) {
	_ = l.leave() // A writer that fails shows at the next block.
	l.forget()
	fmt.Fprintln(l.Err, yellow.paint(l.ErrTerminal && l.Color, "(podd is away, trying again: "+sanitize.Line(err.Error())+")"))
}

// Show shows the next message of the stream. An error is that of writing to Out.
func (l *Log) Show(m *poddv1.StreamResponse) error {
	switch k := m.GetKind().(type) {
	case *poddv1.StreamResponse_Entry:
		return l.entry(wire.EntryFromProto(k.Entry))
	case *poddv1.StreamResponse_Delta:
		if l.live {
			return l.delta(wire.DeltaFromProto(k.Delta))
		}
	case *poddv1.StreamResponse_InFlight:
		return l.inFlight(wire.InFlightFromProto(k.InFlight))
	}
	return nil
}

// entry shows an entry as a block.
func (l *Log) entry(e item.Entry) error {
	d := describe(e)
	d.title += l.number(e)
	if b := l.claim(e); b != nil {
		rest, ok := strings.CutPrefix(d.body, b.text.String())
		switch {
		case d.body == "" || ok && rest == "":
			d.body, d.above = "", true
		case ok && l.at == b.Block:
			if err := l.write(rest); err != nil {
				return err
			}
			d.body, d.above = "", true
		}
	}
	if err := l.leave(); err != nil {
		return err
	}
	color := l.OutTerminal && l.Color
	head := fmt.Sprintf("%s  %s  %s", bold.paint(color, fmt.Sprintf("#%d", e.Seq)),
		dim.paint(color, e.Time.Local().Format("2006-01-02 15:04:05")), d.style.paint(color, d.title))
	if d.above {
		head += dim.paint(color, "  (above)")
	}
	if _, err := fmt.Fprintln(l.Out, head); err != nil {
		return written(err)
	}
	if d.body == "" {
		return nil
	}
	l.body = newBody(l.Out)
	if err := l.write(d.body); err != nil {
		return err
	}
	return l.leave()
}

// number is what to add to the title of a call that asks: how to name it in an answer.
// "" when its entry has not been shown.
func (l *Log) number(e item.Entry) string {
	switch k := e.Kind.(type) {
	case item.ItemAdded:
		switch it := k.Item.(type) {
		case item.ToolCall:
			l.calls[it.CallID] = e.Seq
		case item.ToolResult:
			delete(l.calls, it.CallID)
		}
	case item.ApprovalRequested:
		if seq, ok := l.calls[k.CallID]; ok {
			return fmt.Sprintf(" (call %d)", seq)
		}
	}
	return ""
}

// claim takes the oldest live block that an entry finishes out of those shown.
func (l *Log) claim(e item.Entry) *liveBlock {
	added, ok := e.Kind.(item.ItemAdded)
	if !ok {
		return nil
	}
	var kind item.DeltaKind
	switch added.Item.(type) {
	case item.AssistantMessage:
		kind = item.DeltaText
	case item.Reasoning:
		kind = item.DeltaReasoning
	default:
		return nil
	}
	for i, id := range l.order {
		if b := l.shown[id]; b.Kind == kind && b.Turn == e.Turn {
			l.order = append(l.order[:i:i], l.order[i+1:]...)
			delete(l.shown, id)
			return b
		}
	}
	return nil
}

// write adds text to the body that is open.
func (l *Log) write(text string) error {
	_, err := io.WriteString(l.body, text)
	return written(err)
}

// leave ends the body that is open.
func (l *Log) leave() error {
	l.at = ""
	if l.body == nil {
		return nil
	}
	err := l.body.end()
	l.body = nil
	return written(err)
}
