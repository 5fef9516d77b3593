package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"podd/pkg/tool"
)

// keyName is the name of a call's key in the metadata of its request.
const keyName = "podd.dev/call"

// call calls a tool in the form that the pod knows.
func (i *instance) call(ctx context.Context, t Tool, c *tool.Invocation) (out tool.Output, err error) {
	err = i.ask(ctx, c, func(ctx context.Context, l *link, k *calling) error {
		if err := i.same(ctx, l, t); err != nil {
			return err
		}
		token, stop := l.watch(k.told)
		defer stop()
		params := &sdk.CallToolParams{Name: t.Name, Arguments: json.RawMessage(c.Arguments)}
		params.SetProgressToken(token)
		if c.Key != "" {
			params.Meta[keyName] = c.Key
		}
		result, err := l.callTool(ctx, k, params)
		if err == nil {
			out = output(result)
		}
		return err
	})
	return out, err
}

// errOther is for a tool that is no longer in the form that the pod knows.
var errOther = errors.New("has changed or removed this tool, so it was not called; the new form is sent from the next turn on and needs approval before it runs")

// same refuses a tool whose form has changed.
func (i *instance) same(ctx context.Context, l *link, t Tool) error {
	if err := i.refresh(ctx, l); err != nil {
		f, failed := errors.AsType[*failure](err)
		return &failure{error: err, broken: !failed || f.broken, gone: failed && f.gone}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, now := range i.listing.Tools {
		if now == t {
			return nil
		}
	}
	return errOther
}

// ask sends a request to the server. An error is a sentence.
func (i *instance) ask(ctx context.Context, c *tool.Invocation, work func(context.Context, *link, *calling) error) error {
	return i.with(ctx, true, func(l *link, err error) error {
		if err != nil {
			return i.sentence(err, false)
		}
		return i.request(ctx, c, l, work)
	})
}

// request sends one request. The server's timeout runs from the start and again from each
// progress that it reports, but not while the server asks a person.
func (i *instance) request(ctx context.Context, c *tool.Invocation, l *link, work func(context.Context, *link, *calling) error) (err error) {
	def := i.definition()
	late := fmt.Errorf("did not answer within %s", def.Timeout)
	working, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	left := allow(def.Timeout, func() { cancel(late) })
	defer left.stop()
	k := l.begin(ctx, def.Name, c, left)
	defer func() { l.ended(k, err) }()
	done := make(chan error, 1)
	i.m.wg.Go(func() { done <- work(context.WithValue(working, callingKey{}, k), l, k) })
	select {
	case err = <-done:
	case <-working.Done():
		// The request ends with its context, unless a write hangs.
		select {
		case err = <-done:
		case <-time.After(time.Second):
			err = context.Cause(working)
		}
	}
	switch {
	case err == nil:
		i.worked()
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(context.Cause(working), late):
		i.probe(ctx, l, late)
		return i.sentence(late, true)
	}
	return i.outcome(working, l, err)
}

// outcome is what a request that failed has come to.
func (i *instance) outcome(ctx context.Context, l *link, err error) error {
	if errors.Is(err, errOther) {
		return i.sentence(err, false)
	}
	if refusal, ok := errors.AsType[*jsonrpc.Error](err); ok {
		// An answer means that the server works.
		i.worked()
		return i.sentence(fmt.Errorf("refused the call%s", colon(text(refusal.Message, maxDescription))), false)
	}
	if f, ok := errors.AsType[*failure](err); ok {
		if f.broken {
			i.lost(l, f)
		}
		return i.sentence(f, f.begun)
	}
	if why := l.why(); why != nil || errors.Is(err, sdk.ErrConnectionClosed) || errors.Is(err, io.EOF) {
		err = l.failure(ctx, err)
		i.drop(l, err)
		return i.sentence(err, true)
	}
	i.worked()
	return i.sentence(fmt.Errorf("answered in a form that podd cannot read%s; the call has run", colon(word(err.Error()))), false)
}

// probe drops a server that does not even answer a ping. A refusal is an answer.
func (i *instance) probe(ctx context.Context, l *link, late error) {
	ctx, cancel := context.WithTimeout(ctx, i.m.PingTime)
	defer cancel()
	done := make(chan error, 1)
	i.m.wg.Go(func() { done <- l.session.Ping(ctx, nil) })
	select {
	case err := <-done:
		_, refused := errors.AsType[*jsonrpc.Error](err)
		f, failed := errors.AsType[*failure](err)
		if err == nil || refused || failed && !f.broken {
			return
		}
	case <-ctx.Done():
	}
	i.drop(l, fmt.Errorf("%w, did not answer a ping either, and was stopped", late))
}

// sentence is an error for the model. begun says that the call may have started.
func (i *instance) sentence(err error, begun bool) error {
	if begun {
		return fmt.Errorf("the MCP server %s %w; the call may have taken effect: check before you repeat it", i.definition().Name, err)
	}
	return fmt.Errorf("the MCP server %s %w", i.definition().Name, err)
}

// progress is a line with the progress of a call.
func progress(p *sdk.ProgressNotificationParams) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%g", p.Progress)
	if p.Total > 0 {
		fmt.Fprintf(&b, "/%g", p.Total)
	}
	if message := word(p.Message); message != "" {
		b.WriteString(" " + message)
	}
	return b.String() + "\n"
}
