package attach

import (
	"fmt"
	"strings"
	"time"

	"podd/internal/clients/cells"
	"podd/internal/clients/view"
	"podd/internal/sanitize"
	"podd/pkg/transcript"
	poddv1 "podd/proto/podd/v1"
)

// activity is what a turn waits for, since when.
type activity struct {
	what  string
	since time.Time
}

// observe notes what a turn waits for now; "" without one.
func (c *activity) observe(what string, now time.Time) {
	if what != c.what {
		*c = activity{what, now}
	}
}

// doing is what a running turn waits for, in a few safe words; "" without one.
func (t *blockList) doing(turn int64) string {
	if turn == 0 {
		return ""
	}
	var running []string
	for i := len(t.blocks) - 1; i >= 0; i-- {
		b := t.blocks[i]
		if b.ID != "" && b.Turn != 0 && b.Turn != turn {
			break
		}
		tool := sanitize.Line(b.Call.Tool)
		switch b.State {
		case transcript.Running:
			running = append(running, tool)
		case transcript.Writing:
			return strings.TrimSpace("preparing " + tool)
		case transcript.Live:
			if b.Kind == transcript.Answer {
				return "answering"
			}
			if b.Kind == transcript.Thought {
				return "thinking"
			}
		}
	}
	switch len(running) {
	case 0:
		return "waiting for the model"
	case 1:
		return running[0]
	}
	return fmt.Sprintf("%d tools", len(running))
}

// leastReason is how many columns a reason needs to say anything.
const leastReason = 12

// statusLine says what the pod does. Without room the reason is cut first, then the last
// parts are left out.
func (a *app) statusLine() string {
	state, reason := a.state()
	lead := "── " + sanitize.Line(a.pod.GetName()) + " · " + state
	room := a.columns - 1
	text := fitting(append([]string{lead}, a.figures()...), room)
	if left := room - cells.Width(text) - len(": "); reason != "" && left >= min(leastReason, cells.Width(reason)) {
		text = lead + ": " + cells.Fit(reason, left) + strings.TrimPrefix(text, lead)
	}
	text = cells.Fit(a.setup.behind(text, room), room)
	return text + " " + strings.Repeat("─", max(a.columns-cells.Width(text)-1, 0))
}

// figures are the parts of the state line after the state.
func (a *app) figures() (parts []string) {
	if d := a.now().Sub(a.activity.since); a.activity.what != "" && d >= time.Second {
		parts = append(parts, elapsed(d))
	}
	if a.view.up {
		parts = append(parts, "scrolled up: ^End for the latest")
	}
	if n := len(a.calls.questions); n > 1 {
		parts = append(parts, fmt.Sprintf("%d calls wait", n))
	}
	if n := a.pod.GetQueued(); n > 0 {
		parts = append(parts, fmt.Sprintf("%d queued", n))
	}
	return append(parts, a.usage.parts()...)
}

// elapsed is how long something takes, in whole seconds.
func elapsed(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%d s", d/time.Second)
	}
	return view.Duration(d)
}

// state is what the pod is doing, and why, in safe words.
func (a *app) state() (state, reason string) {
	switch {
	case a.away:
		return "lost the connection to podd; retrying", ""
	case len(a.calls.questions) > 0:
		return "a call needs approval", ""
	case a.pod.GetPause() != nil:
		return "paused", "podctl resume " + sanitize.Line(a.pod.GetName())
	case a.turn != 0 && a.pod.GetState() == poddv1.PodState_POD_STATE_WAITING:
		return fmt.Sprintf("turn %d waiting", a.turn), strings.TrimPrefix(sanitize.Line(view.LocalTimes(a.pod.GetStateReason())), "waiting ")
	case a.turn != 0:
		return fmt.Sprintf("turn %d running", a.turn), a.activity.what
	}
	return strings.ToLower(strings.TrimPrefix(a.pod.GetState().String(), "POD_STATE_")), ""
}

// status is the pod's state in one line.
func (a *app) status(_ string) {
	state, reason := a.state()
	parts := append([]string{sanitize.Line(a.pod.GetName()), state}, a.figures()...)
	if reason != "" {
		parts[1] += ": " + reason
	}
	a.log.notice(plain, strings.Join(append(parts, a.setup.facts()...), " · "))
}
