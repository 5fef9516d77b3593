package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"podd/internal/sanitize"
	"podd/pkg/item"
	"podd/pkg/transcript"
	poddv1 "podd/proto/podd/v1"
)

// Turn shows the turn that takes a submit, as it happens: on Out only the assistant's
// text, as it arrives; on Err a line for each tool call that ends, alerts, notes, answers
// to approval questions and, at the end, what the turn used. Of earlier turns only alerts
// are shown. The caller finds the calls that wait and asks about them: see Approval and
// Ask.
type Turn struct {
	screen    *screen
	requestID string

	log  *transcript.Transcript
	text transcript.Appender

	// turn is the turn's number once it has claimed the submit; seq the last entry
	// shown.
	turn, seq int64
	ended     *item.TurnEnded
	withdrawn bool
	// since is when the turn started, took how long it took.
	since time.Time
	took  time.Duration
	// onlyLast shows the last answer alone, which is answer so far.
	onlyLast bool
	answer   string
	// waiting are the calls that wait for approval: those of this turn, and those of the
	// previous one that were shown.
	waiting []call
	// denied are the results of the turn's calls that somebody forbade.
	denied []string
	alerts map[item.Seq]bool
}

// call is a tool call that waits.
type call struct {
	id, tool string
}

// NewTurn shows the turn that takes the submit with this request id. Close it after use.
func NewTurn(c Console, requestID string) *Turn {
	t := &Turn{
		screen: newScreen(c), requestID: requestID, alerts: make(map[item.Seq]bool),
		log: transcript.New(transcript.Options{Last: 1}),
	}
	t.screen.going("waiting for podd")
	return t
}

// OnlyLast shows no answer but the last one, once the turn has finished.
func (t *Turn) OnlyLast() { t.onlyLast, t.screen.Render = true, false }

// safeJSON writes as JSON escapes what would be shown as another escape, which no JSON parser
// reads: the value stays the same.
func safeJSON(answer string) string {
	var b strings.Builder
	for _, r := range answer {
		switch {
		case r == '\r': // Between values: a string has none.
		case r >= ' ' && sanitize.Terminal(string(r)) != string(r):
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, `\u%04x`, unit)
			}
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Close ends the text's last line and removes the status line.
func (t *Turn) Close() error {
	err := t.screen.endText()
	t.screen.close()
	return err
}

// Seq is the last sequence that was shown; 0 before the first.
func (t *Turn) Seq() int64 { return t.seq }

// Ended is the number of the turn and how it ended; end is nil before that.
func (t *Turn) Ended() (turn int64, end *item.TurnEnded) { return t.turn, t.ended }

// Lost says that the stream broke and is being restored.
func (t *Turn) Lost(err error) {
	t.log.Lost()
	t.screen.going("lost the connection to podd; retrying: " + err.Error())
}

// Withdrawn says that the submit was removed from the queue: no turn takes it.
func (t *Turn) Withdrawn() bool { return t.withdrawn }

// Show shows the next message of the stream. done says that the turn has ended or will
// never start. The error is that of writing to Out.
func (t *Turn) Show(m *poddv1.StreamResponse) (done bool, err error) {
	c := t.log.Apply(m)
	if d := m.GetDelta(); d.GetRestarted() && d.GetTurn() == t.turn {
		t.screen.going(d.GetText())
	}
	if t.text.Drop(c.Drop) && (c.Entry == nil || !isEnd(c.Entry.Kind)) {
		err = t.cut()
	}
	for _, p := range c.Put {
		err = cmp.Or(err, t.put(p))
	}
	if c.Entry != nil {
		t.seq = int64(c.Entry.Seq)
		err = cmp.Or(err, t.entry(*c.Entry))
	}
	if c.CaughtUp {
		t.progress()
	}
	return t.ended != nil || t.withdrawn, err
}

func isEnd(k item.Kind) bool {
	_, ok := k.(item.TurnEnded)
	return ok
}

// entry shows an entry of the log.
func (t *Turn) entry(e item.Entry) error {
	switch k := e.Kind.(type) {
	case item.TurnStarted:
		t.claim(e.Turn, k.RequestIDs, "")
		t.since = e.Time
		return nil
	case item.Promoted:
		t.claim(e.Turn, k.RequestIDs, fmt.Sprintf("· joined the running turn %d", e.Turn))
		return nil
	case item.AlertRaised:
		if !k.Alert.Repeats() {
			t.alert(k.Alert)
		}
		return nil
	case item.Withdrawn:
		t.withdrawn = t.withdrawn || t.turn == 0 && slices.Contains(k.RequestIDs, t.requestID)
		return nil
	case item.ApprovalResolved:
		t.resolved(e.Turn, k)
		return nil
	}
	if t.turn == 0 || e.Turn != t.turn {
		if isEnd(e.Kind) {
			t.waiting = nil // They were that turn's.
		}
		return nil
	}
	switch k := e.Kind.(type) {
	case item.Recovered:
		t.screen.note(yellow, "! the turn resumes: "+sanitize.Line(k.Reason))
	case item.ItemAdded:
		t.item(k.Item)
	case item.ApprovalRequested:
		t.waits(k.CallID, k.Tool)
	case item.TurnEnded:
		t.took = e.Time.Sub(t.since)
		return t.end(k)
	}
	t.progress()
	return nil
}

// claim records the turn that took the submit, and shows how if it is not "".
func (t *Turn) claim(turn int64, requestIDs []string, how string) {
	if t.turn == 0 && slices.Contains(requestIDs, t.requestID) {
		t.turn = turn
		if how != "" {
			t.screen.note(dim, how)
		}
	}
	t.progress()
}

// item shows an item of the conversation that is not text of the model.
func (t *Turn) item(it item.Item) {
	switch it := it.(type) {
	case item.SystemMessage:
		if it.FromNote() || it.Origin == item.OriginInterceptor {
			t.screen.note(plain, "· "+it.Origin+": "+sanitize.Line(oneLine(it.Text)))
		}
	case item.ToolResult:
		t.result(it)
	}
}

// Denied are the results of the turn's calls that a person, a rule or an interceptor forbade, a
// line each.
func (t *Turn) Denied() []string { return t.denied }

// result shows a tool call that ended, in one line.
func (t *Turn) result(r item.ToolResult) {
	if r.Denied {
		t.denied = append(t.denied, summary(r))
	}
	mark, st := "·", dim
	if r.IsError {
		mark, st = "✗", red
	}
	took := Duration(time.Duration(r.DurationMS) * time.Millisecond)
	t.screen.note(st, fmt.Sprintf("%s %s  (%s)", mark, summary(r), took))
	if t.screen.ErrTerminal || t.screen.Render {
		t.screen.changes(r.Diffs.List())
	}
}

// summary is the result in one line that begins with the tool's name.
func summary(r item.ToolResult) string {
	text := sanitize.Line(oneLine(r.Summary)) + r.Recovery.Remark()
	name := sanitize.Line(r.Tool) + ": "
	if r.Tool == "" || len(text) >= len(name) && text[:len(name)] == name {
		return text
	}
	return name + text
}

func (t *Turn) alert(a item.Alert) {
	if a.Seq != 0 && t.alerts[a.Seq] {
		return
	}
	t.alerts[a.Seq] = true
	t.screen.note(alertStyle(a.Level), "! "+AlertText(a))
}

// end shows how the turn ended. The caller shows the cause, which Ended returns.
func (t *Turn) end(k item.TurnEnded) error {
	t.ended = &k
	t.screen.ask("", false)
	t.screen.going("")
	if t.onlyLast && k.Outcome == item.OutcomeFinished {
		if err := t.screen.text(safeJSON(t.answer)); err != nil {
			return err
		}
	}
	if err := t.screen.endText(); err != nil {
		return err
	}
	if k.Outcome == item.OutcomeFinished || k.Steps > 0 {
		line := ending(t.turn, k)
		if t.took > 0 && !t.since.IsZero() {
			line += ", " + Duration(t.took)
		}
		t.screen.note(dim, line)
	}
	return nil
}

// Taken says that a submit was not removed from the queue because a turn has it.
func Taken(err error) bool {
	reason := item.ReasonOf(err)
	return reason == "TAKEN" || reason == "NOT_WAITING"
}
