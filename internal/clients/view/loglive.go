package view

import (
	"fmt"

	"podd/internal/clients/markdown"
	"podd/internal/sanitize"
	"podd/pkg/transcript"
	poddv1 "podd/proto/podd/v1"
)

// inFlight shows all text so far.
func (l *Log) inFlight(puts []transcript.Put) error {
	for _, p := range puts {
		text := p.Block.Text
		if p.Block.Kind == transcript.Tool {
			text = p.Block.Detail
		}
		if err := l.fragment(p.Block, text, "so far"); err != nil {
			return err
		}
	}
	if !l.live {
		clear(l.printed)
		return l.leave()
	}
	return nil
}

// delta shows a live fragment.
func (l *Log) delta(d *poddv1.Delta, c transcript.Change) error {
	cut := ""
	if l.dropped(c) {
		cut = "the answer was cut off; asking the model again: "
	}
	if d.GetRestarted() {
		if err := l.leave(); err != nil {
			return err
		}
		return l.heading(yellow, cut+sanitize.Line(d.GetText()))
	}
	for _, p := range c.Put {
		if err := l.fragment(p.Block, d.GetText(), "live"); err != nil {
			return err
		}
	}
	return nil
}

// dropped says whether printed text was discarded.
func (l *Log) dropped(c transcript.Change) (printed bool) {
	for _, id := range c.Drop {
		printed = printed || l.printed[id]
		delete(l.printed, id)
	}
	return printed
}

// fragment adds to a block, under a heading if other text was printed last.
func (l *Log) fragment(b transcript.Block, text, word string) error {
	if text == "" || b.State == transcript.Writing {
		return nil // The call's entry shows its arguments; their fragments are hard to read.
	}
	if l.at != b.ID {
		if err := l.leave(); err != nil {
			return err
		}
		if err := l.heading(cyan, word+": "+liveTitle(b)); err != nil {
			return err
		}
		l.at, l.body = b.ID, newBody(l.Out)
		if l.Render && b.Kind == transcript.Answer {
			l.body = &rendering{l, markdown.NewStream(l.textWidth() - len(bodyIndent))}
		}
	}
	l.printed[b.ID] = b.Kind != transcript.Tool
	return l.write(text)
}

// heading writes a line that is not an entry.
func (l *Log) heading(s style, text string) error {
	_, err := fmt.Fprintln(l.Out, s.paint(l.OutTerminal && l.Color, "("+text+")"))
	return written(err)
}

func liveTitle(b transcript.Block) string {
	switch b.Kind {
	case transcript.Thought:
		return "reasoning"
	case transcript.Tool:
		return sanitize.Line(orTool(b.Call.Tool)) + " output"
	}
	return "assistant"
}
