package view

import (
	"fmt"
	"slices"
	"time"

	"podd/internal/sanitize"
	"podd/internal/spoken"
	"podd/internal/wire"
	"podd/pkg/item"
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

	// turn is the turn's number once it has claimed the submit; seq the last entry
	// shown.
	turn, seq int64
	ended     *item.TurnEnded
	withdrawn bool
	text      spoken.Text
	// lost says that the stream broke and nothing has told yet what became of the
	// text that is shown.
	lost bool
	// running are the calls that run, in the order of their starts.
	running []call
	// waiting are the calls that wait for a person: those of this turn, and those of the
	// one before it that were shown.
	waiting []call
	alerts  map[item.Seq]bool
}

// call is a tool call under way.
type call struct {
	id, tool string
}

// NewTurn shows the turn that takes the submit with this request id. Close it after
// use.
func NewTurn(c Console, requestID string) *Turn {
	t := &Turn{screen: newScreen(c), requestID: requestID, alerts: make(map[item.Seq]bool)}
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
	t.lost = t.text.Begun()
	t.screen.going("podd is away, trying again: " + err.Error())
}

// Withdrawn says that the submit was taken back: no turn takes it.
func (t *Turn) Withdrawn() bool { return t.withdrawn }

// Show shows the next message of the stream. done says that the turn has ended, or
// that there will be none. An error is that of writing to Out.
func (t *Turn) Show(m *poddv1.StreamResponse) (done bool, err error) {
	switch k := m.GetKind().(type) {
	case *poddv1.StreamResponse_Entry:
		e := wire.EntryFromProto(k.Entry)
		t.seq = int64(e.Seq)
		err = t.entry(e)
	case *poddv1.StreamResponse_Delta:
		err = t.delta(wire.DeltaFromProto(k.Delta))
	case *poddv1.StreamResponse_InFlight:
		err = t.inFlight(wire.InFlightFromProto(k.InFlight))
	case *poddv1.StreamResponse_CaughtUp:
		t.progress()
	}
	return t.ended != nil || t.withdrawn, err
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
		if _, ok := e.Kind.(item.TurnEnded); ok {
			t.waiting = nil // They were that turn's.
		}
		return nil
	}
	switch k := e.Kind.(type) {
	case item.ItemAdded:
		return t.item(k.Item)
	case item.ToolStarted:
		t.running = append(t.running, call{k.CallID, k.Tool})
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

// item shows an item of the conversation.
func (t *Turn) item(it item.Item) error {
	switch it := it.(type) {
	case item.AssistantMessage:
		return t.message(it.Text)
	case item.SystemMessage:
		if it.Origin == item.OriginNote || it.Origin == item.OriginInterceptor {
			t.screen.note(plain, "· "+it.Origin+": "+sanitize.Line(oneLine(it.Text)))
		}
	case item.ToolResult:
		t.running = slices.DeleteFunc(t.running, func(c call) bool { return c.id == it.CallID })
		t.result(it)
	}
	t.progress()
	return nil
}

// message shows what of an assistant message the fragments have not shown.
func (t *Turn) message(text string) error {
	rest, ok := t.text.Entry(text)
	if !ok {
		// What stands there is not this text: it begins anew, on a line of its own.
		if err := t.screen.endText(); err != nil {
			return err
		}
		if t.lost {
			t.screen.note(yellow, cutNote)
		}
		rest = text
	}
	t.lost = false
	if err := t.screen.text(rest); err != nil {
		return err
	}
	if t.text.Begun() {
		return nil // The next message stands behind it already.
	}
	return t.screen.endText()
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
