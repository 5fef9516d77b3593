package main

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"podd/internal/clients/remote"
	"podd/internal/sanitize"
	"podd/pkg/item"
)

// forwarded is the page of another machine at the same port of this one.
type forwarded struct {
	*program
	host    remote.Host
	address string
	*remote.Forwarding
}

// forwardPage makes the page at an origin reachable here. It returns nil if there is nothing to
// forward: if podd runs on this machine, or if the page has a name of its own.
func (p *program) forwardPage(ctx context.Context, origin string) (*forwarded, error) {
	text, err := p.at.hostText()
	if err != nil || text == "" || origin == "" || strings.HasPrefix(origin, "https://") {
		return nil, err
	}
	where, err := netip.ParseAddrPort(strings.TrimPrefix(origin, "http://"))
	if err != nil || !where.Addr().IsLoopback() {
		// Nothing that another machine says opens a port to others.
		return nil, item.Errorf(item.KindPrecondition, "WEB_PORT", "podd there serves its page at %s, which ssh cannot forward: let podd web listen at 127.0.0.1", sanitize.Line(origin))
	}
	f := &forwarded{program: p, address: where.String()}
	if f.host, err = parseHost(text); err != nil {
		return nil, err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", f.address)
	if err != nil {
		e := item.Errorf(item.KindPrecondition, "WEB_PORT", "the page of %s needs %s on this machine, which is taken: stop what uses it, or give podd web there another port with --listen", f.host, f.address)
		e.Cause = err
		return nil, e
	}
	_ = l.Close()
	if f.Forwarding, err = f.host.Forward(ctx, f.address); err != nil {
		return nil, err
	}
	return f, nil
}

// close ends the forwarding.
func (f *forwarded) close() {
	if f != nil {
		_ = f.Close()
	}
}

// forwardPause is the time between two tries to forward again.
const forwardPause = time.Second

// keep forwards until ctx ends, and again when a connection breaks.
func (f *forwarded) keep(ctx context.Context) error {
	if f == nil {
		return nil
	}
	outliveReaders()
	fmt.Fprintf(f.stderr, "http://%s leads to %s until you press Ctrl-C\n", f.address, f.host)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-f.Ended():
		}
		fmt.Fprintf(f.stderr, "! the connection to %s is lost: connecting again\n", f.host)
		if err := f.again(ctx); err != nil {
			return err
		}
	}
}

// again forwards once more. The error is the end of ctx.
func (f *forwarded) again(ctx context.Context) error {
	_ = f.Close()
	for {
		next, err := f.host.Forward(ctx, f.address)
		if err == nil {
			f.Forwarding = next
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(forwardPause):
		}
	}
}
