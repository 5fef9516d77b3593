package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"podd/internal/clients/view"
	"podd/pkg/client"
	poddv1 "podd/proto/podd/v1"
)

// tailOptions are the flags of tail.
type tailOptions struct {
	follow, deltas, full bool
	last                 int64
	after                sequence
	// fromAfter says that --after was given, 0 included.
	fromAfter bool
}

func (o *tailOptions) command(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "tail [POD]",
		Aliases: []string{"logs"},
		Short:   "Show the last entries of a pod's log",
		Long: "Shows the last entries of a pod's log, or with --after all entries above a number. With -f it keeps printing " +
			"new entries, across restarts of podd; stopping it does not affect the pod.",
		PreRunE: o.check,
		RunE:    p.onPod(o.run),
	}
	f := cmd.Flags()
	f.BoolVarP(&o.follow, "follow", "f", false, "keep running and print new entries")
	f.Int64VarP(&o.last, "lines", "n", 10, "number of entries")
	f.Var(&o.after, "after", "show all entries above this number instead")
	f.BoolVar(&o.deltas, "deltas", false, "with -f: show answers and tool output as they arrive")
	f.BoolVar(&o.full, "full", false, "show long diffs in full")
	p.renderFlag(cmd)
	return cmd
}

func (o *tailOptions) check(cmd *cobra.Command, _ []string) error {
	o.fromAfter = cmd.Flags().Changed("after")
	switch {
	case o.last < 0:
		return usagef("-n %d: use 0 or more", o.last)
	case o.fromAfter && cmd.Flags().Changed("lines"):
		return usagef("-n and --after cannot be used together")
	}
	return nil
}

func (o *tailOptions) run(ctx context.Context, s *session, _ []string) error {
	got, err := s.Pod(ctx, s.pod)
	if err != nil {
		return err
	}
	after := int64(o.after)
	if !o.fromAfter {
		after = max(got.GetLastSeq()-o.last, got.GetFirstSeq()-1, 0)
	}
	options := client.StreamOptions{Pod: got.GetId(), After: after, Follow: o.follow, Deltas: o.follow && o.deltas}
	show, end := func(m *poddv1.StreamResponse) error { return s.printJSON(m) }, func() error { return nil }
	if s.output == outputText {
		console := s.console()
		console.Full = o.full
		log := view.NewLog(console, o.deltas)
		show, end, options.Lost = log.Show, log.Close, log.Lost
		// With fragments the stream begins with the text so far of an unfinished answer.
		options.Deltas = o.follow
	}
	if o.follow {
		defer endWithReader(s.stdout)()
	}
	at, err := showAll(ctx, s, options, show)
	if endErr := end(); err == nil {
		err = endErr
	}
	if err != nil && ctx.Err() != nil {
		return interrupted(fmt.Sprintf("interrupted: the pod keeps running; continue with podctl tail -f %s --after %d", s.pod, at))
	}
	return err
}

// showAll shows a stream and returns the last sequence shown.
func showAll(ctx context.Context, s *session, o client.StreamOptions, show func(*poddv1.StreamResponse) error) (at int64, err error) {
	at = o.After
	for m, err := range s.Stream(ctx, o) {
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
