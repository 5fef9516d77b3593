package main

import (
	"context"
	"sync"

	"go.etcd.io/bbolt"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	poddv1 "podd/proto/podd/v1"
)

// service is the part of podd's protocol that a turn needs.
type service struct {
	poddv1.UnimplementedPodServiceServer
	host *host
}

func (s *store) specs() (map[string]*poddv1.PodSpec, error) {
	found := map[string]*poddv1.PodSpec{}
	err := s.db.View(func(tx *bbolt.Tx) error {
		return tx.Bucket(podsBucket).ForEach(func(k, v []byte) error {
			spec := &poddv1.PodSpec{}
			found[string(k)] = spec
			return proto.Unmarshal(v, spec)
		})
	})
	return found, err
}

// CreatePod makes a pod.
func (s *service) CreatePod(_ context.Context, req *poddv1.CreatePodRequest) (*poddv1.CreatePodResponse, error) {
	record, err := proto.Marshal(req.GetSpec())
	if err != nil {
		return nil, err
	}
	if err := s.host.store.put(podsBucket, [][]byte{[]byte(req.GetName())}, [][]byte{record}); err != nil {
		return nil, err
	}
	s.host.mu.Lock()
	defer s.host.mu.Unlock()
	s.host.pods[req.GetName()] = &pod{host: s.host, name: req.GetName(), spec: req.GetSpec()}
	return &poddv1.CreatePodResponse{Pod: &poddv1.Pod{Name: req.GetName(), Spec: req.GetSpec()}}, nil
}

func (s *service) pod(name string) (*pod, error) {
	s.host.mu.Lock()
	p := s.host.pods[name]
	s.host.mu.Unlock()
	if p == nil {
		return nil, status.Error(codes.NotFound, "there is no such pod")
	}
	return p, p.start()
}

// Submit answers once the input is on disk.
func (s *service) Submit(ctx context.Context, req *poddv1.SubmitRequest) (*poddv1.SubmitResponse, error) {
	p, err := s.pod(req.GetPod())
	if err != nil {
		return nil, err
	}
	in := submit{seq: make(chan submitted, 1)}
	for _, segment := range req.GetSegments() {
		in.text += segment.GetText().GetText()
	}
	select {
	case p.inbox <- in:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	done := <-in.seq
	return &poddv1.SubmitResponse{Seq: done.seq, RequestId: req.GetRequestId()}, done.err
}

// subscriber is one stream: the text in flight that it has not sent yet.
type subscriber struct {
	wake chan struct{}

	mu      sync.Mutex
	block   string
	pending []byte
}

func (s *subscriber) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// publish passes a fragment to the subscribers; a slow one gets larger pieces.
func (p *pod) publish(block, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for s := range p.subs {
		s.mu.Lock()
		s.block = block
		s.pending = append(s.pending, text...)
		s.mu.Unlock()
		s.signal()
	}
}

// next returns the pending text.
func (s *subscriber) next() *poddv1.StreamResponse {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pending) == 0 {
		return nil
	}
	d := &poddv1.Delta{Block: s.block, Kind: poddv1.DeltaKind_DELTA_KIND_TEXT, Text: string(s.pending)}
	s.pending = s.pending[:0]
	return &poddv1.StreamResponse{Kind: &poddv1.StreamResponse_Delta{Delta: d}}
}

// Stream sends the log above a sequence and follows it.
func (s *service) Stream(req *poddv1.StreamRequest, stream grpc.ServerStreamingServer[poddv1.StreamResponse]) error {
	p, err := s.pod(req.GetPod())
	if err != nil {
		return err
	}
	sub := &subscriber{wake: make(chan struct{}, 1)}
	p.mu.Lock()
	if p.subs == nil {
		p.subs = map[*subscriber]bool{}
	}
	p.subs[sub] = true
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.subs, sub)
	}()
	for after := req.GetAfterSeq(); ; {
		if m := sub.next(); m != nil && req.GetDeltas() {
			if err := stream.Send(m); err != nil {
				return err
			}
		}
		if after, err = s.send(p, after, stream); err != nil || !req.GetFollow() {
			return err
		}
		select {
		case <-sub.wake:
		case <-stream.Context().Done():
			return stream.Context().Err()
		case <-s.host.ctx.Done():
			return status.Error(codes.Unavailable, "the floor stops")
		}
	}
}

// send sends the entries above a sequence.
func (s *service) send(p *pod, after int64, stream grpc.ServerStreamingServer[poddv1.StreamResponse]) (int64, error) {
	p.mu.Lock()
	last := p.seq
	p.mu.Unlock()
	for after < last {
		records, err := s.host.store.entries(p.name, after)
		if err != nil || len(records) == 0 {
			return after, err
		}
		for _, record := range records {
			e := &poddv1.Entry{}
			if err := proto.Unmarshal(record, e); err != nil {
				return after, err
			}
			if err := stream.Send(&poddv1.StreamResponse{Kind: &poddv1.StreamResponse_Entry{Entry: e}}); err != nil {
				return after, err
			}
			after = e.GetSeq()
		}
	}
	return after, nil
}
