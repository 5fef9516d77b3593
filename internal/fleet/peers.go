package fleet

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/keepalive"

	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/version"
)

// maxMessage is the largest message between nodes, above the largest entry and submit.
const maxMessage = 17 << 20

// connectWithin bounds the time until a connection is open.
const connectWithin = 3 * time.Second

// peers are the connections to other nodes. Its methods may be called from any goroutine.
type peers struct {
	identity *identity

	mu    sync.Mutex
	conns map[string]*grpc.ClientConn
}

// newPeers has no connection yet.
func newPeers(id *identity) *peers {
	return &peers{identity: id, conns: make(map[string]*grpc.ClientConn)}
}

// Ready is a connection to a node that has answered: a call that fails on it may have reached
// the node. An error says that nothing was sent.
func (p *peers) Ready(ctx context.Context, n store.Node) (*grpc.ClientConn, error) {
	conn, err := p.conn(n)
	if err != nil {
		return nil, err
	}
	wait, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	for {
		state := conn.GetState()
		switch state {
		case connectivity.Ready:
			return conn, nil
		case connectivity.Idle:
			conn.Connect()
		case connectivity.TransientFailure, connectivity.Shutdown:
			conn.ResetConnectBackoff()
			return nil, unreachable(n, false, nil)
		case connectivity.Connecting:
		}
		if !conn.WaitForStateChange(wait, state) {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			return nil, unreachable(n, false, nil)
		}
	}
}

// conn is the connection to a node, which may not be open yet.
func (p *peers) conn(n store.Node) (*grpc.ClientConn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := n.Name + " " + n.Address
	if c := p.conns[key]; c != nil {
		return c, nil
	}
	c, err := grpc.NewClient("passthrough:///"+n.Address,
		grpc.WithTransportCredentials(p.identity.client(n.Name)),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage)),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second},
			MinConnectTimeout: connectWithin,
		}),
		// The time is also that after which the kernel gives up data without an answer.
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 10 * time.Second, Timeout: 3 * time.Second}),
		grpc.WithUserAgent("podd/"+version.String()),
		grpc.WithDisableServiceConfig(),
	)
	if err != nil {
		return nil, err
	}
	p.conns[key] = c
	return c, nil
}

// Close ends all connections.
func (p *peers) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		_ = c.Close()
	}
	clear(p.conns)
}

// unreachable says that a node did not answer a call; sent says that it may have got it.
func unreachable(n store.Node, sent bool, cause error) error {
	e := item.Errorf(item.KindUnavailable, store.ReasonNodeAway, "node %s at %s does not answer: try again", n.Name, n.Address)
	if sent {
		e = item.Errorf(item.KindUnavailable, store.ReasonNodeAway,
			"node %s at %s stopped answering; the call may have taken effect: look, and try again", n.Name, n.Address)
	}
	e.Cause, e.Meta = cause, map[string]string{"node": n.Name}
	return e
}

// each calls f for the numbers below n at once, and waits.
func each(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}
