package attach

import (
	"fmt"
	"strings"
	"time"

	"podd/internal/sanitize"
	"podd/internal/view"
	"podd/pkg/item"
)

// transcript is what happened and what happens, oldest first.
type transcript struct {
	blocks []*block
	// live are the blocks whose entry has not come, by the names that podd gives them.
	live map[string]*block
	// stale says that the stream broke and nothing has told yet what became of them.
	stale bool
	// calls are the tool calls without a result, by their ids.
	calls map[string]*block
	// open shows tool calls and thoughts whole.
	open bool
}

// block is a piece of the transcript.
type block struct {
	kind blockKind
	// text is a message, raw; for the other kinds a safe line.
	text strings.Builder
	// style is that of a notice.
	style style
	// call is a tool call's.
	call *call
	// lines are the block as it was shown last, at so many columns.
	lines   []line
	columns int
	opened  bool
}

type blockKind int

const (
	blockUser blockKind = iota
	blockAnswer
	blockThought
	blockCall
	blockNotice
)

// call is a tool call.
type call struct {
	tool, arguments string
	// state is what it does, while it has no result.
	state  string
	output strings.Builder
	result *item.ToolResult
}

func newTranscript() *transcript {
	return &transcript{live: make(map[string]*block), calls: make(map[string]*block)}
}

func (t *transcript) add(b *block, text string) *block {
	b.text.WriteString(text)
	t.blocks = append(t.blocks, b)
	return b
}

// changed says that a block has to be laid out anew.
func (b *block) changed() { b.lines = nil }

// notice adds a line of podd's or of the view's own.
func (t *transcript) notice(s style, text string) {
	t.add(&block{kind: blockNotice, style: s}, sanitize.Line(view.LocalTimes(text)))
}

// message adds what a finished message says; the live block that it finishes is taken
// over.
func (t *transcript) message(kind blockKind, text string) {
	for _, b := range t.blocks {
		for id, l := range t.live {
			if l == b && b.kind == kind {
				delete(t.live, id)
				b.text.Reset()
				b.text.WriteString(text)
				b.changed()
				return
			}
		}
	}
	if text != "" {
		t.add(&block{kind: kind}, text)
	}
}

// liveKinds are the kinds of fragments that are text to read.
var liveKinds = map[item.DeltaKind]blockKind{item.DeltaText: blockAnswer, item.DeltaReasoning: blockThought}

// delta adds a fragment.
func (t *transcript) delta(d item.Delta) {
	if d.Restarted {
		if len(t.live) > 0 {
			t.void()
			t.notice(yellow, "(the answer was cut; starting again)")
		}
		return
	}
	if t.stale {
		t.void()
	}
	if d.Kind == item.DeltaToolOutput {
		if b := t.calls[d.CallID]; b != nil {
			b.call.output.WriteString(d.Text)
			b.changed()
		}
		return
	}
	kind, ok := liveKinds[d.Kind]
	if !ok || d.Text == "" {
		return
	}
	b := t.live[d.Block]
	if b == nil {
		b = t.add(&block{kind: kind}, "")
		t.live[d.Block] = b
	}
	b.text.WriteString(d.Text)
	b.changed()
}

// inFlight takes all text so far in place of what was shown.
func (t *transcript) inFlight(blocks []item.Delta) {
	t.void()
	for _, d := range blocks {
		if b := t.calls[d.CallID]; b != nil && d.Kind == item.DeltaToolOutput {
			b.call.output.Reset()
		}
		t.delta(d)
	}
}

// void takes away text that came to nothing.
func (t *transcript) void() {
	t.stale = false
	kept := t.blocks[:0]
	for _, b := range t.blocks {
		if !t.isLive(b) {
			kept = append(kept, b)
		}
	}
	clear(t.blocks[len(kept):])
	t.blocks = kept
	clear(t.live)
}

func (t *transcript) isLive(b *block) bool {
	for _, l := range t.live {
		if l == b {
			return true
		}
	}
	return false
}

// called adds a tool call.
func (t *transcript) called(c item.ToolCall) {
	b := t.add(&block{kind: blockCall, call: &call{tool: c.Name, arguments: c.Arguments, state: "to run"}}, "")
	t.calls[c.CallID] = b
}

// callState says what a call does.
func (t *transcript) callState(id, state string) {
	if b := t.calls[id]; b != nil {
		b.call.state = state
		b.changed()
	}
}

// result ends a call.
func (t *transcript) result(r item.ToolResult) {
	b := t.calls[r.CallID]
	if b == nil {
		b = t.add(&block{kind: blockCall, call: &call{tool: r.Tool}}, "")
	}
	delete(t.calls, r.CallID)
	b.call.result = &r
	b.call.output = strings.Builder{}
	b.changed()
}

// layout gives a block's lines.
func (t *transcript) layout(b *block, columns int) []line {
	if b.lines == nil || b.columns != columns || b.opened != t.open {
		b.lines, b.columns, b.opened = b.lay(columns, t.open), columns, t.open
	}
	return b.lines
}

func (b *block) lay(columns int, open bool) (lines []line) {
	switch b.kind {
	case blockUser:
		lines = append(lines, line{})
		for i, l := range paragraphs(b.text.String(), columns-2) {
			lead := "  "
			if i == 0 {
				lead = "› "
			}
			lines = append(lines, line{lead + l, bold})
		}
		return append(lines, line{})
	case blockAnswer:
		for _, l := range paragraphs(b.text.String(), columns) {
			lines = append(lines, line{l, plain})
		}
		return lines
	case blockThought:
		text := paragraphs(b.text.String(), columns-2)
		if !open {
			first := view.Fit("~ "+strings.Join(strings.Fields(strings.Join(text, " ")), " "), columns)
			return []line{{first, dim}}
		}
		for _, l := range text {
			lines = append(lines, line{"~ " + l, dim})
		}
		return lines
	case blockCall:
		return b.call.lay(columns, open)
	}
	for _, l := range wordWrap(b.text.String(), "  ", columns) {
		lines = append(lines, line{l, b.style})
	}
	return lines
}

// paragraphs is text as safe lines that fit, without empty ones at its ends.
func paragraphs(text string, columns int) (lines []string) {
	text = strings.ReplaceAll(sanitize.Terminal(strings.Trim(text, "\n")), "\t", "    ")
	for l := range strings.SplitSeq(text, "\n") {
		indent := l[:len(l)-len(strings.TrimLeft(l, " "))]
		lines = append(lines, wordWrap(l, indent[:min(len(indent), columns/2)], columns)...)
	}
	return lines
}

// lay shows a call: in one line, or with all that it was given and answered.
func (c *call) lay(columns int, open bool) (lines []line) {
	mark, s, about := "·", cyan, c.about()+"  ("+c.state+")"
	if r := c.result; r != nil {
		mark, s, about = "✓", dim, c.summary(*r)
		if r.IsError {
			mark, s = "✗", red
		}
	}
	lines = append(lines, line{view.Fit(mark+" "+about, columns), s})
	if !open {
		if c.result == nil {
			if last := lastLine(c.output.String()); last != "" {
				lines = append(lines, line{view.Fit("  | "+sanitize.Line(last), columns), dim})
			}
		}
		return lines
	}
	if c.arguments != "" {
		for _, l := range view.Arguments(c.arguments, columns-4) {
			lines = append(lines, line{"    " + l, cyan})
		}
	}
	text := c.output.String()
	if c.result != nil {
		text = c.result.Content
	}
	if strings.TrimSpace(text) == "" {
		return lines
	}
	for _, l := range paragraphs(text, columns-4) {
		lines = append(lines, line{"  | " + l, dim})
	}
	return lines
}

// about is a call in one safe line: its tool and its arguments.
func (c *call) about() string {
	args := strings.Join(view.Arguments(c.arguments, 0), " ")
	return strings.TrimSpace(sanitize.Line(c.tool) + " " + args)
}

// summary is a call that has ended in one safe line.
func (c *call) summary(r item.ToolResult) string {
	text := sanitize.Line(strings.ReplaceAll(strings.TrimSpace(r.Summary), "\n", " | "))
	tool := sanitize.Line(c.tool)
	if tool != "" && !strings.HasPrefix(text, tool+": ") {
		text = tool + ": " + text
	}
	return fmt.Sprintf("%s  (%s)", text, view.Duration(time.Duration(r.DurationMS)*time.Millisecond))
}

// lastLine is the last line of text that is not empty.
func lastLine(text string) string {
	text = strings.TrimRight(text, " \t\r\n")
	return text[strings.LastIndexByte(text, '\n')+1:]
}
