package view

import (
	"fmt"
	"io"

	"podd/internal/clients/markdown"
	"podd/internal/clients/show"
	"podd/internal/sanitize"
	"podd/pkg/item"
	"podd/pkg/transcript"
	poddv1 "podd/proto/podd/v1"
)

// Log prints the entries of a pod's log on Out, each as a block: a line with its sequence,
// time and kind, then its text, indented. A tool result shows its summary.
//
// When the stream has caught up, Log prints the text so far of unfinished blocks. With
// live fragments it keeps printing their text as it arrives, and their entry is then a
// line that refers to the text above.
type Log struct {
	Console
	live bool
	log  *transcript.Transcript
	// printed are the live blocks whose text is shown; at is the one whose text is the last
	// on Out, or "".
	printed map[string]bool
	at      string
	body    liveBody
}

// NewLog shows entries, and with live also fragments as they arrive. Close it after use.
func NewLog(c Console, live bool) *Log {
	return &Log{Console: c, live: live, log: transcript.New(transcript.Options{Last: 1}), printed: make(map[string]bool)}
}

// Close ends the last line.
func (l *Log) Close() error { return l.leave() }

// Lost says that the stream broke and is being restored. Unfinished blocks are then shown
// again.
func (l *Log) Lost(err error) {
	_ = l.leave() // A writer that fails shows at the next block.
	clear(l.printed)
	l.log.Lost()
	fmt.Fprintln(l.Err, yellow.paint(l.ErrTerminal && l.Color, "(lost the connection to podd; retrying: "+sanitize.Line(err.Error())+")"))
}

// Show shows the next message of the stream. An error is that of writing to Out.
func (l *Log) Show(m *poddv1.StreamResponse) error {
	c := l.log.Apply(m)
	switch {
	case c.Entry != nil:
		if k, ok := c.Entry.Kind.(item.WingEntry); ok && k.Line == "" {
			return nil // Its wing alone reads it.
		}
		return l.entry(c)
	case m.GetInFlight() != nil:
		return l.inFlight(c.Put)
	case l.live && m.GetDelta() != nil:
		return l.delta(m.GetDelta(), c)
	}
	return nil
}

// entry shows the entry of a change as a block.
func (l *Log) entry(c transcript.Change) error {
	e := *c.Entry
	d := describe(e)
	if l.dropped(c) {
		_, d.above = e.Kind.(item.ItemAdded) // Its own text was sent encrypted.
	}
	for _, p := range c.Put {
		if seq := p.Block.Call.Question.CallSeq; seq != 0 {
			// How to name the call in an answer.
			d.title += fmt.Sprintf(" (call %d)", seq)
		}
		if p.Block.State == transcript.Done && l.printed[p.Block.ID] {
			if err := l.finish(p, &d); err != nil {
				return err
			}
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
	if err := l.bodyOf(d); err != nil || !l.Render {
		return err
	}
	if added, ok := e.Kind.(item.ItemAdded); ok {
		if r, ok := added.Item.(item.ToolResult); ok {
			return l.lines(l.diffs(r.Diffs.List()))
		}
	}
	return nil
}

// bodyOf writes the body of an entry.
func (l *Log) bodyOf(d described) error {
	if d.body == "" {
		return nil
	}
	if l.Render && d.markdown {
		return l.rendered(d.body)
	}
	l.body = newBody(l.Out)
	if err := l.write(d.body); err != nil {
		return err
	}
	return l.leave()
}

// rendered writes Markdown as a body.
func (l *Log) rendered(text string) error {
	return l.lines(indented(markdown.Blocks(text, l.textWidth()-len(bodyIndent))))
}

// lines writes lines as they are.
func (l *Log) lines(lines []show.Line) error {
	_, err := l.Out.Write(renderedLines(lines, l.Color))
	return written(err)
}

// finish adds the missing rest of a live block's text, if that text is the last on Out.
func (l *Log) finish(p transcript.Put, d *described) error {
	delete(l.printed, p.Block.ID)
	rest := d.body[p.Kept:]
	if p.Kept == 0 || rest != "" && l.at != p.Block.ID {
		return nil // Other text was printed there, or after it.
	}
	d.body, d.above = "", true
	if rest == "" {
		return nil
	}
	return l.write(rest)
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
