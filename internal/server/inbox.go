package server

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// ListInbox lists the queued submits.
func (s *pods) ListInbox(ctx context.Context, r *poddv1.ListInboxRequest) (*poddv1.ListInboxResponse, error) {
	list, err := s.host.Inbox(ctx, r.GetPod())
	if err != nil {
		return nil, err
	}
	answer := &poddv1.ListInboxResponse{Items: make([]*poddv1.InboxItem, len(list))}
	for i, it := range list {
		answer.Items[i] = &poddv1.InboxItem{
			Seq: int64(it.Seq), RequestId: it.RequestID, Mode: wire.SubmitModeToProto(it.Mode),
			Text: it.Text, Time: timestamppb.New(it.Time),
		}
	}
	return answer, nil
}

// CancelInboxItem removes a queued submit.
func (s *pods) CancelInboxItem(ctx context.Context, r *poddv1.CancelInboxItemRequest) (*poddv1.CancelInboxItemResponse, error) {
	if err := s.host.Withdraw(ctx, r.GetPod(), r.GetRequestId()); err != nil {
		return nil, err
	}
	return &poddv1.CancelInboxItemResponse{}, nil
}
