package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"podd/internal/clients/attach"
	"podd/internal/clients/desk"
	"podd/internal/sanitize"
	"podd/pkg/item"
)

func newAttachCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "attach [POD]",
		Short: "Open an interactive view of a pod",
		Long: "Opens a full-screen view of a pod: its history, live text, tool calls, approval questions and a prompt line. " +
			"Leave with Ctrl-D, or with Ctrl-C twice; a running turn continues. Where no pod works in this directory, it offers to create one.",
		RunE: p.onPodd(runAttach),
	}
}

func runAttach(ctx context.Context, s *session, args []string) error {
	settings, err := desk.Load(desk.File(s.env, "desk.toml"))
	if err != nil {
		return usagef("%w", err)
	}
	in, out, err := s.wholeTerminal("attach")
	if err != nil {
		return err
	}
	if s.pod, err = s.find(ctx, args[0], func(dir string) error { return allowNew(ctx, s, dir) }); err != nil {
		return err
	}
	left, err := attach.Run(ctx, s.attachment(s.pod, in, out, settings))
	if err != nil {
		return err
	}
	name := sanitize.Line(left.Pod)
	if left.Turn != 0 {
		fmt.Fprintf(s.stderr, "left %s; turn %d keeps running: podctl attach %s returns to it\n", name, left.Turn, name)
	}
	return nil
}

// allowNew asks the person at the terminal whether a directory without a pod gets one.
func allowNew(ctx context.Context, s *session, dir string) error {
	_, _, none := podFor(ctx, s.Client, dir, false)
	if item.ReasonOf(none) != reasonNoPod {
		return none
	}
	if s.wide(dir) != "" {
		return s.allowWide(ctx, dir, false)
	}
	return s.asked(ctx, fmt.Sprintf("No pod works in %s yet. Create one?", sanitize.Line(dir)), none, none)
}

// attachment is the view of a pod on a terminal.
func (s *session) attachment(pod string, in, out *os.File, settings desk.Settings) attach.Config {
	return attach.Config{Client: s.Client, Pod: pod, In: in, Out: out, Color: s.env("NO_COLOR") == "", Env: s.env, Name: clientName, Desk: settings, Remote: s.at.remote(), Verb: s.within}
}

// within is what podctl prints with these arguments, for a view of the same podd.
func (p *program) within(ctx context.Context, args []string) string {
	for flag, value := range map[string]string{"host": p.at.host, "socket": p.at.Socket, "state-dir": p.at.StateDir} {
		if value != "" {
			args = append([]string{"--" + flag, value}, args...)
		}
	}
	var printed bytes.Buffer
	run(ctx, args, program{stdin: strings.NewReader(""), stdout: &printed, stderr: &printed, env: p.env, now: p.now, startFor: -1})
	return printed.String()
}

// wholeTerminal is the terminal of a verb that needs one which can move its cursor.
func (p *program) wholeTerminal(verb string) (in, out *os.File, err error) {
	in, _ = p.stdin.(*os.File)
	out, _ = p.stdout.(*os.File)
	_, typed := terminal(p.stdin)
	_, shown := terminal(p.stdout)
	switch kind := p.env("TERM"); {
	case p.output == outputJSON:
		return nil, nil, usagef("%s has no JSON output: use podctl tail -f -o json", verb)
	case !typed || !shown:
		return nil, nil, usagef("%s needs a terminal: without one, use podctl submit -f and podctl tail -f", verb)
	case kind == "dumb" || kind == "":
		return nil, nil, usagef("%s needs a terminal that can move its cursor, but TERM is %q: use podctl tail -f and podctl submit", verb, kind)
	}
	p.whole = true
	return in, out, nil
}
