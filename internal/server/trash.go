package server

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	"podd/internal/wire"
	"podd/pkg/item"
	"podd/pkg/store"
	poddv1 "podd/proto/podd/v1"
)

// DeletePod moves a pod to the trash, or removes it for good.
func (s *pods) DeletePod(ctx context.Context, r *poddv1.DeletePodRequest) (*poddv1.DeletePodResponse, error) {
	if r.GetNow() {
		err := s.host.Delete(ctx, r.GetPod())
		if item.ReasonOf(err) == store.ReasonPodNotFound {
			if purged := s.host.Trash.Purge(ctx, r.GetPod()); item.ReasonOf(purged) != store.ReasonPodNotFound {
				err = purged
			}
		}
		return &poddv1.DeletePodResponse{}, err
	}
	at, err := s.host.Trash.Put(ctx, r.GetPod())
	if err != nil || at.IsZero() {
		return &poddv1.DeletePodResponse{}, err
	}
	return &poddv1.DeletePodResponse{PurgeAt: timestamppb.New(at)}, nil
}

// ListTrash lists the deleted pods.
func (s *pods) ListTrash(ctx context.Context, _ *poddv1.ListTrashRequest) (*poddv1.ListTrashResponse, error) {
	list, err := s.host.Trash.List(ctx)
	if err != nil {
		return nil, err
	}
	answer := &poddv1.ListTrashResponse{}
	for _, p := range list {
		t := &poddv1.TrashedPod{Pod: wire.PodToProto(p.Pod), DeletedAt: timestamppb.New(p.At), PurgeAt: timestamppb.New(p.PurgeAt)}
		if p.With != p.ID {
			t.DeletedWith = p.With
		}
		answer.Pods = append(answer.Pods, t)
	}
	return answer, nil
}

// RestorePod brings a deleted pod back.
func (s *pods) RestorePod(ctx context.Context, r *poddv1.RestorePodRequest) (*poddv1.RestorePodResponse, error) {
	p, err := s.host.Trash.Restore(ctx, r.GetPod(), r.GetName())
	if err != nil {
		return nil, err
	}
	return &poddv1.RestorePodResponse{Pod: wire.PodToProto(p)}, nil
}
