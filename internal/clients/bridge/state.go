package bridge

import (
	"context"
	"encoding/json"

	"google.golang.org/protobuf/proto"

	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// sendStates writes a pod's state and its waiting calls each time that they change. It
// ignores errors: the stream itself reports them.
func (b *bridge) sendStates(ctx context.Context, id json.RawMessage, s *stream, pod string) {
	var saidPod *poddv1.Pod
	var saidCalls *poddv1.ListApprovalsResponse
	for {
		select {
		case <-s.stale:
		case <-ctx.Done():
			return
		}
		got, err := b.client.Pods().GetPod(ctx, &poddv1.GetPodRequest{Pod: pod})
		if err != nil {
			continue
		}
		calls, err := b.client.Approvals().ListApprovals(ctx, &poddv1.ListApprovalsRequest{Pod: pod})
		if err != nil {
			continue
		}
		now := withoutProgress(got.GetPod())
		if proto.Equal(now, saidPod) && proto.Equal(calls, saidCalls) {
			continue
		}
		line, err := stateLine(id, got.GetPod(), calls.GetApprovals())
		if err != nil || !b.send(ctx, line) {
			return
		}
		saidPod, saidCalls = now, calls
	}
}

// withoutProgress is a pod without the fields that change with each entry.
func withoutProgress(p *poddv1.Pod) *poddv1.Pod {
	p = proto.CloneOf(p)
	p.FirstSeq, p.LastSeq, p.LastActivity = 0, 0, nil
	return p
}

func stateLine(id json.RawMessage, pod *poddv1.Pod, calls []*poddv1.Approval) ([]byte, error) {
	s := state{Approvals: []json.RawMessage{}}
	var err error
	if s.Pod, err = wire.JSON(pod); err != nil {
		return nil, err
	}
	for _, a := range calls {
		text, err := wire.JSON(a)
		if err != nil {
			return nil, err
		}
		s.Approvals = append(s.Approvals, text)
	}
	return lineOf(stateOf{Stream: id, State: s}), nil
}
