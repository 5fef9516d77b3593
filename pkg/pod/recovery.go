package pod

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"podd/pkg/item"
)

// Recover loads each pod that was left in the middle of a turn or has something to do:
// its turn resumes, its submits run. A damaged one is loaded so that its commands end, and those of
// a pod that another node has end too. It retries one that can't be loaded now, for lack of
// space. When ctx ends it stops between two pods.
func (h *Host) Recover(ctx context.Context) error {
	pods, err := h.Store.Pods(ctx)
	if err != nil {
		return err
	}
	var ours []item.Pod
	for _, p := range pods {
		if p.Node != h.Node {
			h.Workspaces.Abandon(p.ID, false) // It was moved: nobody waits for what it started here.
			continue
		}
		if p.Spec.Checkout != (item.Checkout{}) {
			h.Workspaces.Abandon(p.ID, true)
		}
		ours = append(ours, p)
	}
	found, err := h.continueWith(ctx, ours, h.report)
	h.report(found)
	return err
}

// Continue loads those pods of this podd that were left in the middle of a turn or have something to do. It retries one
// that can't be loaded now. When ctx ends it stops between two pods.
func (h *Host) Continue(ctx context.Context, pods ...item.Pod) error {
	_, err := h.continueWith(ctx, pods, func([]left) {})
	return err
}

// continueWith returns what it found in the pods that it loaded; late gets that of those that are loaded later.
func (h *Host) continueWith(ctx context.Context, pods []item.Pod, late func([]left)) (found []left, _ error) {
	var again []item.Pod
	for _, p := range pods {
		if !unfinished(p) {
			continue
		}
		l, err := h.recover(ctx, p)
		if ctx.Err() != nil {
			return found, context.Cause(ctx)
		}
		if err != nil {
			h.Logger.Error("cannot recover a pod", "pod", p.ID, "name", p.Name, "error", err)
		} else {
			found = append(found, l)
		}
		if passes(err) {
			again = append(again, p)
			h.pods.setLate(p.ID, err)
		}
	}
	if len(again) == 0 {
		return found, nil
	}
	return found, h.pods.unlessClosing(func() { h.pods.work.Go(func() { late(h.recoverLate(again)) }) })
}

// unfinished says whether a stored pod was in the middle of a turn or has something to do.
func unfinished(p item.Pod) bool {
	switch p.Status.State {
	case item.StateRunning, item.StateWaiting, item.StateResuming, item.StatePaused, item.StateQuarantined:
		return true
	}
	return p.Queued > 0 || p.Status.Jobs > 0 || p.Status.Pending > 0
}

// recover loads a pod, which then continues by itself.
func (h *Host) recover(ctx context.Context, p item.Pod) (left, error) {
	a, release, err := h.pods.acquire(ctx, p.ID)
	if err != nil {
		return left{}, err
	}
	defer release()
	h.Logger.Info("pod recovered", "pod", a.id, "name", p.Name)
	l := a.left
	l.queued = p.Queued
	return l, nil
}

// passes says whether a pod that can't be loaded may be loaded later.
func passes(err error) bool {
	switch item.KindOf(err) {
	case item.KindDataLoss, item.KindNotFound:
		return false
	}
	return err != nil && !elsewhere(err)
}

// recoverLate retries loading pods until each is loaded or never can be, or the Host
// ends. It returns what it found in them.
func (h *Host) recoverLate(pods []item.Pod) (found []left) {
	for wait := stuckFirst; len(pods) > 0; wait = min(2*wait, stuckMost) {
		if !h.pods.sleep(wait) {
			return found
		}
		pods = slices.DeleteFunc(pods, func(p item.Pod) bool {
			l, err := h.recover(h.base, p)
			if passes(err) {
				h.pods.setLate(p.ID, err)
				return false
			}
			if err == nil {
				found = append(found, l)
			}
			h.pods.setLate(p.ID, nil)
			return true
		})
	}
	return found
}

// left is what an earlier podd left of a pod.
type left struct {
	name string
	// open says that a turn was open, paused that it goes on only when a person resumes it, asks that a call waits
	// for a person.
	open, paused, asks bool
	// held says that a person or an interceptor paused it.
	held bool
	// calls are the tools of the calls that podd's end interrupted.
	calls []string
	// queued counts the waiting submits.
	queued int
}

// report raises one alert about all pods that go on after a start, or wait.
func (h *Host) report(found []left) {
	if text, level := leftText(found); text != "" {
		h.Alerts.Raise(level, "recovery", text)
	}
}

// leftText says what goes on, what waits, and what was interrupted; empty if an earlier podd left nothing.
func leftText(found []left) (string, item.Level) {
	level := item.LevelInfo
	var resumed, asks, paused, queued []string
	for _, l := range found {
		shown := l.name
		if len(l.calls) > 0 {
			shown += " (interrupted: " + listed(l.calls) + ")"
			level = item.LevelWarn
		}
		switch {
		case l.paused:
			paused, level = append(paused, shown), item.LevelWarn
		case l.asks:
			asks = append(asks, shown)
		case l.open:
			resumed = append(resumed, shown)
		}
		if l.queued > 0 && !l.paused && !l.asks && !l.held {
			queued = append(queued, fmt.Sprintf("%s (%d)", l.name, l.queued))
		}
	}
	text := "podd started again"
	for _, part := range []struct {
		what string
		pods []string
	}{
		{"turns go on in ", resumed},
		{"waiting for an answer: ", asks},
		{"paused until podctl resume --all: ", paused},
		{"queued submits run in ", queued},
	} {
		if len(part.pods) > 0 {
			text += "; " + part.what + listed(part.pods)
		}
	}
	if len(resumed)+len(asks)+len(paused)+len(queued) == 0 {
		return "", level
	}
	return text, level
}

// maxNamed is how many names an alert has.
const maxNamed = 8

// listed is a list for people.
func listed(names []string) string {
	more := ""
	if n := len(names) - maxNamed; n > 0 {
		names, more = names[:maxNamed], fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(names, ", ") + more
}

// lookBack notes what an earlier podd left, and pauses a turn that lay still for too long. A turn that waits for a
// person goes on with the answer.
func (a *actor) lookBack(ctx context.Context) error {
	t, last := &a.journal.state.Turn, a.journal.rec.Status.LastActivity
	pause := a.journal.situation.pause
	asks, _ := t.Asks()
	a.left = left{name: a.journal.rec.Name, asks: asks > 0, open: t.Open && (pause == nil || pause.ByItself()), paused: t.Open && pause.FromStart(), held: pause != nil && !pause.ByItself()}
	for _, c := range t.Calls {
		if c.Started != nil && !t.Waits(c.CallID) {
			a.left.calls = append(a.left.calls, c.Name)
		}
	}
	within, still := a.host.settings().ResumeWithin, a.host.Now().Sub(last)
	if within == 0 || !t.Open || a.left.asks || pause != nil || still < within || !last.Before(a.host.started) {
		return nil
	}
	a.left.paused = true
	return a.holdFor(ctx, item.Pause{By: item.PausedByStart, Reason: fmt.Sprintf(
		"podd started when turn %d had lain still for %s; podctl resume continues it", t.Number, still.Round(time.Second))})
}
