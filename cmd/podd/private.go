package main

import (
	"context"
	"os"

	"podd/internal/clients/tty"
	"podd/internal/config"
	"podd/internal/daemon"
	"podd/pkg/paths"
)

// lifetime says until when podd serves: until ctx ends or, for a private podd, until standard input ends. It takes what
// a service manager passed. Call stop at the end.
func (p *program) lifetime(ctx context.Context, c *daemon.Config, private bool) (while context.Context, hurry <-chan struct{}, stop func(), err error) {
	if !private {
		return ctx, p.hurry, func() {}, p.adopt(c)
	}
	if err := p.makePrivate(c); err != nil {
		return nil, nil, nil, err
	}
	while, hurry, stop = p.untilInputEnds(ctx)
	return while, hurry, stop, nil
}

// makePrivate makes the podd of podctl run --once: it has a store of its own, whatever the configuration says. What
// the person's own podd stores is hidden from tools, as it is there, and what that one trusts is trusted.
func (p *program) makePrivate(c *daemon.Config) error {
	reread := c.Reread
	c.Settings, c.Reread = withOwnStore(c.Settings), func() (config.Config, error) {
		again, err := reread()
		return withOwnStore(again), err
	}
	state, err := paths.StateDir(paths.Flags{}, p.env)
	if err != nil {
		// Without a home directory there is no other podd.
		return nil //nolint:nilerr // see above
	}
	socket, err := paths.Socket(paths.Flags{}, p.env)
	if err != nil {
		return err
	}
	c.TrustDir, c.Hidden = state.Path, []string{state.Path, socket.Path, socket.Path + ".lock", paths.OnceDir()}
	return nil
}

// withOwnStore is a configuration without a shared database.
func withOwnStore(c config.Config) config.Config {
	c.Store.URL, c.Node = "", config.NodeConfig{}
	return c
}

// untilInputEnds ends ctx when standard input ends, and cuts the drain short then: the client is gone, even if it was
// killed. Call stop at the end.
func (p *program) untilInputEnds(ctx context.Context) (while context.Context, hurry <-chan struct{}, stop func()) {
	while, cancel := context.WithCancel(ctx)
	gone, done := make(chan struct{}), make(chan struct{})
	watching, unwatch := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(done)
		if file, ok := p.stdin.(*os.File); ok && tty.Await(watching, int(file.Fd())) != nil {
			return
		}
		cancel()
		close(gone)
	}()
	return while, gone, func() {
		unwatch()
		<-done
		cancel()
	}
}
