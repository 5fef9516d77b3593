package pod

import (
	"cmp"
	"context"
	"slices"

	"podd/pkg/hook"
	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/worker"
)

// Pause holds a pod: a running turn stops at its next step, and no other begins. It
// stays so over restarts, until Resume. Reason is shown as the pod's state.
func (h *Host) Pause(ctx context.Context, idOrName, reason string) (item.Pod, error) {
	return h.change(ctx, idOrName, func(a *actor) error {
		if a.situation.pause != nil {
			return nil
		}
		return a.holdFor(ctx, item.Pause{Reason: cmp.Or(reason, "paused by a client")})
	})
}

// Resume lets a pod that is held go on. One whose last turn was interrupted gets a new
// turn that goes on with the work; any other stays as it is.
func (h *Host) Resume(ctx context.Context, idOrName string) (item.Pod, error) {
	return h.change(ctx, idOrName, func(a *actor) error {
		if a.situation.pause != nil {
			return a.lift(ctx)
		}
		if a.rec.Status.State != item.StateInterrupted {
			return nil
		}
		_, err := a.note(ctx, "The last turn was interrupted: "+a.state.Turn.Interrupted+". Go on with it.", true)
		return err
	})
}

// Notify leaves a note for the model, which joins the conversation at the next step. It
// returns the sequence of the note's entry. With wake an idle pod starts a turn for it.
func (h *Host) Notify(ctx context.Context, idOrName, text string, wake bool) (seq item.Seq, err error) {
	most := h.settings().MaxSubmitBytes
	switch {
	case text == "":
		return 0, item.Errorf(item.KindInvalid, "EMPTY_NOTE", "the note is empty: give it some text")
	case len(text) > most:
		return 0, item.Errorf(item.KindExhausted, "NOTE_TOO_LARGE", "the note has %d bytes, the limit is %d: put large text into a file", len(text), most)
	}
	_, err = h.change(ctx, idOrName, func(a *actor) error {
		seq, err = a.note(ctx, text, wake)
		return err
	})
	return seq, err
}

// change runs f in a pod's goroutine and returns the pod after it.
func (h *Host) change(ctx context.Context, idOrName string, f func(*actor) error) (item.Pod, error) {
	a, release, err := h.acquire(ctx, idOrName)
	if err != nil {
		return item.Pod{}, err
	}
	defer release()
	if err := a.waitForLast(ctx); err != nil {
		return item.Pod{}, err
	}
	doErr := a.do(ctx, func() {
		if err = a.closing; err == nil {
			err = f(a)
		}
	})
	if doErr != nil {
		return item.Pod{}, doErr
	}
	if err != nil {
		return item.Pod{}, err
	}
	return h.Get(ctx, a.id)
}

func (a *actor) note(ctx context.Context, text string, wake bool) (item.Seq, error) {
	_, entries, err := a.commit(ctx, store.Batch{Entries: []item.Entry{{Kind: item.Note{Text: text, Wake: wake}}}}, a.situation)
	if err != nil {
		return 0, err
	}
	a.next()
	return entries[0].Seq, nil
}

// holdFor stores what holds the pod from now on.
func (a *actor) holdFor(ctx context.Context, p item.Pause) error {
	s := a.situation
	s.pause, s.held = &p, false
	if _, _, err := a.commit(ctx, store.Batch{}, s); err != nil {
		return err
	}
	a.gate = make(chan struct{})
	a.tellHooks(hook.PodPaused)
	return nil
}

// lift ends the hold.
func (a *actor) lift(ctx context.Context) error {
	lifted := a.situation.pause
	s := a.situation
	s.pause, s.held = nil, false
	if _, _, err := a.commit(ctx, store.Batch{}, s); err != nil {
		return err
	}
	a.lifted = lifted
	close(a.gate)
	a.tellHooks(hook.PodResumed)
	a.next()
	return nil
}

// Hold holds the pod for an interceptor.
func (l *turnLog) Hold(ctx context.Context, p item.Pause) error {
	return l.write(ctx, true, func(ctx context.Context) error {
		if l.a.situation.pause != nil {
			return nil
		}
		return l.a.holdFor(ctx, p)
	})
}

// Joining says what joins the turn, after waiting while the pod is held.
func (l *turnLog) Joining(ctx context.Context, wait bool) (j worker.Joining, err error) {
	for {
		var gate chan struct{}
		err := l.write(ctx, true, func(ctx context.Context) error {
			if wait && l.a.situation.pause != nil {
				gate = l.a.gate
				return l.a.stopped(ctx)
			}
			gate, j = nil, l.a.joining()
			return nil
		})
		if err != nil || gate == nil {
			return j, err
		}
		select {
		case <-gate:
		case <-ctx.Done():
			return j, context.Cause(ctx)
		}
	}
}

// stopped shows that the running turn has stopped for what holds the pod.
func (a *actor) stopped(ctx context.Context) error {
	s := a.situation
	s.held = true
	_, _, err := a.commit(ctx, store.Batch{}, s)
	return err
}

// joining takes what joins the running turn now.
func (a *actor) joining() worker.Joining {
	j := worker.Joining{Steered: a.steered(), Notes: a.pendingNotes(), Lifted: a.lifted}
	a.lifted = nil
	return j
}

// joins says whether anything would join the running turn now, or holds the pod.
func (a *actor) joins() bool {
	return a.situation.pause != nil || a.lifted != nil || len(a.state.Notes) > 0 ||
		slices.ContainsFunc(a.inbox, func(s worker.Submit) bool { return s.Mode == item.ModeSteer && !a.taken[s.Seq] })
}

func (a *actor) pendingNotes() []string {
	var texts []string
	for _, n := range a.state.Notes {
		texts = append(texts, n.Text)
	}
	return texts
}

// tellHooks tells hooks of a change of the pod's life.
func (a *actor) tellHooks(c hook.PodChange) {
	a.host.hooks.Load().Pod(hook.PodEvent{Change: c, ID: a.id, Name: a.rec.Name})
}
