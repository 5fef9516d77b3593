package pod_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
)

func greets(context.Context, scripted.Request) scripted.Reply {
	return scripted.Say(scripted.Text("hello"))
}

// While work has a pod, nothing of it runs, and other work is refused. Submits wait. The work goes on without the client
// that asked for it, and what it stores comes before the turn that waited.
func TestAlone(t *testing.T) {
	h := newHouse(t, greets)
	began, release, over := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	client, leave := context.WithCancel(t.Context())
	go func() {
		over <- h.host.Alone(client, "p", "look again", func(ctx context.Context, p *pod.Idle) error {
			close(began)
			<-release
			p.Raise(item.LevelInfo, "wing", "from the work")
			if _, err := p.Note(item.Note{Text: "a note"}); err != nil {
				t.Error(err)
			}
			now, err := p.Append(ctx, item.Checkpoint{Dir: "/w", Commit: "b", Parent: "a", By: item.ByAgent, Changed: 1})
			if err != nil || now.Files.At("/w") != "b" || p.State.Files.At("/w") != "" {
				t.Errorf("the state is %+v, before it %+v, %v", now.Files, p.State.Files, err)
			}
			return err
		})
	}()
	<-began
	s := h.submit("go")
	if !s.Queued {
		t.Error("a submit does not wait")
	}
	err := h.host.Alone(t.Context(), "p", "look again", func(context.Context, *pod.Idle) error { return nil })
	if item.ReasonOf(err) != "BUSY" || !strings.Contains(err.Error(), "then look again") {
		t.Errorf("other work: %v", err)
	}
	if _, err := h.host.Compact(t.Context(), "p"); item.ReasonOf(err) != "BUSY" || !strings.Contains(err.Error(), "at work on its files") {
		t.Errorf("a compaction: %v", err)
	}
	leave()
	if err := <-over; !errors.Is(err, context.Canceled) {
		t.Errorf("a client that left: %v", err)
	}
	close(release)
	if end := h.ended(s); end.Outcome != item.OutcomeFinished {
		t.Errorf("the turn ended with %+v", end)
	}
	var order []string
	for _, e := range h.log() {
		switch e.Kind.(type) {
		case item.AlertRaised:
			order = append(order, "alert")
		case item.Note:
			order = append(order, "note")
		case item.Checkpoint:
			order = append(order, "checkpoint")
		case item.TurnStarted:
			order = append(order, "turn")
		}
	}
	if want := []string{"alert", "note", "checkpoint", "turn"}; !slices.Equal(order, want) {
		t.Errorf("the log has %v, want %v", order, want)
	}
}

// Work that fails or panics leaves a pod that works.
func TestAloneFails(t *testing.T) {
	h := newHouse(t, greets)
	failed := errors.New("no")
	if err := h.host.Alone(t.Context(), "p", "", func(context.Context, *pod.Idle) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("an error: %v", err)
	}
	if err := h.host.Alone(t.Context(), "p", "", func(context.Context, *pod.Idle) error { panic("no") }); item.KindOf(err) != item.KindInternal {
		t.Errorf("a panic: %v", err)
	}
	if end := h.run("go"); end.Outcome != item.OutcomeFinished {
		t.Errorf("the turn ended with %+v", end)
	}
	if p, err := h.host.Get(t.Context(), "p"); err != nil || p.Status.State != item.StateIdle {
		t.Errorf("the pod is %+v, %v", p.Status, err)
	}
}

// Work ends with its pod, and with podd.
func TestAloneEnds(t *testing.T) {
	for name, end := range map[string]func(h *house){
		"deleted": func(h *house) {
			if err := h.host.Delete(h.t.Context(), "p"); err != nil {
				h.t.Error(err)
			}
		},
		"stopped": (*house).restart,
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, greets)
			began, over := make(chan struct{}), make(chan error, 1)
			host := h.host
			go func() {
				over <- host.Alone(context.Background(), "p", "", func(ctx context.Context, p *pod.Idle) error {
					running, cancel := p.Cancellable(context.Background())
					defer cancel()
					close(began)
					<-running.Done()
					<-ctx.Done()
					return context.Cause(ctx)
				})
			}()
			<-began
			end(h)
			if err := <-over; err == nil {
				t.Error("the work ended without an error")
			}
		})
	}
}

// Unfinished work of wings comes before the next turn, once each time that a pod is loaded, and its error delays that
// turn only.
func TestUnfinished(t *testing.T) {
	h := newHouse(t, greets)
	var order []string
	var asked atomic.Int32
	for _, name := range []string{"first", "second"} {
		h.host.Attach(pod.Wing{Unfinished: func(p item.Pod, s fold.State) func(context.Context, *pod.Idle) error {
			if asked.Add(1); p.Name != "p" || s.Turn.Open {
				t.Errorf("asked about %+v", p)
			}
			return func(ctx context.Context, p *pod.Idle) error {
				order = append(order, name)
				return errors.New("not possible")
			}
		}})
	}
	for range 2 {
		if end := h.run("go"); end.Outcome != item.OutcomeFinished {
			t.Errorf("the turn ended with %+v", end)
		}
	}
	if want := []string{"first", "second"}; !slices.Equal(order, want) || asked.Load() != 2 {
		t.Errorf("did %v after %d questions, want %v", order, asked.Load(), want)
	}
}
