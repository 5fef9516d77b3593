package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"podd/internal/clients/remote"
	"podd/internal/sanitize"
	"podd/internal/typo"
	"podd/pkg/client"
	"podd/pkg/item"
	"podd/pkg/paths"
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

// address says which podd is meant, of this machine or of another one.
type address struct {
	paths.Flags
	// host is that of -H.
	host string
	env  func(string) string
}

// clientConfig says where that podd is.
func (a *address) clientConfig() (client.Config, error) {
	text, err := a.hostText()
	switch {
	case err != nil:
		return client.Config{}, err
	case text == "":
		return a.localConfig()
	}
	host, err := parseHost(text)
	if err != nil {
		return client.Config{}, err
	}
	there := remote.New(host)
	return client.Config{Socket: host.String(), Dial: there.Dial, Token: there.Token}, nil
}

func parseHost(text string) (remote.Host, error) {
	host, err := remote.ParseHost(text)
	if err != nil {
		return host, usagef("%w", err)
	}
	return host, nil
}

// hostText is the host of -H or $PODD_HOST; "" for the podd of this machine. A flag that names
// a podd goes before variables.
func (a *address) hostText() (string, error) {
	flag := a.Socket != "" || a.StateDir != ""
	switch {
	case a.host != "" && flag:
		return "", usagef("--socket and --state-dir name a podd of this machine: leave them out, or -H")
	case a.host != "" || flag:
		return a.host, nil
	case a.env(hostVariable) != "" && a.env("PODD_SOCKET") != "":
		return "", usagef("PODD_HOST and PODD_SOCKET name different podds: unset one, or use -H or --socket")
	}
	return a.env(hostVariable), nil
}

const hostVariable = "PODD_HOST"

// remote says whether podd runs on another machine. connect reports a bad host.
func (a *address) remote() bool {
	text, err := a.hostText()
	return err == nil && text != ""
}

// directory makes a path absolute. For another machine it must be so already: the current
// directory is of this one.
func (a *address) directory(path string, to *string) error {
	switch {
	case path == "":
		return usagef("the path of the directory is empty")
	case a.remote() && !filepath.IsAbs(path):
		return usagef("%q is a path of this machine: with -H, give an absolute path of the other one", path)
	}
	whole, err := filepath.Abs(valid(path))
	if err != nil {
		return fmt.Errorf("cannot read the current directory: %w", err)
	}
	*to = whole
	return nil
}

// localConfig says where the podd of this machine is.
func (a *address) localConfig() (client.Config, error) {
	socket, err := paths.Socket(a.Flags, a.env)
	if err != nil {
		return client.Config{}, err
	}
	// Without a state directory the calls that need the client token are refused;
	// all others work.
	state, _ := paths.StateDir(a.Flags, a.env)
	return client.Config{Socket: socket.Path, StateDir: state.Path}, nil
}

// directories makes paths absolute. A single empty path means an empty list.
func (a *address) directories(paths []string, to *[]string) error {
	if len(paths) == 1 && paths[0] == "" {
		*to = nil
		return nil
	}
	all := make([]string, len(paths))
	for i, path := range paths {
		if err := a.directory(path, &all[i]); err != nil {
			return err
		}
	}
	*to = all
	return nil
}

// baseInstructions takes a word, or makes the path of a file absolute.
func (a *address) baseInstructions(value string, to *string) error {
	if value == "" || value == "builtin" || value == "none" {
		*to = value
		return nil
	}
	return a.directory(value, to)
}
