package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"podd/pkg/tool"
)

// The protocol's answers to an elicitation: the person answered, said no, or did neither.
const (
	actionAccept  = "accept"
	actionDecline = "decline"
	actionCancel  = "cancel"
)

// calling is a request of podd in progress. Meanwhile its server may ask a person.
type calling struct {
	server string
	call   *tool.Invocation
	time   *allowance
	// ctx ends when the request has ended, with why a form is taken back.
	ctx    context.Context
	cancel context.CancelCauseFunc

	// forms are those that the server asks; the link's lock guards asked, which counts them, and over.
	forms sync.WaitGroup
	asked int
	over  bool
}

// callingKey is the key of a calling in the context of its request.
type callingKey struct{}

// begin lets the server ask during a request. ended waits for its forms.
func (l *link) begin(ctx context.Context, server string, c *tool.Invocation, t *allowance) *calling {
	k := &calling{server: server, call: c, time: t}
	k.ctx, k.cancel = context.WithCancelCause(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.callings = append(l.callings, k)
	return k
}

// ended takes back the forms of a request that has ended, with its error.
func (l *link) ended(k *calling, err error) {
	why := "the MCP server " + k.server + " waits for the answer no more"
	if err != nil {
		why = err.Error()
	}
	l.mu.Lock()
	k.over = true
	l.callings = slices.DeleteFunc(l.callings, func(o *calling) bool { return o == k })
	l.mu.Unlock()
	k.cancel(&tool.TookBack{Why: why})
	k.forms.Wait()
}

// told shows the progress that the server reports.
func (k *calling) told(p *sdk.ProgressNotificationParams) {
	if k.time.again() {
		k.call.Progress(progress(p))
	}
}

// asker is the request that a form belongs to, and the form's key: the one that was answered with the form. Before 2026-07-28 a server
// asks by a request of its own, which does not say for what: it is the last request that can ask a person. asker returns nil if there is none.
func (l *link) asker(ctx context.Context) (k *calling, key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k, ok := ctx.Value(callingKey{}).(*calling); ok {
		if k.call.Asks == nil || k.over {
			return nil, ""
		}
		return k, k.ask()
	}
	for _, k := range slices.Backward(l.callings) {
		if k.call.Asks != nil && !k.over {
			return k, k.ask()
		}
	}
	return nil, ""
}

// ask begins a form, and returns its key. The link's lock is held.
func (k *calling) ask() string {
	k.asked++
	k.forms.Add(1)
	return strconv.Itoa(k.asked)
}

// elicit asks a person for the server. It declines outside a request, and when nobody can answer.
func (l *link) elicit(ctx context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	k, key := l.asker(ctx)
	if k == nil {
		return &sdk.ElicitResult{Action: actionDecline}, nil
	}
	return l.show(ctx, k, key, r.Params)
}

// show asks a person a form that the request has begun.
func (l *link) show(ctx context.Context, k *calling, key string, p *sdk.ElicitParams) (*sdk.ElicitResult, error) {
	defer k.forms.Done()
	f, err := formOf(k.server, p)
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
	}
	asking, cancel := context.WithCancelCause(k.ctx)
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() {
		why := "took the question back"
		if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
			why = l.failure(k.ctx, cause).Error()
		}
		cancel(&tool.TookBack{Why: "the MCP server " + k.server + " " + why})
	})()
	k.time.waits(true)
	defer k.time.waits(false)
	answer, err := k.call.Ask(asking, key, f.form)
	switch {
	case errors.Is(err, tool.ErrNobody):
		return &sdk.ElicitResult{Action: actionDecline}, nil
	case err != nil, answer.Withdrawn:
		return &sdk.ElicitResult{Action: actionCancel}, nil
	case !answer.Approved, f.refused(answer.Replies):
		return &sdk.ElicitResult{Action: actionDecline}, nil
	}
	return &sdk.ElicitResult{Action: actionAccept, Content: f.content(answer.Replies)}, nil
}

// callTool calls a tool. If the server refuses that until the person has opened addresses, they are asked to, and the call is sent once
// more.
func (l *link) callTool(ctx context.Context, k *calling, params *sdk.CallToolParams) (*sdk.CallToolResult, error) {
	result, err := l.session.CallTool(ctx, params)
	refusal, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok || refusal.Code != sdk.CodeURLElicitationRequired {
		return result, err
	}
	var wants struct {
		Elicitations []*sdk.ElicitParams `json:"elicitations"`
	}
	if json.Unmarshal(refusal.Data, &wants) != nil || len(wants.Elicitations) == 0 || len(wants.Elicitations) > maxFields {
		return nil, err
	}
	for _, p := range wants.Elicitations {
		if p == nil || p.URL == "" {
			return nil, err
		}
		p.Mode = "url"
		l.mu.Lock()
		key := k.ask()
		l.mu.Unlock()
		if answer, failed := l.show(ctx, k, key, p); failed != nil || answer.Action != actionAccept {
			return nil, err
		}
	}
	return l.session.CallTool(ctx, params)
}

// allowance is the time that a server has for a request. It runs again from each progress, and stands still while the server waits
// for a person.
type allowance struct {
	most  time.Duration
	mu    sync.Mutex
	timer *time.Timer
	// people counts the forms that wait.
	people int
}

// allow begins an allowance; late is called when it has run out.
func allow(most time.Duration, late func()) *allowance {
	return &allowance{most: most, timer: time.AfterFunc(most, late)}
}

// again begins the time again; false says that it had run out.
func (a *allowance) again() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.people > 0 || a.timer.Reset(a.most)
}

// waits says that the server waits for a person from now on, or no more.
func (a *allowance) waits(on bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if on {
		a.people++
		a.timer.Stop()
	} else if a.people--; a.people == 0 {
		a.timer.Reset(a.most)
	}
}

// stop ends it. Its forms have ended.
func (a *allowance) stop() { a.timer.Stop() }

// errForm is for a form that podd does not show.
func errForm(format string, args ...any) error {
	return fmt.Errorf("podd cannot ask this: "+format, args...)
}
