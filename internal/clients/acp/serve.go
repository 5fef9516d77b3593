package acp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/coder/acp-go-sdk"

	"podd/pkg/client"
	"podd/pkg/item"
)

// Config configures Serve.
type Config struct {
	// Client is the connection to podd; required.
	Client *client.Client
	// In and Out are the editor's streams; required. Out carries only the protocol.
	In  io.Reader
	Out io.Writer
	// Log gets messages that belong to no session; required.
	Log *slog.Logger
	// Version is the version that the editor gets.
	Version string
	// Pod, a name or an id, is the pod that every new session joins; if empty, each new
	// session gets its own pod.
	Pod string
}

// Serve answers the editor until it closes In or ctx ends. Turns keep running in podd.
// After the end of ctx a read of In may be left behind, since nothing can interrupt it.
func Serve(ctx context.Context, cfg Config) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a := &agent{Config: cfg, ctx: ctx, out: output{Writer: cfg.Out, named: make(map[acp.SessionId]func())}, sessions: make(map[acp.SessionId]*session)}
	a.in = newInput(cfg.In)
	a.conn = acp.NewConnection(a.handle, &a.out, a.in)
	a.conn.SetLogger(cfg.Log)
	a.in.next()
	select {
	case <-ctx.Done():
	case <-a.conn.Done():
	}
	tooLong := isDone(a.conn.Done()) && !a.in.ended()
	cancel()
	a.in.stop()
	a.close()
	if tooLong {
		return errors.New("the editor sent a message larger than 10 MiB, the limit of the protocol's library")
	}
	return nil
}

func isDone(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// agent is the connection to one editor.
type agent struct {
	Config
	// ctx ends with the connection.
	ctx  context.Context
	conn *acp.Connection
	in   *input
	out  output
	// second says that the editor speaks version 2 of the protocol.
	second atomic.Bool
	// calls are the requests in progress.
	calls sync.WaitGroup

	mu     sync.Mutex
	closed bool
	editor string
	// forms says that the editor can show forms.
	forms    bool
	sessions map[acp.SessionId]*session
	// alerted is the last alert that the editor could read.
	alerted atomic.Int64
}

// handle answers one message of the editor.
func (a *agent) handle(ctx context.Context, method string, params json.RawMessage) (any, *acp.RequestError) {
	methods := a.firstMethods
	if a.second.Load() {
		methods = a.secondMethods
	}
	answer, known := methods()[method]
	if !known {
		return nil, acp.NewMethodNotFound(method)
	}
	if !a.begin() {
		return nil, refusal(context.Canceled)
	}
	defer a.calls.Done()
	result, err := answer(ctx, params)
	return result, refusal(err)
}

// firstMethods are the methods of version 1 of the protocol.
func (a *agent) firstMethods() map[string]handler {
	return map[string]handler{
		acp.AgentMethodInitialize:             a.initialize,
		acp.AgentMethodAuthenticate:           on(a.authenticate),
		acp.AgentMethodSessionNew:             on(a.newSession),
		acp.AgentMethodSessionLoad:            on(a.loadSession),
		acp.AgentMethodSessionResume:          on(a.resumeSession),
		acp.AgentMethodSessionList:            on(a.listSessions),
		acp.AgentMethodSessionClose:           on(a.closeSession),
		methodDelete:                          on(a.deleteSession),
		acp.AgentMethodSessionSetMode:         on(a.setMode),
		acp.AgentMethodSessionSetConfigOption: on(a.setOption),
		acp.AgentMethodSessionPrompt:          a.ordered,
		acp.AgentMethodSessionFork:            on(a.forkSession),
		acp.AgentMethodSessionCancel:          on(a.cancel),
	}
}

// begin counts a request in progress; false if the connection has ended.
func (a *agent) begin() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closed {
		a.calls.Add(1)
	}
	return !a.closed
}

// close waits for everything in progress.
func (a *agent) close() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.calls.Wait()
	for _, s := range a.sessions {
		s.close()
	}
}

type handler func(ctx context.Context, params json.RawMessage) (any, error)

// checked is a pointer to parameters that can validate themselves.
type checked[P any] interface {
	*P
	Validate() error
}

// on turns a typed handler into a general one.
func on[P, R any, C checked[P]](f func(context.Context, P) (R, error)) handler {
	return func(ctx context.Context, params json.RawMessage) (any, error) {
		var p P
		if err := json.Unmarshal(params, &p); err != nil {
			return nil, item.Errorf(item.KindInvalid, "PARAMS", "cannot read the parameters: %v", err)
		}
		if err := C(&p).Validate(); err != nil {
			return nil, item.Errorf(item.KindInvalid, "PARAMS", "the parameters are incomplete: %v", err)
		}
		return f(ctx, p)
	}
}

// notFoundCode is the protocol's code for a session or resource that does not exist.
const notFoundCode = -32002

// refusal is the one place where an error becomes an error of the protocol. Editors show
// its message.
func refusal(err error) *acp.RequestError {
	if err == nil {
		return nil
	}
	if errors.Is(err, context.Canceled) {
		return acp.NewRequestCancelled(nil)
	}
	e := acp.NewInternalError(nil)
	switch item.KindOf(err) {
	case item.KindInvalid:
		e = acp.NewInvalidParams(nil)
	case item.KindNotFound:
		e.Code = notFoundCode
	}
	e.Message = err.Error()
	if reason := item.ReasonOf(err); reason != "" {
		e.Data = map[string]any{"reason": reason}
	}
	return e
}
