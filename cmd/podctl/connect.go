package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"podd/internal/sanitize"
	"podd/pkg/client"
)

// startPatience is how long podctl waits for a podd that is being started.
const startPatience = 2 * time.Second

// connect makes a client of the podd that flags and environment name. The caller
// closes it.
func (p *program) connect() (*client.Client, error) {
	cfg, err := p.at.clientConfig()
	if err != nil {
		return nil, err
	}
	cfg.StartFor = cmp.Or(p.startFor, startPatience)
	cfg.Waiting = func(cause error) {
		fmt.Fprintf(p.stderr, "! podd cannot accept the prompt now; retrying: %s\n", sanitize.Line(cause.Error()))
	}
	return client.New(cfg)
}

// withPod calls f with a client and the pod that a verb is about: the named one or, if that
// is empty, the pod here.
func (p *program) withPod(ctx context.Context, named string, f func(c *client.Client, pod string) error) error {
	return p.with(func(c *client.Client) error {
		pod, err := p.pod(ctx, c, named, nil)
		if err != nil {
			return err
		}
		return f(c, pod)
	})
}

// with calls f with a client.
func (p *program) with(f func(*client.Client) error) error {
	c, err := p.connect()
	if err != nil {
		return err
	}
	defer c.Close()
	return f(c)
}
