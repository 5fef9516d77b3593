package view

import (
	"fmt"
	"slices"
	"strings"

	"podd/pkg/item"
)

// delta shows a live fragment of the turn.
func (t *Turn) delta(d item.Delta) error {
	if t.turn == 0 || d.Turn != t.turn {
		return nil
	}
	if d.Restarted {
		t.screen.going(d.Text)
		return t.restart()
	}
	if d.Kind != item.DeltaText {
		t.doing(d)
		return nil
	}
	if t.lost {
		// podd did not tell what became of the text before: it came to nothing.
		if err := t.restart(); err != nil {
			return err
		}
	}
	return t.fragment(d)
}

// inFlight shows what of all text so far is not shown yet.
func (t *Turn) inFlight(blocks []item.Delta) error {
	known := func(d item.Delta) bool { return t.text.Shows(d.Block) }
	if t.lost && !slices.ContainsFunc(blocks, known) {
		// The log has no entry for the text that is shown, and podd none in flight.
		if err := t.restart(); err != nil {
			return err
		}
	}
	t.lost = false
	for _, d := range blocks {
		if err := t.soFar(d); err != nil {
			return err
		}
	}
	return nil
}

// soFar shows what of a block's whole text is not shown yet.
func (t *Turn) soFar(d item.Delta) error {
	if t.turn == 0 || d.Turn != t.turn {
		return nil
	}
	if d.Kind != item.DeltaText {
		t.doing(d)
		return nil
	}
	rest, ok := t.text.Whole(d.Block, d.Text)
	if !ok {
		if err := t.restart(); err != nil {
			return err
		}
		rest = d.Text
	}
	d.Text = rest
	return t.fragment(d)
}

// fragment adds text to what is shown, each block beginning a line.
func (t *Turn) fragment(d item.Delta) error {
	if d.Text == "" {
		return nil
	}
	if t.text.Fragment(d.Block, d.Text) {
		if err := t.screen.endText(); err != nil {
			return err
		}
	}
	t.screen.going("answering")
	return t.screen.text(d.Text)
}

// restart ends text that came to nothing, so that what follows makes sense.
func (t *Turn) restart() error {
	t.lost = false
	if !t.text.Begun() {
		return nil
	}
	t.text.Forget()
	if err := t.screen.endText(); err != nil {
		return err
	}
	t.screen.note(yellow, cutNote)
	return nil
}

const cutNote = "(the answer was cut; starting again)"

// doing says what a fragment that is not text belongs to.
func (t *Turn) doing(d item.Delta) {
	switch d.Kind {
	case item.DeltaReasoning:
		t.screen.going("thinking")
	case item.DeltaToolArguments:
		t.screen.going("preparing " + orTool(d.Tool))
	case item.DeltaToolOutput:
		if line := lastLine(d.Text); line != "" {
			t.screen.going(orTool(d.Tool) + ": " + line)
		}
	}
}

// progress says what is going on when no fragment does.
func (t *Turn) progress() {
	switch n := len(t.running); {
	case t.ended != nil:
		t.screen.going("")
	case len(t.waiting) > 0 && n == 0:
		t.screen.going("waiting for approval: " + orTool(t.waiting[0].tool))
	case t.turn == 0:
		t.screen.going("waiting for the running turn to end")
	case n == 1:
		t.screen.going("running " + orTool(t.running[0].tool))
	case n > 1:
		names := make([]string, n)
		for i, c := range t.running {
			names[i] = orTool(c.tool)
		}
		t.screen.going(fmt.Sprintf("running %d tools: %s", n, strings.Join(names, ", ")))
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
