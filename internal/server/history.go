package server

import (
	"context"

	"podd/internal/files"
	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// ForkPod creates a pod from another pod's history.
func (s *pods) ForkPod(ctx context.Context, r *poddv1.ForkPodRequest) (*poddv1.ForkPodResponse, error) {
	f, err := s.host.Fork(ctx, r.GetPod(), r.GetName(), item.Seq(r.GetAtSeq()))
	if err != nil {
		return nil, err
	}
	return &poddv1.ForkPodResponse{Pod: wire.PodToProto(f.Pod), ChangedFiles: wire.ValidAll(f.Files), Commands: int32(f.Commands)}, nil
}

// RewindPod rewinds a pod's history to an earlier entry.
func (s *pods) RewindPod(ctx context.Context, r *poddv1.RewindPodRequest) (*poddv1.RewindPodResponse, error) {
	if r.GetFiles() {
		out, back, err := s.files.Rewind(ctx, r.GetPod(), files.Back{After: item.Seq(r.GetToSeq()), Skip: r.GetSkip(), Merge: r.GetMerge()})
		if err != nil {
			return nil, err
		}
		return &poddv1.RewindPodResponse{Seq: int64(out.Seq), Restored: back.ToProto()}, nil
	}
	out, err := s.host.Rewind(ctx, r.GetPod(), item.Seq(r.GetToSeq()))
	if err != nil {
		return nil, err
	}
	return &poddv1.RewindPodResponse{Seq: int64(out.Seq), ChangedFiles: wire.ValidAll(out.Files), Commands: int32(out.Commands)}, nil
}
