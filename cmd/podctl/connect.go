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

// session is a verb at work: the program, its connection to podd, and the pod that it is about.
type session struct {
	*program
	*client.Client
	// pod is the pod that a person named, or the pod here; "" for a verb about podd.
	pod string
	// once is set if podd is private to this podctl, and ends with it.
	once *onceOptions
}

// verb is what a command does. args are its operands: POD, if it has one, is the first. A verb with flags is a type
// that has them as fields: its method command describes it and registers them, PreRunE checks them before podd is
// asked, and its method run is the verb. Nothing of run needs cobra.
type verb func(ctx context.Context, s *session, args []string) error

// with connects to the podd that flags and environment name.
func (p *program) with(f func(*session) error) error {
	cfg, err := p.at.clientConfig()
	if err != nil {
		return err
	}
	cfg.StartFor = cmp.Or(p.startFor, startPatience)
	cfg.Waiting = func(cause error) {
		if !p.whole {
			fmt.Fprintf(p.stderr, "! podd cannot accept the prompt now; retrying: %s\n", sanitize.Line(cause.Error()))
		}
	}
	c, err := client.New(cfg)
	if err != nil {
		return err
	}
	defer c.Close()
	return f(&session{program: p, Client: c})
}

// onPodd runs a verb that is about podd.
func (p *program) onPodd(do verb) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return p.with(func(s *session) error { return do(cmd.Context(), s, args) })
	}
}

// onPod runs a verb that is about a pod: that of the first operand or, if that is empty, the pod here.
func (p *program) onPod(do verb) func(*cobra.Command, []string) error {
	return p.onPodd(func(ctx context.Context, s *session, args []string) (err error) {
		if s.pod, err = s.find(ctx, args[0], nil); err != nil {
			return err
		}
		return do(ctx, s, args)
	})
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
	for _, known := range p.found(ctx, nil, "", pods) {
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
