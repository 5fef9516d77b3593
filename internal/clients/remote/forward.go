package remote

import "context"

// Forwarding is an ssh that forwards.
type Forwarding struct{ connection *connection }

// Forward has connections to an address of this machine lead to the same address of the host,
// such as 127.0.0.1:7633, until Close. It fails if something listens at the address here. ctx
// bounds the connecting.
func (h Host) Forward(ctx context.Context, address string) (*Forwarding, error) {
	// A shared connection would keep the forwarding when this ssh has ended.
	c, _, err := h.greet(ctx, "-o", "ControlPath=none", "-o", "ExitOnForwardFailure=yes", "-L", address+":"+address)
	if err != nil {
		return nil, err
	}
	return &Forwarding{c}, nil
}

// Ended is closed when ssh has ended.
func (f *Forwarding) Ended() <-chan struct{} { return f.connection.ended }

// Close ends ssh, and waits for that.
func (f *Forwarding) Close() error { return f.connection.Close() }
