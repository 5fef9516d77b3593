package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"podd/internal/clients/view"
	"podd/internal/config"
	"podd/internal/guard/policy"
	"podd/pkg/client"
	"podd/pkg/item"
	"podd/pkg/llm/scripted"
	poddv1 "podd/proto/podd/v1"
)

// Config configures a demo.
type Config struct {
	// Dir is a directory of the user that the pod only reads; if empty, the pod works in a
	// sample workspace.
	Dir string
	// Console shows the demo: the assistant's text on Out, the rest on Err.
	Console view.Console
	// Open opens the daemon that the demo works with; now is the clock of its pods.
	Open func(ctx context.Context, settings config.Config, stateDir, socket string, now func() time.Time) (Daemon, error)
	// Page serves the page of a state directory to browsers until ctx ends. With it the demo shows a fleet
	// there until its own end.
	Page func(ctx context.Context, stateDir string) error
}

// Daemon is a podd that was opened. Serve serves until ctx ends and closes it; after
// hurry it waits for nothing.
type Daemon interface {
	Serve(ctx context.Context, hurry <-chan struct{}) error
}

// podName is the pod of the demo.
const podName = "demo"

// demo is a running demo.
type demo struct {
	Config
	// root is the temporary directory for everything.
	root string
	act  act
	// configFile is podd's configuration; empty for none.
	configFile string
	clock      clock
}

// act is a prompt and the script that answers it.
type act struct {
	script, prompt string
}

// Run shows the demo. It returns when everything has ended and is removed; the end of ctx
// ends it early.
func Run(ctx context.Context, c Config) (err error) {
	d := &demo{Config: c}
	if d.root, err = os.MkdirTemp("", "podd-demo-"); err != nil {
		return fmt.Errorf("cannot create a temporary directory for the demo: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(d.root)) }()
	prepare, play := d.prepare, d.play
	if d.Page != nil {
		prepare, play = d.prepareWeb, d.web
	}
	if err := prepare(); err != nil {
		return err
	}
	model, err := d.serveModel()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, model.Close()) }()
	return d.withDaemon(ctx, model.URL(), play)
}

// serveModel serves the scripted model.
func (d *demo) serveModel() (*scripted.Server, error) {
	text, err := files.Open(d.act.script)
	if err != nil {
		return nil, err
	}
	defer text.Close()
	script, err := scripted.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.act.script, err)
	}
	return scripted.Serve(scripted.Config{Script: script})
}

// withDaemon runs a daemon on the demo's own state directory while f plays.
func (d *demo) withDaemon(ctx context.Context, baseURL string, f func(context.Context, *client.Client) error) error {
	settings, err := config.Load(d.configFile, d.configFile != "", func(name string) string {
		if name == "OPENAI_BASE_URL" {
			return baseURL
		}
		return ""
	})
	if err != nil {
		return err
	}
	switch d.act.script {
	case "sample.script":
		// Without a sandbox podd would ask before it.
		settings.Rules = append(settings.Rules, item.Rule{Tool: "shell", Command: "sh greet_test.sh", Decision: policy.Allow})
	case "web.script":
		// The commands come from the script, so they need no approval.
		settings.Sandbox.Mode = "off"
	}
	state := filepath.Join(d.root, "state")
	socket := filepath.Join(state, "podd.sock")
	podd, err := d.Open(ctx, settings, state, socket, d.clock.now)
	if err != nil {
		return err
	}
	serveCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
	served := make(chan error, 1)
	hurry := make(chan struct{})
	close(hurry)
	go func() { served <- podd.Serve(serveCtx, hurry) }()
	c, err := client.New(client.Config{Socket: socket, StateDir: state})
	if err == nil {
		err = errors.Join(f(ctx, c), c.Close())
	}
	stop()
	return errors.Join(err, <-served)
}

// play creates the pod, submits the prompt and shows the turn.
func (d *demo) play(ctx context.Context, c *client.Client) error {
	status, err := c.Admin().GetStatus(ctx, &poddv1.GetStatusRequest{})
	if err != nil {
		return err
	}
	d.print("%s\n", confinement(status.GetSandbox()))
	d.print("$ podctl create %s --dir %s", podName, d.Dir)
	_, err = c.Pods().CreatePod(ctx, &poddv1.CreatePodRequest{Name: podName, Spec: &poddv1.PodSpec{Dir: d.Dir}})
	if err != nil {
		return err
	}
	d.print("$ podctl submit -p %s -f %q\n", podName, d.act.prompt)
	answer, err := c.Submit(ctx, &poddv1.SubmitRequest{
		Pod: podName, ParseRefs: true,
		Segments: []*poddv1.Segment{{Kind: &poddv1.Segment_Text{Text: &poddv1.TextSegment{Text: d.act.prompt}}}},
	})
	if err != nil {
		return err
	}
	if err := d.show(ctx, c, answer); err != nil {
		return err
	}
	return d.epilogue(ctx, c)
}

// show follows the turn to its end.
func (d *demo) show(ctx context.Context, c *client.Client, submitted *poddv1.SubmitResponse) (err error) {
	turn := view.NewTurn(d.Console, submitted.GetRequestId())
	defer func() { err = errors.Join(err, turn.Close()) }()
	for m, err := range c.Stream(ctx, client.StreamOptions{
		Pod: podName, After: submitted.GetSeq(), Follow: true, Deltas: true, Lost: turn.Lost,
	}) {
		if err != nil {
			return err
		}
		done, err := turn.Show(m)
		if err != nil {
			return err
		}
		if done {
			break
		}
	}
	if _, end := turn.Ended(); end != nil && end.Outcome != item.OutcomeFinished {
		return fmt.Errorf("the demo's turn was %s: %s", end.Outcome, end.Cause)
	}
	return nil
}

// print writes a line beside the assistant's text.
func (d *demo) print(format string, args ...any) {
	_, _ = io.WriteString(d.Console.Err, fmt.Sprintf(format, args...)+"\n")
}
