package acp

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"podd/pkg/client"
	"podd/pkg/item"
	"podd/pkg/transcript"
	poddv1 "podd/proto/podd/v1"
)

// origin says which part of a pod's history a session shows.
type origin int

const (
	// wholeLog shows the whole log.
	wholeLog origin = iota
	// fromNow shows new entries only.
	fromNow
)

// awayPatience is how long a session waits before it tries again to reach a podd that was
// away for longer than the client waits.
const awayPatience = time.Second

// session is an open pod in the editor.
type session struct {
	*agent
	sender
	*prompts
	// pod is the pod's id, name its name, dir its workspace.
	pod, name, dir string

	ctx    context.Context
	cancel context.CancelCauseFunc
	// work are the goroutines that read the stream and ask questions in the editor.
	work  sync.WaitGroup
	start sync.Once
	// caughtUp is closed once the history has been shown, over once nothing more follows.
	caughtUp, over chan struct{}

	// The following fields belong to the reader.

	after int64
	// muted suppresses the history that the editor already has; live says that calls that
	// the log reports as waiting still wait.
	muted, live bool
	log         *transcript.Transcript
	// shown are the messages of the model that the editor has, in version 2.
	shown map[string]bool
	// claimed are the running turn's submits.
	claimed       []string
	text, thought transcript.Appender
	// held are notices to send after the current text.
	held []string
	// calls are the states of the calls without a result, by id.
	calls     map[string]transcript.State
	asked     map[string]bool
	questions map[string]context.CancelFunc
}

func newSession(a *agent, pod *poddv1.Pod, from origin) *session {
	s := &session{
		agent: a, sender: sender{agent: a, id: sessionID(pod)}, pod: pod.GetId(), name: pod.GetName(), dir: pod.GetSpec().GetDir(),
		caughtUp: make(chan struct{}), over: make(chan struct{}),
		prompts: &prompts{waiting: make(map[string]*waiting), mine: make(map[string]bool)},
		calls:   make(map[string]transcript.State), log: transcript.New(transcript.Options{Last: 1}),
		asked: make(map[string]bool), shown: make(map[string]bool), questions: make(map[string]context.CancelFunc),
		after: max(pod.GetFirstSeq()-1, 0), muted: from == fromNow,
	}
	s.ctx, s.cancel = context.WithCancelCause(a.ctx)
	return s
}

// ready starts to read the pod's stream, once, and waits until the history has been shown.
func (s *session) ready(ctx context.Context) error {
	s.startReading()
	select {
	case <-s.caughtUp:
		return nil
	case <-s.over:
		if errors.Is(context.Cause(s.ctx), errReplaced) {
			return errReplaced
		}
		return s.failure()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// errReplaced ends the reader of a session that the editor opened again.
var errReplaced = errors.New("the session was opened again")

// startReading starts to read the pod's stream, once.
func (s *session) startReading() { s.start.Do(func() { s.work.Go(s.run) }) }

// close ends the session in the editor and waits for its goroutines. The pod keeps
// running.
func (s *session) close() {
	s.cancel(errReplaced)
	s.start.Do(func() { close(s.over) }) // A reader that has not started never does.
	s.work.Wait()
}

// run reads the stream until the session is closed or its pod is gone. It waits for a podd
// that is away; prompts fail if that takes long.
func (s *session) run() {
	defer close(s.over)
	for {
		err := s.read()
		if s.ctx.Err() != nil {
			err = context.Cause(s.ctx)
		}
		if errors.Is(err, errReplaced) && s.agent.ctx.Err() == nil {
			return
		}
		s.end(outcome{err: err})
		if s.ctx.Err() != nil || item.KindOf(err) != item.KindUnavailable || !isDone(s.caughtUp) {
			s.prompts.mu.Lock()
			s.failed = err
			s.prompts.mu.Unlock()
			s.finished("", err)
			return
		}
		s.lost()
		select {
		case <-time.After(awayPatience):
		case <-s.ctx.Done():
		}
	}
}

// read shows the stream from the last entry on.
func (s *session) read() error {
	stream := s.Client.Stream(s.ctx, client.StreamOptions{
		Pod: s.pod, After: s.after, Follow: true, Deltas: true,
		Lost: func(error) { s.lost() },
	})
	for m, err := range stream {
		if err != nil {
			return err
		}
		s.receive(m)
	}
	return nil
}

// lost says that the stream broke.
func (s *session) lost() {
	s.live = false
	s.log.Lost()
}

// receive shows a message of the stream.
func (s *session) receive(m *poddv1.StreamResponse) {
	c := s.log.Apply(m)
	s.thought.Drop(c.Drop)
	s.unsay(c.Drop)
	if s.text.Drop(c.Drop) {
		// The end of a turn needs no such notice.
		if s.log.Turn() != 0 {
			s.cut()
		}
		s.flushHeld()
	}
	for _, p := range c.Put {
		s.put(p)
	}
	if c.Entry != nil {
		s.after = int64(c.Entry.Seq)
		s.entry(*c.Entry)
		asks := len(s.questions) > 0 && !slices.Contains(slices.Collect(maps.Values(s.calls)), transcript.Running)
		s.worked(func(p *phase) { p.asks = asks })
	}
	if c.CaughtUp {
		s.catchUp()
	}
}

// catchUp is called when the stream has reached the end of the stored log.
func (s *session) catchUp() {
	s.live = true
	if s.muted {
		s.muted = false
		for _, b := range s.log.Blocks() {
			if s.calls[b.Call.ID] != "" {
				s.send(s.begin(b))
			}
		}
	}
	s.askPending()
	if !isDone(s.caughtUp) {
		if s.after > 0 {
			s.usage()
		}
		s.follow()
		close(s.caughtUp)
	}
}
