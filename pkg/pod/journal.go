package pod

import (
	"context"
	"log/slog"
	"time"

	"podd/pkg/fold"
	"podd/pkg/hook"
	"podd/pkg/item"
	"podd/pkg/live"
	"podd/pkg/store"
	"podd/pkg/worker"
)

// journal is a pod's log, its record and its state. Nothing else writes the log: what is
// not committed here has not happened. It belongs to the pod's goroutine; others read
// live and presence.
type journal struct {
	store     store.Store
	listeners *listeners
	log       *slog.Logger
	now       func() time.Time
	// base is the context of work that no client waits for.
	base     context.Context
	live     *live.Broadcast
	presence *presence

	id    string
	rec   item.Pod
	epoch store.Epoch
	state fold.State
	// carried is the content of the next request.
	carried   *fold.Context
	situation situation
	// waiters are closed once such a question is closed.
	waiters map[question]chan struct{}
	// broken is set when a message panicked: the pod's state in memory may differ from what
	// is stored, so nothing more is stored.
	broken error
}

// stands is the pod's state, for a turn.
func (j *journal) stands() worker.Now { return worker.Now{State: j.state, Next: j.carried.Next()} }

// answer commits the answer to an open question.
func (j *journal) answer(ctx context.Context, q *fold.Question, r item.ApprovalResolved) error {
	_, _, err := j.commit(ctx, store.Batch{Entries: []item.Entry{{Turn: q.Turn, Kind: r}}})
	return err
}

// expire denies a call whose question has expired, or withdraws its form.
func (j *journal) expire(ctx context.Context, q *fold.Question) error {
	return j.answer(ctx, q, item.ApprovalResolved{
		CallID: q.CallID, Key: q.Key, Withdrawn: q.Form != nil, By: "podd", Reason: "expired without an answer at " + q.Expires.Format(time.RFC3339),
	})
}

// publish shows the waiting calls and the pod's work to those who do not wait for the
// pod, and wakes the waiters for a closed question.
func (j *journal) publish() {
	j.presence.now.Store(&published{j.rec.Last, waiting(&j.state.Turn, j.id, j.rec.Name), StandingOf(&j.state, j.carried)})
	for is, closed := range j.waiters {
		if q := is.in(&j.state.Turn); q == nil || !q.IsOpen() {
			close(closed)
			delete(j.waiters, is)
		}
	}
}

// closed is closed once a question is; nil means that it already is.
func (j *journal) closed(is question) <-chan struct{} {
	if q := is.in(&j.state.Turn); q == nil || !q.IsOpen() {
		return nil
	}
	if j.waiters[is] == nil {
		j.waiters[is] = make(chan struct{})
	}
	return j.waiters[is]
}

// quarantine marks a pod whose log can't be read to the end and raises an alert. It
// returns the error of the damage.
func (j *journal) quarantine(ctx context.Context, damage error) error {
	if j.rec.Status.State == item.StateQuarantined {
		return damage
	}
	status := j.rec.Status
	status.State, status.Reason, status.Jobs, status.Approvals = item.StateQuarantined, damage.Error(), 0, 0
	if _, err := j.store.Append(ctx, store.Batch{Pod: j.id, Epoch: j.epoch, Status: &status}); err != nil {
		return err
	}
	alert, err := j.store.RaiseAlert(ctx, item.Alert{
		Pod: j.id, Level: item.LevelError, Source: "store", Text: damage.Error(), Time: j.now(), Count: 1,
	})
	if err != nil {
		return err
	}
	j.listeners.announce(j.id, nil, []item.Alert{alert})
	return damage
}

// changed reports a change of the pod's life to hooks.
func (j *journal) changed(c hook.PodChange) {
	j.listeners.changed(c, j.id, j.rec.Name)
}

// leaveTurn records that a turn waits for the next podd, and so did not cause this one's
// end.
func (j *journal) leaveTurn() {
	s := j.situation
	if s.waiting == "" {
		s.waiting = "resumes when podd restarts"
	}
	if err := j.situate(j.base, s); err != nil {
		j.log.Warn("cannot store the turn's state", "error", err)
	}
}

// raise stores an alert of the pod. It logs one that can't be stored.
func (j *journal) raise(level item.Level, source, text string) {
	if err := j.alert(level, source, text); err != nil {
		j.log.Error("cannot store an alert", "text", text, "error", err)
	}
}

func (j *journal) alert(level item.Level, source, text string) error {
	alert := item.Alert{Pod: j.id, Level: level, Source: source, Text: text, Time: j.now()}
	_, _, err := j.commit(j.base, store.Batch{Entries: []item.Entry{{Kind: item.AlertRaised{Alert: alert}}}})
	return err
}

// rename stores another name, and shows it to those who do not wait for the pod.
func (j *journal) rename(ctx context.Context, name string) error {
	if err := j.store.RenamePod(ctx, j.id, name); err != nil {
		return err
	}
	j.rec.Name = name
	j.publish()
	j.changed(hook.PodRenamed)
	return nil
}

// setSpec stores a valid spec and follows it from now on.
func (j *journal) setSpec(ctx context.Context, spec item.PodSpec, use func()) error {
	if err := j.store.UpdateSpec(ctx, j.id, spec); err != nil {
		return err
	}
	j.rec.Spec = spec
	if now, err := j.store.Pod(ctx, j.id); err == nil {
		j.rec.Movable = now.Movable
	}
	use()
	return nil
}
