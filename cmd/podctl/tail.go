package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"podd/internal/clients/view"
	"podd/pkg/client"
	poddv1 "podd/proto/podd/v1"
)

// tailFlags are the flags of tail.
type tailFlags struct {
	follow, deltas, full bool
	last, after          int64
	// fromAfter says that --after was given, 0 included.
	fromAfter bool
}

func newTailCommand(p *program) *cobra.Command {
	var flags tailFlags
	cmd := &cobra.Command{
		Use:     "tail [POD]",
		Aliases: []string{"logs"},
		Short:   "Show the last entries of a pod's log",
		Long: "Shows the last entries of a pod's log, or with --after all entries above a number. With -f it keeps printing " +
			"new entries, across restarts of podd; stopping it does not affect the pod.",
		RunE: func(cmd *cobra.Command, args []string) error {
			flags.fromAfter = cmd.Flags().Changed("after")
			if err := flags.check(cmd); err != nil {
				return err
			}
			return p.withPod(cmd.Context(), args[0], func(c *client.Client, pod string) error {
				return p.tail(cmd.Context(), c, pod, flags)
			})
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&flags.follow, "follow", "f", false, "keep running and print new entries")
	f.Int64VarP(&flags.last, "lines", "n", 10, "number of entries")
	f.Var((*sequence)(&flags.after), "after", "show all entries above this number instead")
	f.BoolVar(&flags.deltas, "deltas", false, "with -f: show answers and tool output as they arrive")
	f.BoolVar(&flags.full, "full", false, "show long diffs in full")
	p.renderFlag(cmd)
	return cmd
}

func (f tailFlags) check(cmd *cobra.Command) error {
	switch {
	case f.last < 0:
		return usagef("-n %d: use 0 or more", f.last)
	case f.fromAfter && cmd.Flags().Changed("lines"):
		return usagef("-n and --after cannot be used together")
	}
	return nil
}

// tail shows a pod's log.
func (p *program) tail(ctx context.Context, c *client.Client, pod string, flags tailFlags) error {
	got, err := c.Pod(ctx, pod)
	if err != nil {
		return err
	}
	after := flags.after
	if !flags.fromAfter {
		after = max(got.GetLastSeq()-flags.last, got.GetFirstSeq()-1, 0)
	}
	options := client.StreamOptions{Pod: got.GetId(), After: after, Follow: flags.follow, Deltas: flags.follow && flags.deltas}
	show, end := func(m *poddv1.StreamResponse) error { return p.printJSON(m) }, func() error { return nil }
	if p.output == outputText {
		console := p.console()
		console.Full = flags.full
		log := view.NewLog(console, flags.deltas)
		show, end, options.Lost = log.Show, log.Close, log.Lost
		// With fragments the stream begins with the text so far of an unfinished answer.
		options.Deltas = flags.follow
	}
	if flags.follow {
		defer endWithReader(p.stdout)()
	}
	at, err := showAll(ctx, c, options, show)
	if endErr := end(); err == nil {
		err = endErr
	}
	if err != nil && ctx.Err() != nil {
		return interrupted(fmt.Sprintf("interrupted: the pod keeps running; continue with podctl tail -f %s --after %d", pod, at))
	}
	return err
}

// showAll shows a stream and returns the last sequence shown.
func showAll(ctx context.Context, c *client.Client, o client.StreamOptions, show func(*poddv1.StreamResponse) error) (at int64, err error) {
	at = o.After
	for m, err := range c.Stream(ctx, o) {
		if err == nil {
			err = show(m)
		}
		if err != nil {
			return at, err
		}
		at = max(at, m.GetEntry().GetSeq())
	}
	return at, nil
}
