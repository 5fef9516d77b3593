package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/internal/typo"
	"podd/pkg/client"
	"podd/pkg/item"
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
		if !p.whole {
			fmt.Fprintf(p.stderr, "! podd cannot accept the prompt now; retrying: %s\n", sanitize.Line(cause.Error()))
		}
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

// onPod makes a verb of what it does with the pod of its first operand.
func (p *program) onPod(run func(ctx context.Context, c *client.Client, pod string, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return p.withPod(cmd.Context(), args[0], func(c *client.Client, pod string) error { return run(cmd.Context(), c, pod, args) })
	}
}

// onPodd makes a verb of what it does with podd.
func (p *program) onPodd(run func(ctx context.Context, c *client.Client, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return p.with(func(c *client.Client) error { return run(cmd.Context(), c, args) })
	}
}

// explainPod adds a next step to the error about a pod that does not exist: the pod that was
// probably meant, or how to list them.
func (p *program) explainPod(ctx context.Context, err error) error {
	e, ok := errors.AsType[*item.Error](err)
	if !ok || e.Reason != "POD_NOT_FOUND" {
		return err
	}
	quoted, ok := strings.CutPrefix(e.Message, "no pod named ")
	name, bad := strconv.Unquote(quoted)
	if !ok || bad != nil {
		return err
	}
	var names []string
	for _, known := range p.podNames(ctx, "") {
		known, _, _ = strings.Cut(known, "\t") // The directory follows.
		names = append(names, known)
	}
	next := "podctl list shows the pods"
	if near := typo.Nearest(name, names); near != "" {
		next = fmt.Sprintf("did you mean %s?", near)
	}
	better := item.Errorf(e.Kind, e.Reason, "%s: %s", e.Message, next)
	better.Cause = err
	return better
}

// lost says that the connection to podd broke.
func (p *program) lost(err error) {
	fmt.Fprintf(p.stderr, "(lost the connection to podd; retrying: %s)\n", sanitize.Line(err.Error()))
}
