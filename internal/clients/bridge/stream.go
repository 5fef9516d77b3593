package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"slices"
	"sync"

	"podd/pkg/client"
	"podd/pkg/item"
	"podd/pkg/transcript"
	poddv1 "podd/proto/podd/v1"
)

// streams are the open streams, by the ids of their requests.
type streams struct {
	// running counts them, and the bridge's own watch.
	running sync.WaitGroup

	mu   sync.Mutex
	open map[string]*stream
}

// stream is an open stream.
type stream struct {
	stop context.CancelFunc
	// ended is closed after its last line.
	ended chan struct{}
	// stale gets a token when the pod's state should be read.
	stale chan struct{}
}

func newStreams() *streams { return &streams{open: make(map[string]*stream)} }

// touch makes every stream read the state of its pod.
func (s *streams) touch() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.open {
		one.touch()
	}
}

func (s *stream) touch() {
	select {
	case s.stale <- struct{}{}:
	default:
	}
}

// add opens a stream under an id.
func (s *streams) add(id string, one *stream) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, taken := s.open[id]; taken {
		return item.Errorf(item.KindExists, "STREAM_EXISTS", "a stream with the id %s is already open: use another id, or Unstream it first", id)
	}
	if len(s.open) == maxStreams {
		return item.Errorf(item.KindExhausted, "TOO_MANY_STREAMS", "%d streams are open, which is the limit: Unstream one first", maxStreams)
	}
	s.open[id] = one
	return nil
}

func (s *streams) find(id string) *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[id]
}

func (s *streams) remove(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, id)
}

// isStream says whether the answer to a method is a stream.
func isStream(method string) bool {
	return slices.Contains([]string{"Stream", "Blocks", "StreamAlerts", "DiffFiles"}, method)
}

// running is what a stream does until it ends.
type running func(context.Context, *stream) error

// running is that of a request; follows says that it ends with the input.
func (b *bridge) running(r request) (run running, follows bool, err error) {
	switch r.Method {
	case "StreamAlerts":
		run, err = b.alerts(r)
		return run, true, err
	case "DiffFiles":
		run, err = b.diff(r)
		return run, false, err
	}
	return b.log(r)
}

// log sends a pod's log, as entries or as blocks.
func (b *bridge) log(r request) (run running, follows bool, err error) {
	var req poddv1.StreamRequest
	if err := params(r, &req); err != nil {
		return nil, false, err
	}
	o := client.StreamOptions{
		Pod: req.GetPod(), After: req.GetAfterSeq(), Follow: req.GetFollow(), Deltas: req.GetFollow() && req.GetDeltas(),
	}
	line := func(m *poddv1.StreamResponse) ([]byte, error) { return streamLine(r.ID, "", m) }
	if r.Method == "Blocks" {
		log := transcript.New(transcript.Options{Last: 1})
		o.Lost = func(error) { log.Lost() }
		line = func(m *poddv1.StreamResponse) ([]byte, error) { return blocksLine(r.ID, log.Apply(m)), nil }
	}
	return func(ctx context.Context, s *stream) error { return b.followPod(ctx, r.ID, s, o, line) }, req.GetFollow(), nil
}

func (b *bridge) alerts(r request) (running, error) {
	var req poddv1.StreamAlertsRequest
	if err := params(r, &req); err != nil {
		return nil, err
	}
	return func(ctx context.Context, _ *stream) error {
		alerts := b.client.StreamAlerts(ctx, client.AlertOptions{Pod: req.GetPod(), After: req.GetAfterSeq(), Unacked: req.GetUnacked()})
		line := func(m *poddv1.Alert) ([]byte, error) { return streamLine(r.ID, "alert", m) }
		return pass(ctx, b, alerts, line, nil)
	}, nil
}

// diff sends what a pod changed in files, one at a time.
func (b *bridge) diff(r request) (running, error) {
	var req poddv1.DiffFilesRequest
	if err := params(r, &req); err != nil {
		return nil, err
	}
	return func(ctx context.Context, _ *stream) error {
		parts, err := b.client.Files().DiffFiles(ctx, &req)
		if err != nil {
			return err
		}
		all := func(yield func(*poddv1.DiffFilesResponse, error) bool) {
			for {
				m, err := parts.Recv()
				if errors.Is(err, io.EOF) || !yield(m, err) || err != nil {
					return
				}
			}
		}
		line := func(m *poddv1.DiffFilesResponse) ([]byte, error) { return streamLine(r.ID, "", m) }
		return pass(ctx, b, all, line, nil)
	}, nil
}

// stream opens the stream of a request, and writes the answer once it is open. A stream
// that follows ends with following, another with ctx.
func (b *bridge) stream(ctx, following context.Context, r request) error {
	run, follows, err := b.running(r)
	if err != nil {
		return err
	}
	if follows {
		ctx = following
	}
	ctx, stop := context.WithCancel(ctx)
	one := &stream{stop: stop, ended: make(chan struct{}), stale: make(chan struct{}, 1)}
	if err := b.streams.add(string(r.ID), one); err != nil {
		stop()
		return err
	}
	b.streams.running.Go(func() {
		defer close(one.ended)
		defer stop()
		b.answer(ctx, r.ID, []byte("{}"), nil)
		err := run(ctx, one)
		b.streams.remove(string(r.ID))
		if ctx.Err() != nil {
			return // Unstream, or the end of the bridge.
		}
		last := ending{Stream: r.ID}
		if err != nil {
			last.End.Error = failureOf(err)
		}
		b.send(ctx, lineOf(last))
	})
	return nil
}

// pass writes each message of a stream until it ends. line converts it, to nil for nothing;
// seen, if set, is called for each.
func pass[M any](ctx context.Context, b *bridge, all iter.Seq2[M, error], line func(M) ([]byte, error), seen func(M)) error {
	for m, err := range all {
		if err != nil {
			return err
		}
		text, err := line(m)
		if err != nil {
			return err
		}
		if text != nil && !b.send(ctx, text) {
			return nil
		}
		if seen != nil {
			seen(m)
		}
	}
	return nil
}

// followPod writes a pod's log and, while it follows, the pod's state.
func (b *bridge) followPod(ctx context.Context, id json.RawMessage, s *stream, o client.StreamOptions, line func(*poddv1.StreamResponse) ([]byte, error)) error {
	log := b.client.Stream(ctx, o)
	if !o.Follow {
		return pass(ctx, b, log, line, nil)
	}
	ctx, stop := context.WithCancel(ctx)
	var looking sync.WaitGroup
	defer looking.Wait()
	defer stop()
	looking.Go(func() { b.sendStates(ctx, id, s, o.Pod) })
	live := false
	return pass(ctx, b, log, line, func(m *poddv1.StreamResponse) {
		live = live || m.GetCaughtUp() != nil
		if live && (m.GetEntry() != nil || m.GetCaughtUp() != nil) {
			s.touch()
		}
	})
}

// unstream ends a stream. The answer follows its last line.
func (b *bridge) unstream(ctx context.Context, r request) (json.RawMessage, error) {
	var p struct {
		Stream json.RawMessage `json:"stream"`
	}
	if err := plainParams(r, &p); err != nil {
		return nil, err
	}
	one := b.streams.find(string(p.Stream))
	if one == nil {
		return nil, item.Errorf(item.KindNotFound, "NO_STREAM", "no stream with the id %q is open: give the id of its request", clip(string(p.Stream)))
	}
	one.stop()
	select {
	case <-one.ended:
	case <-ctx.Done():
	}
	return json.RawMessage("{}"), nil
}
