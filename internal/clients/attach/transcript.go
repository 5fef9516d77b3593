package attach

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"podd/internal/clients/show"
	"podd/internal/clients/view"
	"podd/internal/sanitize"
	"podd/pkg/item"
	"podd/pkg/transcript"
	poddv1 "podd/proto/podd/v1"
)

// blockList is the transcript, oldest first: the blocks of the stream, and between them
// the view's own notices.
type blockList struct {
	*transcript.Transcript
	blocks []*block
	// open shows tool calls and reasoning in full.
	open bool
	// sent has the prompts by their blocks, without the files that they name.
	sent map[string]item.Submitted
	// laid are the blocks that have their lines, and laidLines how many these are.
	laid      []*block
	laidLines int
}

const (
	// mostBlocks is how many blocks stay, at most twice as many before the oldest leave.
	mostBlocks = 5000
	// mostLaid is how many lines are kept of blocks that were laid out.
	mostLaid = 1000
)

// block is a block as it is shown. The view's own blocks have no ID.
type block struct {
	transcript.Block
	style show.Style
	// lines are the block as it was last laid out, for columns.
	lines   []line
	columns int
	opened  bool
	// counted is how many of the kept lines are its.
	counted int
	answer  answer
	// run is the command that the block is, if any.
	run *shellRun
	// diff is the change of a file that the block shows; without a path it shows none.
	diff item.FileDiff
}

func newBlockList() *blockList {
	return &blockList{Transcript: transcript.New(transcript.Options{Last: mostBlocks}), sent: make(map[string]item.Submitted)}
}

// notice adds a line of the view's own.
func (t *blockList) notice(s show.Style, text string) {
	t.blocks = append(t.blocks, &block{Block: transcript.Block{Kind: transcript.Notice, Text: text}, style: s})
}

// apply takes the next message of the stream.
func (t *blockList) apply(m *poddv1.StreamResponse) transcript.Change {
	c := t.Apply(m)
	if len(c.Drop) > 0 {
		t.blocks = slices.DeleteFunc(t.blocks, func(b *block) bool { return slices.Contains(c.Drop, b.ID) })
	}
	for _, p := range c.Put {
		if b := t.find(p.Block.ID); b != nil {
			b.Block, b.lines = p.Block, nil
		} else {
			t.blocks = append(t.blocks, &block{Block: p.Block})
		}
	}
	if c.Entry != nil && len(c.Put) > 0 {
		if k, ok := c.Entry.Kind.(item.Submitted); ok {
			k.Items, k.Text = nil, ""
			t.sent[c.Put[0].Block.ID] = k
		}
	}
	return c
}

// find looks for a block from the end, where changes are.
func (t *blockList) find(id string) *block {
	for _, b := range slices.Backward(t.blocks) {
		if b.ID == id {
			return b
		}
	}
	return nil
}

// layout gives a block's lines.
func (t *blockList) layout(b *block, columns int) []line {
	if b.lines == nil || b.columns != columns || b.opened != t.open {
		b.lines, b.columns, b.opened = b.lay(columns, t.open), columns, t.open
		t.keep(b)
	}
	return b.lines
}

// keep counts the lines of a block, and drops those of the blocks that were laid out first.
func (t *blockList) keep(b *block) {
	if b.counted == 0 && len(b.lines) > 0 {
		t.laid = append(t.laid, b)
	}
	t.laidLines += len(b.lines) - b.counted
	b.counted = len(b.lines)
	for t.laidLines > mostLaid && len(t.laid) > 1 {
		old := t.laid[0]
		t.laid = t.laid[1:]
		if old == b {
			t.laid = append(t.laid, b)
			continue
		}
		t.laidLines -= old.counted
		old.lines, old.answer, old.counted = nil, answer{}, 0
	}
}

// again lays all blocks out again.
func (t *blockList) again() {
	for _, b := range t.blocks {
		b.lines, b.answer = nil, answer{}
	}
}

// forget removes the oldest blocks if there are many, and says how many.
func (t *blockList) forget() (gone int) {
	if len(t.blocks) < 2*mostBlocks {
		return 0
	}
	gone = len(t.blocks) - mostBlocks
	for _, b := range t.blocks[:gone] {
		delete(t.sent, b.ID)
	}
	t.blocks = slices.Clone(t.blocks[gone:])
	return gone
}

// lay lays a block out.
func (b *block) lay(columns int, open bool) (lines []line) {
	if b.run != nil {
		return b.run.lay(columns, open)
	}
	if b.diff.Path != "" {
		return show.Diff(b.diff.Path, b.diff.Diff, open, "^T shows all", columns)
	}
	switch b.State {
	case transcript.Queued, transcript.Lost, transcript.Writing:
		return nil
	}
	switch b.Kind {
	case transcript.User:
		lines = append([]line{nil}, wrapped(b.Text, bold, "› ", "  ", columns)...)
		return append(append(lines, b.pictures("  ", columns)...), nil)
	case transcript.Answer:
		return b.answer.lay(b.Text, b.State == transcript.Live, columns)
	case transcript.Thought:
		if !open {
			return []line{in(dim, "~ "+strings.Join(strings.Fields(b.Text), " ")).Fit(columns)}
		}
		return wrapped(b.Text, dim, "~ ", "~ ", columns)
	case transcript.Tool:
		return append(b.layCall(columns, open), b.pictures("    ", columns)...)
	}
	s, text := b.words()
	if text != "" {
		lines = show.Wrap(in(s, view.LocalTimes(text)), nil, in(s, "  "), columns)
	}
	return append(lines, b.pictures("  ", columns)...)
}

// pictures are the block's images, each a line.
func (b *block) pictures(lead string, columns int) (lines []line) {
	for _, i := range b.Images {
		lines = append(lines, in(dim, lead+view.Picture(i)+" podctl image saves it").Fit(columns))
	}
	return lines
}

// words is the text of a block of one line; "" for one that is not shown.
func (b *block) words() (s show.Style, text string) {
	switch b.Kind {
	case transcript.Alert:
		return alertStyles[b.Alert.Level], "! " + view.AlertText(item.Alert{Level: b.Alert.Level, Text: b.Text, Count: b.Alert.Count})
	case transcript.End:
		return b.ending()
	}
	switch b.Code {
	case "":
		return b.style, b.Text
	case transcript.CodeDenied, item.OriginFileRef, item.OriginReadBack, item.OriginRefusedCall, item.OriginNoAnswer:
		return plain, "" // The call's result names the person and the reason; the others are for the model.
	case item.OriginNote, item.OriginLetter, item.OriginInterceptor:
		return plain, "· " + b.Code + ": " + b.Text
	case transcript.CodeRewind, transcript.CodeRecovered:
		return yellow, "! " + b.Text
	case transcript.CodeCut:
		return yellow, "(the answer was cut off; asking the model again)"
	}
	return dim, "· " + b.Text
}

var alertStyles = map[item.Level]show.Style{item.LevelError: red, item.LevelWarn: yellow, "": yellow, item.LevelInfo: dim}

// ending says how a turn ended.
func (b *block) ending() (s show.Style, text string) {
	text = fmt.Sprintf("── turn %d %s", b.Turn, b.End.Outcome)
	if u := item.Usage(b.End.Usage); max(u.Input, u.Output) > 0 {
		text += ", " + view.Tokens(u)
	}
	if b.End.Outcome == item.OutcomeFinished {
		return dim, text
	}
	if b.Text != "" {
		text += ": " + b.Text
	}
	return yellow, text
}

// callStates name the states of a call that has no result.
var callStates = map[transcript.State]string{
	transcript.ToRun: "pending", transcript.Asks: "waiting for approval", transcript.Running: "running",
}

// layCall lays a call out: in one line, or with its arguments and its output.
func (b *block) layCall(columns int, open bool) (lines []line) {
	mark, s, about := "·", cyan, b.about()+"  ("+callStates[b.State]+")"
	switch b.State {
	case transcript.Done:
		mark, s, about = "✓", dim, b.summary()
	case transcript.Failed:
		mark, s, about = "✗", red, b.summary()
	}
	lines = append(lines, in(s, mark+" "+about).Fit(columns))
	if !open {
		if last := lastLine(b.Detail); last != "" && b.State == transcript.Running {
			lines = append(lines, in(dim, "  | "+last).Fit(columns))
		}
		return append(lines, b.changes(columns, false)...)
	}
	if b.Call.Arguments != "" {
		for _, l := range view.Arguments(b.Call.Arguments, columns-4) {
			lines = append(lines, in(cyan, "    "+l))
		}
	}
	lines = append(lines, b.changes(columns, true)...)
	if strings.TrimSpace(b.Detail) == "" {
		return lines
	}
	lead := in(dim, "  | ")
	for _, l := range show.Text(strings.Trim(b.Detail, "\n"), dim) {
		lines = append(lines, show.WrapAnywhere(l, lead, lead, columns)...)
	}
	return lines
}

// changes are the diffs of what a call changed in files.
func (b *block) changes(columns int, open bool) (lines []line) {
	for _, d := range b.Call.Diffs.List() {
		for _, l := range show.Diff(d.Path, d.Diff, open, "^T shows all", columns-4) {
			lines = append(lines, show.With(in(plain, "    "), l))
		}
	}
	return lines
}

// about is a call in one safe line: its tool and its arguments.
func (b *block) about() string {
	args := strings.Join(view.Arguments(b.Call.Arguments, 0), " ")
	return strings.TrimSpace(sanitize.Line(b.Call.Tool) + " " + args)
}

// summary is a finished call in one safe line.
func (b *block) summary() string {
	if b.Text == "" {
		return b.about() + "  (no result)"
	}
	text := sanitize.Line(strings.ReplaceAll(strings.TrimSpace(b.Text), "\n", " | "))
	tool := sanitize.Line(b.Call.Tool)
	if tool != "" && !strings.HasPrefix(text, tool+": ") {
		text = tool + ": " + text
	}
	return fmt.Sprintf("%s  (%s)", text, view.Duration(time.Duration(b.Call.DurationMS)*time.Millisecond))
}

// lastLine is the last line of text that is not empty.
func lastLine(text string) string {
	text = strings.TrimRight(text, " \t\r\n")
	return text[strings.LastIndexByte(text, '\n')+1:]
}
