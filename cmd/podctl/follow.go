package main

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"

	"podd/internal/clients/view"
	"podd/pkg/client"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// follow shows the turn that takes a submit until it ends, and asks about the calls that
// wait for approval meanwhile. As JSON it prints the response first and then each message
// of the stream.
func (s *session) follow(ctx context.Context, resp *poddv1.SubmitResponse, onlyLast bool, onAsk string) error {
	f := &following{session: s, id: podID(ctx, s.Client, s.pod), show: func(*poddv1.StreamResponse) error { return nil }}
	console := s.console()
	if s.output == outputJSON {
		// The turn is still followed, to know how it ends.
		console = view.Console{Out: io.Discard, Err: io.Discard}
		f.show = func(m *poddv1.StreamResponse) error { return s.printJSON(m) }
		if err := s.printJSON(resp); err != nil {
			return err
		}
	}
	f.turn = view.NewTurn(console, resp.GetRequestId())
	if onlyLast {
		f.turn.OnlyLast()
	}
	f.asking = newAsking(s, f.id, f.turn, resp, onAsk)
	err := f.run(ctx, resp.GetSeq())
	if closeErr := f.turn.Close(); err == nil {
		err = closeErr
	}
	if err != nil && ctx.Err() != nil {
		return f.left(max(f.turn.Seq(), resp.GetSeq()), resp.GetRequestId())
	}
	if err != nil {
		return err
	}
	if f.turn.Withdrawn() {
		return turnError{}
	}
	number, end := f.turn.Ended()
	if end.Outcome != item.OutcomeFinished {
		if hint := keyHint(s.env, *end); hint != "" && !s.at.remote() {
			s.warn([]string{hint})
		}
		return turnError{number, *end}
	}
	if denied := append(f.turn.Denied(), f.asking.denied...); len(denied) > 0 {
		return deniedError{number, denied}
	}
	return nil
}

// left says how to continue to follow, and how to end, a turn or a prompt that is queued.
func (f *following) left(at int64, requestID string) error {
	turn, end := "the prompt is queued", "remove it with podctl inbox rm "+f.pod+" "+requestID
	if number, _ := f.turn.Ended(); number != 0 {
		turn, end = fmt.Sprintf("turn %d keeps running", number), "cancel it with podctl cancel "+f.pod
	}
	return interrupted(fmt.Sprintf("interrupted: %s; follow it with podctl tail -f %s --after %d or %s", turn, f.pod, at, end))
}

// following is a turn that is followed.
type following struct {
	*session
	// id is the pod, which stays when it gets another name.
	id     string
	turn   *view.Turn
	show   func(*poddv1.StreamResponse) error
	asking *asking
}

// event is a message of the stream, or why the stream was lost.
type event struct {
	message *poddv1.StreamResponse
	lost    error
}

// run shows the stream until the turn ends or an error occurs.
func (f *following) run(ctx context.Context, after int64) error {
	ctx, cancel := context.WithCancel(ctx)
	var reader sync.WaitGroup
	defer reader.Wait()
	defer cancel()
	defer f.asking.close()
	events := make(chan event)
	var failed error
	reader.Go(func() {
		defer close(events)
		failed = f.read(ctx, after, events)
	})
	var pods chan podsEvent
	for {
		if pods == nil && f.asking.family.fleet != nil {
			pods = make(chan podsEvent)
			reader.Go(func() { f.watch(ctx, pods) })
		}
		select {
		case e, ok := <-events:
			if !ok {
				return failed
			}
			if done, err := f.handle(ctx, e); err != nil || done {
				return err
			}
		case e := <-pods:
			if f.handlePods(ctx, e); f.asking.unanswered != nil {
				return f.asking.unanswered
			}
		case typed := <-f.asking.typed:
			f.asking.answered(ctx, typed)
		}
	}
}

// podsEvent is a message of the watch of all pods, that it was lost, or why it ended.
type podsEvent struct {
	message *poddv1.WatchResponse
	failed  error
}

// watch forwards what changes of all pods.
func (f *following) watch(ctx context.Context, events chan<- podsEvent) {
	send := func(e podsEvent) bool {
		select {
		case events <- e:
			return true
		case <-ctx.Done():
			return false
		}
	}
	for m, err := range f.Watch(ctx, &poddv1.WatchRequest{}, func(error) { send(podsEvent{}) }) {
		if !send(podsEvent{m, err}) {
			return
		}
	}
}

// handlePods looks at one event of the watch for questions of sub-pods.
func (f *following) handlePods(ctx context.Context, e podsEvent) {
	switch {
	case e.failed != nil && f.asking.passing(ctx, e.failed):
	case e.failed != nil:
		f.asking.told.Warn("cannot see the questions of sub-pods: " + e.failed.Error() + "; " + f.asking.reaching("podctl approvals lists them"))
	case e.message == nil:
		f.asking.family.fleet.Lost() // The stream reports it.
	default:
		f.asking.changed(ctx, e.message)
	}
}

// read forwards the stream's messages, so that run can take answers in between.
func (f *following) read(ctx context.Context, after int64, events chan<- event) error {
	send := func(e event) error {
		select {
		case events <- e:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	stream := f.Stream(ctx, client.StreamOptions{
		Pod: f.id, After: after, Follow: true, Deltas: true,
		Lost: func(err error) { _ = send(event{lost: err}) }, // The stream ends with ctx.
	})
	for m, err := range stream {
		if err == nil {
			err = send(event{message: m})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// handle shows one event. done says that the turn has ended.
func (f *following) handle(ctx context.Context, e event) (done bool, err error) {
	if e.lost != nil {
		f.turn.Lost(e.lost)
		f.asking.lost()
		return false, nil
	}
	if err := f.show(e.message); err != nil {
		return false, err
	}
	done, err = f.turn.Show(e.message)
	if err != nil || done {
		return done, err
	}
	f.asking.observe(ctx, e.message)
	if e.message.GetCaughtUp() != nil {
		f.explainWait(ctx)
	}
	return false, f.asking.unanswered
}

// explainWait warns when the turn does not start because the pod is paused.
func (f *following) explainWait(ctx context.Context) {
	if number, _ := f.turn.Ended(); number != 0 {
		return
	}
	resp, err := f.Pods().GetPod(ctx, &poddv1.GetPodRequest{Pod: f.id})
	if err == nil && resp.GetPod().GetPause() != nil {
		f.asking.told.Warn(f.asking.reaching(fmt.Sprintf("the pod is on hold (%s); resume it with podctl resume %s", resp.GetPod().GetPause().GetReason(), f.pod)))
	}
}

// variable is the name of an environment variable, as keys have.
var variable = regexp.MustCompile(`\b[A-Z][A-Z0-9_]*_KEY\b`)

// keyHint says so if a turn ended because podd has no key and this shell has it; otherwise it
// is empty.
func keyHint(env func(string) string, end item.TurnEnded) string {
	if end.Reason != "NO_API_KEY" && !strings.Contains(end.Cause, "none is set") {
		return ""
	}
	for _, name := range variable.FindAllString(end.Cause, -1) {
		if env(name) != "" {
			return fmt.Sprintf("%s is set in this shell, but podd was started without it: stop podd and start it again from here", name)
		}
	}
	return ""
}
