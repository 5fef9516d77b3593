package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"podd/pkg/client"
	"podd/pkg/item"
	"podd/pkg/version"
	poddv1 "podd/proto/podd/v1"
)

// Protocol is the version of the protocol. It changes when a client that follows
// docs/clients.md would break; new methods, fields and lines don't change it.
const Protocol = 1

const (
	// maxCalls is how many requests are in progress at once; more are read only after one
	// of these is answered.
	maxCalls = 64
	// maxStreams is how many streams may be open at once.
	maxStreams = 64
	// greetPatience bounds how long the first line waits for podd.
	greetPatience = time.Second
	// defaultGrace is how long requests in progress may take after the input has ended.
	defaultGrace = 2 * time.Second
)

// Config configures a bridge.
type Config struct {
	In  io.Reader
	Out io.Writer
	// Client should be patient (client.Config.Patient).
	Client *client.Client
	// Socket is the socket that the first line names.
	Socket string
	// FindPod finds the pod of a directory, or creates it.
	FindPod func(ctx context.Context, dir string, create bool) (name string, created bool, err error)
	// Grace is how long requests in progress may take after the input has ended; default 2
	// seconds.
	Grace time.Duration
}

// bridge is a running bridge.
type bridge struct {
	config  Config
	client  *client.Client
	methods map[string]method
	out     *writer
	streams *streams
	// slots limit the requests in progress.
	slots chan struct{}
	calls sync.WaitGroup
}

// Run serves until the input ends, which is not an error, or until ctx ends or the output
// fails. It waits for everything that it started except a read of the input that has not
// returned, and a write of the output that takes longer than the grace time.
func Run(ctx context.Context, cfg Config) error {
	if cfg.Grace <= 0 {
		cfg.Grace = defaultGrace
	}
	b := &bridge{
		config: cfg, client: cfg.Client, methods: podMethods(), out: newWriter(cfg.Out),
		streams: newStreams(), slots: make(chan struct{}, maxCalls),
	}
	// The following ends with the input; everything else gets the grace time.
	calls, stopCalls := context.WithCancel(ctx)
	defer stopCalls()
	streaming, stopStreams := context.WithCancel(calls)
	defer stopStreams()

	up := b.greet(calls)
	b.streams.running.Go(func() { b.watch(streaming, up) })
	err := b.read(calls, streaming)
	stopStreams()
	timer := time.AfterFunc(cfg.Grace, stopCalls)
	defer timer.Stop()
	if err != nil {
		stopCalls()
	}
	b.streams.running.Wait()
	b.calls.Wait()
	return errors.Join(err, b.finish(cfg.Grace))
}

// finish ends the writer.
func (b *bridge) finish(grace time.Duration) error {
	close(b.out.lines)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-b.out.ended:
		if b.out.err != nil {
			return fmt.Errorf("cannot write to standard output: %w", b.out.err)
		}
	case <-timer.C:
		// The output has no reader. The writer's lines are lost with the process.
	}
	return nil
}

// send passes a line to the writer. It returns false if the line will not be written because
// ctx or the output has ended.
func (b *bridge) send(ctx context.Context, line []byte) bool {
	select {
	case b.out.lines <- line:
		return true
	case <-ctx.Done():
	case <-b.out.ended:
	}
	return false
}

// greet writes the first line. It returns whether podd is up.
func (b *bridge) greet(ctx context.Context) (up bool) {
	first, cancel := context.WithTimeout(ctx, greetPatience)
	defer cancel()
	c := b.checkConnection(first)
	b.send(ctx, lineOf(greeting{hello{Protocol: Protocol, Version: version.String(), Socket: b.config.Socket, Connection: c}}))
	return c.Up
}

// checkConnection asks podd for its status.
func (b *bridge) checkConnection(ctx context.Context) connection {
	resp, err := b.client.Admin().GetStatus(ctx, &poddv1.GetStatusRequest{})
	if err != nil {
		return connection{Error: failureOf(err)}
	}
	return connection{Up: true, Podd: resp.GetVersion(), APILevel: resp.GetApiLevel()}
}

// watch writes a line each time that podd goes away or comes back.
func (b *bridge) watch(ctx context.Context, up bool) {
	down := func(err error) {
		if up {
			up = false
			b.send(ctx, lineOf(connected{connection{Error: failureOf(err)}}))
		}
	}
	for serving, err := range b.client.Serving(ctx, down) {
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			down(err)
		case !serving:
			down(errStopping)
		case !up:
			if c := b.checkConnection(ctx); c.Up {
				up = true
				b.send(ctx, lineOf(connected{c}))
			}
		}
	}
}

var errStopping = item.Errorf(item.KindUnavailable, "STOPPING", "podd is stopping; streams resume when it is back")

// read takes the requests until the input ends.
func (b *bridge) read(ctx, streaming context.Context) error {
	type input struct {
		line []byte
		err  error
	}
	inputs := make(chan input)
	ended := make(chan error, 1)
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		ended <- lines(b.config.In, maxLine, func(line []byte, err error) bool {
			select {
			case inputs <- input{line, err}:
				return true
			case <-stop:
				return false
			}
		})
	}()
	for {
		select {
		case in := <-inputs:
			b.handle(ctx, streaming, in.line, in.err)
		case err := <-ended:
			if err != nil {
				return fmt.Errorf("cannot read standard input: %w", err)
			}
			return nil
		case <-b.out.ended:
			return nil // finish returns the cause.
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// handle starts to handle a line.
func (b *bridge) handle(ctx, streaming context.Context, line []byte, err error) {
	var r request
	if err == nil {
		r, err = parse(line)
	}
	if err == nil && isStream(r.Method) {
		if err = b.stream(ctx, streaming, r); err == nil {
			return
		}
	}
	// An error too is written by its own goroutine, so that the end of the input is noticed
	// even if the output has no reader.
	select {
	case b.slots <- struct{}{}:
	case <-ctx.Done():
		return
	case <-b.out.ended:
		return
	}
	b.calls.Go(func() {
		defer func() { <-b.slots }()
		var result json.RawMessage
		if err == nil {
			result, err = b.call(ctx, r)
		}
		b.answer(ctx, r.ID, result, err)
	})
}

// answer writes the answer to a request. A request without an id gets null.
func (b *bridge) answer(ctx context.Context, id json.RawMessage, result []byte, err error) {
	a := answer{ID: id, Result: result}
	if id == nil {
		a.ID = json.RawMessage("null")
	}
	if err != nil {
		a.Result, a.Error = nil, failureOf(err)
	}
	b.send(ctx, lineOf(a))
}
