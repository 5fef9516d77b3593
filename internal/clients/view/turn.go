package view

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"podd/internal/sanitize"
	"podd/pkg/item"
	"podd/pkg/transcript"
	poddv1 "podd/proto/podd/v1"
)

// Turn shows the turn that takes a submit, as it happens: the assistant's text alone
// on Out, as it comes; on Err a line for each tool call that ends, alerts, notes, how
// calls that waited for a person were answered and, at the end, what the turn cost.
// What of another turn comes before is not shown, its alerts excepted. Which calls
// wait, and asking for them, is left to the caller: see Approval and Ask.
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
	// waiting are the calls that wait for a person: those of this turn, and those of the
	// one before it that were shown.
	waiting []call
	alerts  map[item.Seq]bool
}

// call is a tool call that waits.
type call struct {
	id, tool string
}

// NewTurn shows the turn that takes the submit with this request id. Close it after
// use.
func NewTurn(c Console, requestID string) *Turn {
	t := &Turn{
		screen: newScreen(c), requestID: requestID, alerts: make(map[item.Seq]bool),
		log: transcript.New(transcript.Options{Last: 1}),
	}
	t.screen.going("waiting for podd")
	return t
}

// Close ends what is shown: the text's last line, the line of what is going on.
func (t *Turn) Close() error {
	err := t.screen.endText()
	t.screen.close()
	return err
}

// Seq is the last sequence that was shown; 0 before the first.
func (t *Turn) Seq() int64 { return t.seq }

// Ended is the number of the turn and how it ended; nil before the end.
func (t *Turn) Ended() (turn int64, end *item.TurnEnded) { return t.turn, t.ended }

// Lost says that the stream broke and is made again.
func (t *Turn) Lost(err error) {
	t.log.Lost()
	t.screen.going("podd is away, trying again: " + err.Error())
}

// Withdrawn says that the submit was taken back: no turn takes it.
func (t *Turn) Withdrawn() bool { return t.withdrawn }

// Show shows the next message of the stream. done says that the turn has ended, or
// that there will be none. An error is that of writing to Out.
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
		return nil
	case item.Promoted:
		t.claim(e.Turn, k.RequestIDs, fmt.Sprintf("· joined turn %d, which was running", e.Turn))
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
	case item.ItemAdded:
		t.item(k.Item)
	case item.ApprovalRequested:
		t.waits(k.CallID, k.Tool)
	case item.TurnEnded:
		return t.end(k)
	}
	t.progress()
	return nil
}

// claim takes note of the turn that took the submit, and says how when there is
// something to say.
func (t *Turn) claim(turn int64, requestIDs []string, how string) {
	if t.turn == 0 && slices.Contains(requestIDs, t.requestID) {
		t.turn = turn
		if how != "" {
			t.screen.note(dim, how)
		}
	}
	t.progress()
}

// item shows an item of the conversation that is no text of the model's.
func (t *Turn) item(it item.Item) {
	switch it := it.(type) {
	case item.SystemMessage:
		if it.Origin == item.OriginNote || it.Origin == item.OriginInterceptor {
			t.screen.note(plain, "· "+it.Origin+": "+sanitize.Line(oneLine(it.Text)))
		}
	case item.ToolResult:
		t.result(it)
	}
}

// result shows a tool call that ended, in one line.
func (t *Turn) result(r item.ToolResult) {
	mark, st := "·", dim
	if r.IsError {
		mark, st = "✗", red
	}
	took := Duration(time.Duration(r.DurationMS) * time.Millisecond)
	t.screen.note(st, fmt.Sprintf("%s %s  (%s)", mark, summary(r), took))
}

// summary is the result in one line that begins with the tool's name.
func summary(r item.ToolResult) string {
	text := sanitize.Line(oneLine(r.Summary))
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

// end shows how the turn ended. The cause is left to the caller, who has it in
// Ended.
func (t *Turn) end(k item.TurnEnded) error {
	t.ended = &k
	t.screen.ask("", false)
	t.screen.going("")
	if err := t.screen.endText(); err != nil {
		return err
	}
	if k.Outcome == item.OutcomeFinished || k.Steps > 0 {
		t.screen.note(dim, ending(t.turn, k))
	}
	return nil
}
