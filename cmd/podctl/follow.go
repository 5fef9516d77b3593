package main

import (
	"context"
	"fmt"
	"io"

	"podd/internal/view"
	"podd/pkg/client"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// follow shows what comes of a submit until the turn that took it has ended. As JSON
// it prints the response first and then each message of the stream.
func (p *program) follow(ctx context.Context, c *client.Client, pod string, resp *poddv1.SubmitResponse) error {
	console := p.console()
	show := func(*poddv1.StreamResponse) error { return nil }
	if p.output == outputJSON {
		// The turn is still looked at, to know its end.
		console = view.Console{Out: io.Discard, Err: io.Discard}
		show = func(m *poddv1.StreamResponse) error { return p.printJSON(m) }
		if err := p.printJSON(resp); err != nil {
			return err
		}
	}
	turn := view.NewTurn(console, resp.GetRequestId())
	err := p.followTurn(ctx, c, pod, resp.GetSeq(), turn, show)
	if closeErr := turn.Close(); err == nil {
		err = closeErr
	}
	if err != nil && ctx.Err() != nil {
		at := max(turn.Seq(), resp.GetSeq())
		return interrupted(fmt.Sprintf("interrupted: the turn goes on; follow it with podctl tail -f %s --after %d, end it with podctl cancel %s", pod, at, pod))
	}
	if err != nil {
		return err
	}
	if number, end := turn.Ended(); end.Outcome != item.OutcomeFinished {
		return turnError{number, *end}
	}
	return nil
}

// followTurn reads the stream until the turn has ended or an error comes.
func (p *program) followTurn(ctx context.Context, c *client.Client, pod string, after int64, turn *view.Turn, show func(*poddv1.StreamResponse) error) error {
	stream := c.Stream(ctx, client.StreamOptions{Pod: pod, After: after, Follow: true, Deltas: true, Lost: turn.Lost})
	for m, err := range stream {
		if err != nil {
			return err
		}
		if err := show(m); err != nil {
			return err
		}
		if done, err := turn.Show(m); err != nil || done {
			return err
		}
	}
	return nil
}
