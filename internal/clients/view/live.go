package view

import (
	"cmp"
	"fmt"
	"strings"

	"podd/pkg/transcript"
)

// put shows a changed block of the turn: answers on Out, each on its own lines, and the
// activity in the status line.
func (t *Turn) put(p transcript.Put) error {
	b := p.Block
	if t.turn == 0 || b.Turn != t.turn {
		return nil
	}
	t.doing(b)
	if b.Kind != transcript.Answer {
		return nil
	}
	if t.onlyLast {
		if b.State == transcript.Done {
			t.answer = b.Text
		}
		return nil
	}
	text, begins, cut := t.text.Put(p)
	var err error
	if cut {
		err = t.cut()
	} else if begins {
		err = t.screen.endText()
	}
	err = cmp.Or(err, t.screen.text(text))
	if b.State == transcript.Done && !t.text.Open() {
		err = cmp.Or(err, t.screen.endText())
	}
	return err
}

// cut ends an unfinished answer with a note, so that the next line makes sense.
func (t *Turn) cut() error {
	err := t.screen.endText()
	t.screen.note(yellow, cutNote)
	return err
}

const cutNote = "(the answer was cut off; asking the model again)"

// doing shows the activity of an unfinished block.
func (t *Turn) doing(b transcript.Block) {
	switch {
	case b.State == transcript.Live && b.Kind == transcript.Answer:
		t.screen.going("answering")
	case b.State == transcript.Live:
		t.screen.going("thinking")
	case b.State == transcript.Writing:
		t.screen.going("preparing " + orTool(b.Call.Tool))
	case b.State == transcript.Running:
		if line := lastLine(b.Detail); line != "" {
			t.screen.going(orTool(b.Call.Tool) + ": " + line)
		}
	}
}

// running are the names of the turn's running calls.
func (t *Turn) running() (names []string) {
	for _, b := range t.log.Blocks() {
		if b.State == transcript.Running && b.Turn == t.turn {
			names = append(names, orTool(b.Call.Tool))
		}
	}
	return names
}

// progress shows the turn's activity when no fragment does.
func (t *Turn) progress() {
	running := t.running()
	switch n := len(running); {
	case t.ended != nil:
		t.screen.going("")
	case len(t.waiting) > 0 && n == 0:
		t.screen.going("waiting for approval: " + orTool(t.waiting[0].tool))
	case t.turn == 0:
		t.screen.going("waiting for the running turn to end")
	case n == 1:
		t.screen.going("running " + running[0])
	case n > 1:
		t.screen.going(fmt.Sprintf("running %d tools: %s", n, strings.Join(running, ", ")))
	default:
		t.screen.going("waiting for the model")
	}
}

func orTool(name string) string {
	if name == "" {
		return "a tool"
	}
	return name
}

// lastLine is the last line of text that is not empty.
func lastLine(text string) string {
	text = strings.TrimRight(text, " \t\r\n")
	return text[strings.LastIndexByte(text, '\n')+1:]
}
