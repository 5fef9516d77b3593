package server

import (
	"cmp"
	"context"

	"podd/internal/fleet"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// Cancel cancels the running turn.
func (s *pods) Cancel(ctx context.Context, r *poddv1.CancelRequest) (*poddv1.CancelResponse, error) {
	turn, cancelled, err := s.host.Cancel(ctx, r.GetPod(), r.GetReason())
	if err != nil {
		return nil, err
	}
	return &poddv1.CancelResponse{Cancelled: cancelled, Turn: turn}, nil
}

// Pause pauses a pod at its next step.
func (s *pods) Pause(ctx context.Context, r *poddv1.PauseRequest) (*poddv1.PauseResponse, error) {
	reason := r.GetReason()
	if by := fleet.UserOf(ctx, s.user); reason == "" && by != "" {
		reason = "paused by " + by
	}
	p, err := s.host.Pause(ctx, r.GetPod(), reason)
	if err != nil {
		return nil, err
	}
	return &poddv1.PauseResponse{Pod: wire.PodToProto(p)}, nil
}

// Resume resumes a pod.
func (s *pods) Resume(ctx context.Context, r *poddv1.ResumeRequest) (*poddv1.ResumeResponse, error) {
	p, err := s.host.Resume(ctx, r.GetPod())
	if err != nil {
		return nil, err
	}
	return &poddv1.ResumeResponse{Pod: wire.PodToProto(p)}, nil
}

// Notify writes a letter.
func (s *pods) Notify(ctx context.Context, r *poddv1.NotifyRequest) (*poddv1.NotifyResponse, error) {
	seq, err := s.letters.Notify(ctx, r, cmp.Or(fleet.UserOf(ctx, s.user), "a person"))
	if err != nil {
		return nil, err
	}
	return &poddv1.NotifyResponse{Seq: int64(seq)}, nil
}
