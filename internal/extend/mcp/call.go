package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"podd/pkg/tool"
)

// call calls a tool in the form that the pod knows.
func (i *instance) call(ctx context.Context, t Tool, c *tool.Invocation) (out tool.Output, err error) {
	err = i.ask(ctx, c, func(ctx context.Context, l *link, told func(*sdk.ProgressNotificationParams)) error {
		if err := i.same(ctx, l, t); err != nil {
			return err
		}
		token, stop := l.watch(told)
		defer stop()
		params := &sdk.CallToolParams{Name: t.Name, Arguments: json.RawMessage(c.Arguments)}
		params.SetProgressToken(token)
		result, err := l.session.CallTool(ctx, params)
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
		return err
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

// ask sends a request to the server. The server's timeout runs from the start and again from
// each progress that it reports. An error is a sentence.
func (i *instance) ask(ctx context.Context, c *tool.Invocation, work func(context.Context, *link, func(*sdk.ProgressNotificationParams)) error) error {
	def := i.definition()
	l, err := i.use(ctx, true)
	if err != nil {
		return i.sentence(err, false)
	}
	defer i.free()
	late := fmt.Errorf("did not answer within %s", def.Timeout)
	working, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(def.Timeout, func() { cancel(late) })
	defer timer.Stop()
	told := func(p *sdk.ProgressNotificationParams) {
		if timer.Reset(def.Timeout) {
			c.Progress(progress(p))
		}
	}
	done := make(chan error, 1)
	i.m.wg.Go(func() { done <- work(working, l, told) })
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
	case errors.Is(err, errOther):
		return i.sentence(err, false)
	}
	if refusal, ok := errors.AsType[*jsonrpc.Error](err); ok && !unsent(refusal) {
		// An answer means that the server works.
		i.worked()
		return i.sentence(fmt.Errorf("refused the call%s", colon(text(refusal.Message, maxDescription))), false)
	}
	err = l.failure(working, err)
	i.drop(l, err)
	dial, ok := errors.AsType[*net.OpError](err)
	_, refused := errors.AsType[*signInError](err)
	return i.sentence(err, !refused && (!ok || dial.Op != "dial"))
}

// unsent says whether an error is not the server's answer: the protocol's library reports an
// undelivered message in the form of an answer.
func unsent(err *jsonrpc.Error) bool {
	return err.Code == -32005 && err.Message == "rejected by transport"
}

// probe drops a server that does not even answer a ping.
func (i *instance) probe(ctx context.Context, l *link, late error) {
	ctx, cancel := context.WithTimeout(ctx, i.m.PingTime)
	defer cancel()
	done := make(chan error, 1)
	i.m.wg.Go(func() { done <- l.session.Ping(ctx, nil) })
	select {
	case err := <-done:
		if err == nil {
			return
		}
	case <-ctx.Done():
	}
	i.drop(l, fmt.Errorf("%w, did not answer a ping either, and was stopped", late))
}

// sentence is an error for the model. begun says that the call may have started.
func (i *instance) sentence(err error, begun bool) error {
	if begun {
		return fmt.Errorf("the MCP server %s %w; the call may have taken effect: verify before repeating", i.definition().Name, err)
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
