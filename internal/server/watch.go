package server

import (
	"context"
	"errors"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	"podd/internal/fleet"
	"podd/internal/report"
	"podd/pkg/pod"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// beatEvery is the time between two beats of a Watch.
const beatEvery = 15 * time.Second

// Watch sends all pods and those that change and, on request, a log, alerts and beats.
func (s *allPods) Watch(r *poddv1.WatchRequest, out poddv1.FleetService_WatchServer) error {
	ctx, cancel := context.WithCancelCause(out.Context())
	defer cancel(nil)
	w := &watch{allPods: s, ctx: ctx, req: r, out: out}
	var parts sync.WaitGroup
	for _, part := range w.parts() {
		parts.Go(func() { cancel(guard(part)) })
	}
	parts.Wait()
	return context.Cause(ctx)
}

// watch is one Watch. Its parts send side by side; the first that ends ends all.
type watch struct {
	*allPods
	ctx context.Context //nolint:containedctx // That of one call.
	req *poddv1.WatchRequest

	mu  sync.Mutex
	out poddv1.FleetService_WatchServer
}

// parts are the functions that send what the request asks for.
func (w *watch) parts() []func() error {
	all := []func() error{w.pods}
	if w.req.GetPod() != "" {
		all = append(all, w.log)
	}
	if w.req.GetAlerts() {
		all = append(all, w.alerts)
	}
	if w.req.GetBeats() {
		all = append(all, w.beats)
	}
	return all
}

func (w *watch) send(m *poddv1.WatchResponse) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Send(m)
}

func (w *watch) pods() error {
	within := reaching(w.ctx)
	for c, err := range report.Watch(w.ctx, w.host, w.req.GetWork()) {
		if err != nil {
			return err
		}
		m := &poddv1.WatchResponse{Kind: &poddv1.WatchResponse_Complete{Complete: true}}
		switch {
		case c.Pod != nil:
			if !within.pod(w.ctx, *c.Pod) {
				continue
			}
			pod := wire.PodToProto(*c.Pod)
			m.Kind = &poddv1.WatchResponse_Pod{Pod: &poddv1.WatchedPod{Pod: pod, Approvals: pod.GetApprovals(), Work: workToProto(c.Work)}}
		case c.Removed != "":
			// A sub-pod's parents were known when it was sent.
			if !within.id(w.ctx, c.Removed) {
				continue
			}
			m.Kind = &poddv1.WatchResponse_Removed{Removed: c.Removed}
		}
		if err := w.send(m); err != nil {
			return err
		}
	}
	return nil
}

// log answers as PodService.Stream, here or by the pod's node.
func (w *watch) log() error {
	req := &poddv1.StreamRequest{Pod: w.req.GetPod(), AfterSeq: w.req.GetAfterSeq(), Follow: true, Deltas: w.req.GetDeltas()}
	srv := &pods{host: w.host}
	first := fleet.Replayed(w.ctx, &logStream{ServerStream: w.out, w: w}, req)
	return w.route.Stream(srv, first, poddv1.PodService_Stream_FullMethodName, func(_ any, ss grpc.ServerStream) error {
		var req poddv1.StreamRequest
		if err := ss.RecvMsg(&req); err != nil {
			return err
		}
		return srv.Stream(&req, &grpc.GenericServerStream[poddv1.StreamRequest, poddv1.StreamResponse]{ServerStream: ss})
	})
}

// logStream sends the messages of a log as those of a Watch.
type logStream struct {
	grpc.ServerStream
	w *watch
}

// SendMsg sends a *poddv1.StreamResponse.
func (s *logStream) SendMsg(m any) error {
	log, ok := m.(*poddv1.StreamResponse)
	if !ok {
		return errors.New("no message of a log")
	}
	return s.w.send(&poddv1.WatchResponse{Kind: &poddv1.WatchResponse_Log{Log: log}})
}

func (w *watch) alerts() error {
	unacked := pod.AlertQuery{Unacked: true, Only: reaching(w.ctx).onlyID(w.ctx)}
	for alert, err := range w.host.Alerts.Stream(w.ctx, unacked) {
		if err != nil {
			return err
		}
		if err := w.send(&poddv1.WatchResponse{Kind: &poddv1.WatchResponse_Alert{Alert: wire.AlertToProto(alert)}}); err != nil {
			return err
		}
	}
	return nil
}

func (w *watch) beats() error {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		if err := w.send(&poddv1.WatchResponse{Kind: &poddv1.WatchResponse_Beat{Beat: timestamppb.New(w.host.Now())}}); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-w.ctx.Done():
			return context.Cause(w.ctx)
		}
	}
}
