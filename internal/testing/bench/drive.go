package main

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc"

	poddv1 "podd/proto/podd/v1"
)

// session is a pod with a stream that follows it, for one goroutine.
type session struct {
	subject *subject
	pod     string
	stream  grpc.ServerStreamingClient[poddv1.StreamResponse]
	cancel  context.CancelFunc
	// text counts the bytes of the live fragments received.
	text int
	// step, if set, is called after the n-th answer of a turn.
	step func(n int) error
}

// newPod makes a pod.
func (s *subject) newPod(ctx context.Context) (string, error) { return s.newPodIn(ctx, s.work()) }

// newPodIn makes a pod with a workspace.
func (s *subject) newPodIn(ctx context.Context, dir string) (string, error) {
	s.pods++
	name := fmt.Sprintf("bench-%d", s.pods)
	_, err := s.client.Pods().CreatePod(ctx, &poddv1.CreatePodRequest{Name: name, Spec: &poddv1.PodSpec{Dir: dir}})
	return name, err
}

// open makes a pod and follows it.
func (s *subject) open(ctx context.Context) (*session, error) {
	pod, err := s.newPod(ctx)
	if err != nil {
		return nil, err
	}
	return s.follow(ctx, pod, 0)
}

// follow opens a stream on a pod. The caller closes the session.
func (s *subject) follow(ctx context.Context, pod string, after int64) (*session, error) {
	ctx, cancel := context.WithCancel(ctx)
	stream, err := s.client.Pods().Stream(ctx, &poddv1.StreamRequest{Pod: pod, AfterSeq: after, Follow: true, Deltas: true})
	if err != nil {
		cancel()
		return nil, err
	}
	return &session{subject: s, pod: pod, stream: stream, cancel: cancel}, nil
}

// close ends the stream, which ends no turn.
func (s *session) close() { s.cancel() }

// turn runs one turn and returns the time from the submit until its end has arrived.
func (s *session) turn(ctx context.Context, prompt string) (time.Duration, error) {
	begun := time.Now()
	sent, err := s.subject.client.Submit(ctx, &poddv1.SubmitRequest{Pod: s.pod, Segments: []*poddv1.Segment{
		{Kind: &poddv1.Segment_Text{Text: &poddv1.TextSegment{Text: prompt}}},
	}})
	if err != nil {
		return 0, err
	}
	for answers := 0; ; {
		m, err := s.stream.Recv()
		if err != nil {
			return 0, err
		}
		s.text += len(m.GetDelta().GetText())
		e := m.GetEntry()
		if e.GetUsage() != nil && s.step != nil {
			answers++
			if err := s.step(answers); err != nil {
				return 0, err
			}
		}
		if end := e.GetTurnEnded(); end != nil && e.GetSeq() > sent.GetSeq() {
			if end.GetOutcome() != poddv1.Outcome_OUTCOME_FINISHED {
				return 0, fmt.Errorf("the turn ended as %s: %s", end.GetOutcome(), end.GetCause())
			}
			return time.Since(begun), nil
		}
	}
}

// freshTurn runs one turn of a new pod, whose creation is not part of the time.
func (s *subject) freshTurn(ctx context.Context, prompt string) (time.Duration, error) {
	session, err := s.open(ctx)
	if err != nil {
		return 0, err
	}
	defer session.close()
	return session.turn(ctx, prompt)
}
