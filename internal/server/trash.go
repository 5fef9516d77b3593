package server

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// DeletePod moves a pod to the trash, or removes it for good.
func (s *pods) DeletePod(ctx context.Context, r *poddv1.DeletePodRequest) (*poddv1.DeletePodResponse, error) {
	if r.GetCheckout() {
		at, err := s.checkouts.Delete(ctx, r.GetPod(), r.GetDrop(), r.GetNow())
		return deleted(at), err
	}
	if len(r.GetDrop()) > 0 {
		return nil, item.Errorf(item.KindInvalid, "BAD_DROP", "drop is for the removal of a checkout: set checkout too, or leave drop out")
	}
	return s.delete(ctx, r)
}

// deleted is the answer about a pod that can be restored until a time; zero if it cannot.
func deleted(at time.Time) *poddv1.DeletePodResponse {
	if at.IsZero() {
		return &poddv1.DeletePodResponse{}
	}
	return &poddv1.DeletePodResponse{PurgeAt: timestamppb.New(at)}
}

// delete deletes a pod and leaves its checkout.
func (s *pods) delete(ctx context.Context, r *poddv1.DeletePodRequest) (*poddv1.DeletePodResponse, error) {
	stays := wire.Valid(s.checkouts.Stays(ctx, r.GetPod()))
	if r.GetNow() {
		err := s.host.Delete(ctx, r.GetPod())
		if item.ReasonOf(err) == store.ReasonPodNotFound {
			if purged := s.trash.Purge(ctx, r.GetPod()); item.ReasonOf(purged) != store.ReasonPodNotFound {
				err = purged
			}
		}
		return &poddv1.DeletePodResponse{Checkout: stays}, err
	}
	at, err := s.trash.Discard(ctx, r.GetPod())
	answer := deleted(at)
	answer.Checkout = stays
	return answer, err
}

// ListTrash lists the deleted pods.
func (s *pods) ListTrash(ctx context.Context, _ *poddv1.ListTrashRequest) (*poddv1.ListTrashResponse, error) {
	list, err := s.trash.List(ctx)
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
	p, err := s.trash.Restore(ctx, r.GetPod(), r.GetName())
	if err != nil {
		return nil, err
	}
	return &poddv1.RestorePodResponse{Pod: wire.PodToProto(p)}, nil
}
