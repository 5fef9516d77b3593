package view

import (
	"fmt"

	"podd/internal/sanitize"
	"podd/pkg/item"
)

// inFlight shows all text so far.
func (l *Log) inFlight(blocks []item.Delta) error {
	for _, d := range blocks {
		if err := l.fragment(d, "so far"); err != nil {
			return err
		}
	}
	if !l.live {
		l.forget()
		return l.leave()
	}
	return nil
}

// delta shows a live fragment.
func (l *Log) delta(d item.Delta) error {
	if !d.Restarted {
		return l.fragment(d, "live")
	}
	if err := l.leave(); err != nil {
		return err
	}
	cut := ""
	if len(l.order) > 0 {
		cut = "the answer was cut; starting again: "
	}
	l.forget()
	return l.heading(yellow, cut+sanitize.Line(d.Text))
}

// fragment adds to a block, under a heading when other text stands last.
func (l *Log) fragment(d item.Delta, word string) error {
	if d.Text == "" || d.Kind == item.DeltaToolArguments {
		return nil // The call's entry shows them, and they are no text to read.
	}
	b := l.shown[d.Block]
	if b == nil {
		b = &liveBlock{Delta: d}
		l.shown[d.Block] = b
		l.order = append(l.order, d.Block)
	}
	if l.at != d.Block {
		if err := l.leave(); err != nil {
			return err
		}
		if err := l.heading(cyan, word+": "+liveTitle(d)); err != nil {
			return err
		}
		l.at, l.body = d.Block, newBody(l.Out)
	}
	if d.Kind != item.DeltaToolOutput {
		b.text.WriteString(d.Text)
	}
	return l.write(d.Text)
}

// forget drops the live blocks: their entries show whole.
func (l *Log) forget() {
	clear(l.shown)
	l.order = nil
}

// heading writes a line that is no entry.
func (l *Log) heading(s style, text string) error {
	_, err := fmt.Fprintln(l.Out, s.paint(l.OutTerminal && l.Color, "("+text+")"))
	return written(err)
}

func liveTitle(d item.Delta) string {
	switch d.Kind {
	case item.DeltaReasoning:
		return "reasoning"
	case item.DeltaToolOutput:
		return sanitize.Line(orTool(d.Tool)) + " output"
	}
	return "assistant"
}
