package attach

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	tea "charm.land/bubbletea/v2"

	"podd/internal/clients/show"
	"podd/internal/clients/view"
	"podd/internal/sanitize"
	"podd/pkg/transcript"
)

const (
	// plainWidth bounds lines that are cut to a width.
	plainWidth = 1000
	// plainPast is how many blocks of the history are told at the start.
	plainPast = 6
)

// plainView tells what happens in sentences, one after the other, and reads lines: for
// screen readers, and for terminals that cannot move their cursor.
type plainView struct {
	*app
	// told has the state in which blocks were told.
	told map[*block]transcript.State
	// asked, confirmed, said and drafted are what was told last of each.
	asked     *question
	confirmed *confirmation
	drafted   string
	// listed are the paths that the view listed last.
	listed   string
	caughtUp bool
	wasAway  bool
}

// linesOf reads lines until the end of input, or for ever: it stays behind when the view ends.
func linesOf(in io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		s := bufio.NewScanner(in)
		s.Buffer(nil, mostPaste)
		for s.Scan() {
			lines <- s.Text()
		}
	}()
	return lines
}

// tellAll shows the view until the person leaves, SIGTERM, or the terminal is gone.
func (p plainView) tellAll(follow func() error, lines <-chan string) error {
	hangup, signals := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(hangup)
	defer signal.Stop(signals)
	defer p.work.Wait()
	defer p.fail(nil)
	p.begin(follow)
	p.begin(func() error { return p.tick(hangup) })
	for !p.quit {
		typed := lines
		if p.paths.asking && p.paths.tab {
			typed = nil // The rest of the line goes after the completed path.
		}
		select {
		case f := <-p.do:
			f()
		case text, ok := <-typed:
			if !ok {
				return nil
			}
			p.typed(strings.ToValidUTF8(text, "\ufffd"))
		case s := <-signals:
			if s == syscall.SIGTERM {
				return nil
			}
			p.interrupt()
		case <-p.ctx.Done():
			if cause := context.Cause(p.ctx); !errors.Is(cause, context.Canceled) {
				return cause
			}
			return nil
		}
		p.tell()
	}
	return nil
}

// typed takes a line: a command, an answer, or text that is sent. A backslash at its end
// continues the text on the next line, a tab completes its @path.
func (p *plainView) typed(text string) {
	line := strings.TrimSpace(text)
	switch {
	case p.confirming != nil:
		answer, denies := view.ParseAnswer(line)
		denies = denies && p.confirming.enter && answer.Reason != ""
		p.press(key{keyText, strings.ToLower(line + "n")[:1]})
		p.answer.clear()
		if denies {
			p.typed(text)
		}
		return
	case p.answering && line == "":
		p.press(key{kind: keyEscape})
		return
	case p.answering:
		p.answer.insert(text)
		p.press(key{kind: keyEnter})
		p.answer.clear()
		if len(p.questions) > 0 && p.questions[0].raw {
			p.asked = nil
		}
		return
	}
	waits := p.draft
	if strings.HasPrefix(text, "/") || strings.HasPrefix(text, "!") {
		p.draft.clear()
	}
	p.draft.at = len(p.draft.cells)
	if rest, completes := strings.CutSuffix(strings.TrimRight(text, " "), "\t"); completes {
		p.completes(strings.TrimRight(rest, "\t"))
		return
	}
	if rest, more := strings.CutSuffix(text, `\`); more {
		p.draft.insert(rest)
		p.draft.put(newline)
		p.drafted = p.draft.whole()
		return
	}
	p.draft.insert(text)
	if p.draft.empty() {
		return
	}
	p.press(key{kind: keyEnter})
	_, _, slash := p.draft.command()
	_, _, shell := p.draft.shell()
	if slash || shell {
		p.draft.clear() // It was refused.
	}
	if strings.HasPrefix(text, "/") || strings.HasPrefix(text, "!") {
		waits.append(p.draft)
		p.draft = waits
	}
}

// completes adds text to the draft and asks podd to complete the @path at its end.
func (p *plainView) completes(text string) {
	p.draft.insert(text)
	p.drafted = p.draft.whole() // The view repeats the draft when it is complete.
	if _, _, ok := p.draft.reference(); !ok {
		p.drafted, p.said = "", "There is no @path at the end of this line."
		return
	}
	p.listed = ""
	commander{p.app}.offerPaths(true)
}

// offers tells the paths that fit, if there are several.
func (p *plainView) offers() {
	rows := p.paths.rows(mostOffered)
	for i, r := range rows {
		rows[i] = strings.TrimLeft(r, " >")
	}
	text := strings.Join(rows, ", ")
	if text != p.listed && text != "" {
		p.say("In your draft: " + p.draft.text() + "\nPaths that fit: " + text + ".\nYour next line is added; a tab at its end completes again.")
	}
	p.listed = text
}

// interrupt ends what can be ended: the person's command, a draft, the turn.
func (p *plainView) interrupt() {
	switch {
	case p.shell == nil && !p.draft.empty():
		p.draft.clear()
		p.paths.close()
		p.said = "The draft is empty now."
	case p.shell == nil && p.turn == 0:
		p.said = "Nothing runs. /quit leaves."
	default:
		p.answering = false
		p.escape(false, false)
	}
}

// tell writes what is new.
func (p *plainView) tell() {
	if !p.ready {
		return
	}
	if !p.caughtUp {
		p.begins()
	}
	for _, b := range p.log.blocks {
		p.block(b)
	}
	if p.away != p.wasAway {
		p.wasAway = p.away
		p.say(map[bool]string{true: "The connection to podd is lost; trying again.", false: "podd is there again."}[p.away])
	}
	p.question()
	if p.confirming != p.confirmed && p.confirming != nil {
		if p.confirming.about != "" {
			p.say(p.confirming.about)
		}
		p.say(p.confirming.question + " Type " + p.confirming.words() + ", anything else for no.")
	}
	p.confirmed = p.confirming
	if p.said != "" && p.said != sending {
		p.say(p.said)
	}
	p.said = ""
	p.offers()
	if text := p.draft.whole(); text != p.drafted {
		if p.drafted = text; text != "" {
			rows, _ := p.draft.lay("", plainWidth)
			p.say("In your draft: " + strings.Join(rows, " ") + "\nYour next line is added and sent; Ctrl-C empties the draft.")
		}
	}
	if p.command != nil {
		if raw, ok := p.command().(tea.RawMsg); ok {
			fmt.Fprint(p.Out, raw.Msg)
		}
		p.command = nil
	}
}

// begins tells where the pod stands, and leaves out most of what happened.
func (p *plainView) begins() {
	p.caughtUp = true
	blocks := p.log.blocks
	for _, b := range blocks[:max(len(blocks)-plainPast, 0)] {
		p.told[b] = b.State
	}
	state, _ := frame{p.app}.state()
	p.say(fmt.Sprintf("Pod %s is %s. Type a prompt, or /help.", p.pod.GetName(), state))
	if n := len(blocks) - plainPast; n > 0 {
		p.say(fmt.Sprintf("%s earlier blocks are left out; podctl tail %s --after 0 shows all.", view.Count(int64(n)), p.pod.GetName()))
	}
}

// say writes lines.
func (p *plainView) say(text string) {
	for _, l := range show.Text(text, plain) {
		fmt.Fprintln(p.Out, l.String())
	}
}

// question tells a call that waits; all of it is then seen.
func (p *plainView) question() {
	var q *question
	if len(p.questions) > 0 {
		q = p.questions[0]
	}
	if q == p.asked {
		return
	}
	if p.asked = q; q == nil {
		return
	}
	for i, l := range q.lines(plainWidth) {
		if i > 0 {
			fmt.Fprintln(p.Out, l.String())
		}
		if !q.raw {
			q.seen[i] = true
		}
	}
	q.raw = false
	if !p.answering {
		p.say("/answer goes to this question.")
		return
	}
	p.say("Run it? Answer " + view.Answers + ". An empty line leaves it.")
}

// block tells a block once it is whole, and a call also when it begins.
func (p *plainView) block(b *block) {
	state := b.State
	if b.run != nil {
		if state = transcript.Running; b.run.ended != "" {
			state = transcript.Done
		}
	}
	if before, ok := p.told[b]; ok && before == state {
		return
	}
	text := ""
	switch {
	case b.run != nil && state == transcript.Running:
		text = "Your shell runs: " + b.run.command
	case b.run != nil:
		text = texts(b.run.lay(plainWidth, false))
	case b.Kind == transcript.User && state == transcript.Done:
		text = "Prompt: " + b.Text
	case b.Kind == transcript.Answer && state == transcript.Done:
		text = "Answer: " + b.Text
	case b.Kind == transcript.Tool && state == transcript.Running:
		text = "Runs: " + b.about()
	case b.Kind == transcript.Tool && state == transcript.Done:
		text = "Done: " + b.summary()
	case b.Kind == transcript.Tool && state == transcript.Failed:
		text = "Failed: " + b.summary()
	case b.Kind == transcript.Notice || b.Kind == transcript.Alert || b.Kind == transcript.End:
		_, text = b.words()
		text = strings.TrimLeft(view.LocalTimes(text), "─·! ")
	}
	if state == transcript.Done || state == transcript.Failed {
		text = strings.TrimSpace(text + "\n" + texts(b.pictures("", plainWidth, p.log.gallery)))
	}
	if text == "" {
		return
	}
	p.told[b] = state
	p.say(strings.TrimRight(text, "\n"))
	if changes := b.changes(plainWidth, true); state == transcript.Done && len(changes) > 0 {
		p.say("Changed: " + strings.TrimSpace(texts(changes)))
	}
}

func texts(lines []line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.String() + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// status is the pod's state in one line.
func status(a *app, _ string) {
	f := frame{a}
	state, reason := f.state()
	parts := append([]string{sanitize.Line(a.pod.GetName()), state}, f.figures()...)
	if reason != "" {
		parts[1] += ": " + reason
	}
	a.log.notice(plain, strings.Join(append(parts, a.facts()...), " · "))
}

// toQuestion goes to the open question.
func toQuestion(a *app, _ string) {
	if a.answering = len(a.questions) > 0; !a.answering {
		a.said = "no call waits for an answer"
	}
}

// steer sends a prompt that joins the running turn.
func steer(a *app, text editor) {
	if text.empty() {
		a.said = "give the text after /steer"
		return
	}
	a.draft = text
	a.submit(a.turn != 0)
}
