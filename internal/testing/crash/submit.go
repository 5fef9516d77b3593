package crash

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"podd/pkg/client"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// submitter submits jobs to one pod, each until it is acknowledged.
type submitter struct {
	pod    string
	client *client.Client

	mu    sync.Mutex
	acked []ack
	// open are submits without an answer.
	open  []ack
	wrong []string
	count int
	// refused counts the times that podd had no space.
	refused int
	// deeds are the acts on the pod.
	deeds []deed
}

// ack is a submit that podd acknowledged.
type ack struct {
	id, text string
	mode     poddv1.SubmitMode
	seq      int64
	// from is when the client asked, until when it knew.
	from, until time.Time
}

// submit sends a prompt until podd has it; it returns false when ctx ends first.
func (s *submitter) submit(ctx context.Context, text string) bool {
	return s.submitAs(ctx, text, poddv1.SubmitMode_SUBMIT_MODE_QUEUE)
}

// submitAs is submit in a mode.
func (s *submitter) submitAs(ctx context.Context, text string, mode poddv1.SubmitMode) bool {
	s.mu.Lock()
	s.count++
	id := fmt.Sprintf("%s-request-%d", s.pod, s.count)
	s.mu.Unlock()
	a := ack{id: id, text: text, mode: mode, from: time.Now()}
	var ok bool
	a.seq, ok = s.send(ctx, a)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !ok {
		s.open = append(s.open, a)
		return false
	}
	a.until = time.Now()
	s.acked = append(s.acked, a)
	return true
}

// took notes a submit that somebody else made and podd acknowledged.
func (s *submitter) took(a ack) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acked = append(s.acked, a)
}

// send sends a request until it has a final answer.
func (s *submitter) send(ctx context.Context, a ack) (seq int64, ok bool) {
	for ctx.Err() == nil {
		resp, err := s.client.Submit(ctx, a.request(s.pod))
		switch {
		case err == nil:
			return resp.GetSeq(), true
		case ctx.Err() != nil:
			return 0, false
		case item.KindOf(err) != item.KindUnavailable && item.KindOf(err) != item.KindExhausted:
			s.complain("submit %s: %v", a.id, err)
			return 0, false
		case item.KindOf(err) == item.KindExhausted:
			s.refuse()
			pause(ctx, 20*retryPause)
		}
		pause(ctx, retryPause)
	}
	return 0, false
}

// resubmit sends an acknowledged submit once more, and once with other content: podd must
// return the first answer, and a refusal.
func (s *submitter) resubmit(ctx context.Context, a ack) {
	if seq, ok := s.send(ctx, a); ok && seq != a.seq {
		s.complain("request %s was acknowledged with seq %d, and with %d when it was sent again", a.id, a.seq, seq)
	}
	a.text += " and more"
	for ctx.Err() == nil {
		_, err := s.client.Submit(ctx, a.request(s.pod))
		switch {
		case err == nil:
			s.complain("request %s was acknowledged with another content", a.id)
			return
		case item.KindOf(err) == item.KindExists, ctx.Err() != nil:
			return
		case item.KindOf(err) != item.KindUnavailable && item.KindOf(err) != item.KindExhausted:
			s.complain("request %s with another content: %v", a.id, err)
			return
		}
		pause(ctx, retryPause)
	}
}

func (a ack) request(pod string) *poddv1.SubmitRequest {
	return &poddv1.SubmitRequest{Pod: pod, RequestId: a.id, Mode: a.mode, Segments: []*poddv1.Segment{
		{Kind: &poddv1.Segment_Text{Text: &poddv1.TextSegment{Text: a.text}}},
	}}
}

func (s *submitter) complain(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wrong = append(s.wrong, s.pod+": "+fmt.Sprintf(format, args...))
}

// did notes a deed.
func (s *submitter) did(d deed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deeds = append(s.deeds, d)
}

func (s *submitter) refuse() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused++
}

func (s *submitter) refusals() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused
}

// done are the recorded deeds.
func (s *submitter) done() []deed {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.deeds)
}

// mayCancel says whether a cancel had no answer.
func (s *submitter) mayCancel() bool {
	return slices.ContainsFunc(s.done(), func(d deed) bool { return d.act == "cancel" && !d.sure })
}

// all are the acknowledged submits.
func (s *submitter) all() []ack {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]ack(nil), s.acked...)
}

// waiting is how many of them no turn has taken yet.
func (s *submitter) waiting(f *follower) int {
	n := 0
	for _, a := range s.all() {
		if !f.took(a.id) {
			n++
		}
	}
	return n
}

// writes are the submits and notes, with and without an answer.
func (s *submitter) writes() (all []write) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range slices.Concat(s.acked, s.open) {
		all = append(all, write{a.id, a.from, a.until})
	}
	for _, d := range s.deeds {
		if d.act != "note" {
			continue
		}
		w := write{key: d.mark, from: d.from}
		if d.sure {
			w.until = d.at
		}
		all = append(all, w)
	}
	return all
}
