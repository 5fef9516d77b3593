package main

import (
	"context"
	"fmt"
	"iter"
	"os"
	"time"

	"github.com/spf13/cobra"

	"podd/internal/clients/attach"
	"podd/internal/clients/desk"
	"podd/internal/clients/top"
	poddv1 "podd/proto/podd/v1"
)

// topOptions are the flags of top.
type topOptions struct{ once bool }

func (o *topOptions) command(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "top",
		Short: "Show all pods in a live table, those that need you first",
		Long: "Shows what each pod does, waits for and costs, and keeps the table current. The first line counts pods and triggers. Enter attaches to the marked pod, q " +
			"quits. With --once, without a terminal or with -o json it prints the pods once. It takes up to three " +
			"seconds to measure how fast models write.",
		RunE: p.onPodd(o.run),
	}
	cmd.Flags().BoolVar(&o.once, "once", false, "print the table once")
	return cmd
}

func (o *topOptions) run(ctx context.Context, s *session, _ []string) error {
	in, out, err := s.wholeTerminal("top")
	if o.once || err != nil {
		return topOnce(ctx, s)
	}
	settings, err := desk.Load(desk.File(s.env, "desk.toml"))
	if err != nil {
		return usagef("%w", err)
	}
	return topLive(ctx, s, in, out, settings)
}

// measuring is how long once watches at most for what takes time to know.
const measuring = 3 * time.Second

// topOnce prints the pods as they are now.
func topOnce(ctx context.Context, s *session) error {
	fleet := top.NewFleet()
	until, stop := context.WithCancel(ctx)
	defer stop()
	for m, err := range s.Watch(until, &poddv1.WatchRequest{Work: true}, func(error) { fleet.Lost() }) {
		if err != nil && until.Err() != nil && ctx.Err() == nil {
			break
		}
		if err != nil {
			return err
		}
		if fleet.Take(m); fleet.Complete() && fleet.Measured() {
			break
		}
		if m.GetComplete() {
			defer time.AfterFunc(measuring, stop).Stop()
		}
	}
	pods := top.Sorted(fleet.Pods())
	return printEach(s.program, pods, func() error {
		if len(pods) == 0 {
			_, err := fmt.Fprintln(s.stderr, noPods)
			return err
		}
		return top.Write(s.stdout, pods, s.now())
	})
}

// topLive shows the table, and the pods that the person chooses, until the person quits.
func topLive(ctx context.Context, s *session, in, out *os.File, settings desk.Settings) error {
	watch := func(ctx context.Context, lost func(error)) iter.Seq2[*poddv1.WatchResponse, error] {
		return s.Watch(ctx, &poddv1.WatchRequest{Work: true}, lost)
	}
	triggers := func(ctx context.Context) string {
		all, err := s.Triggers().ListTriggers(ctx, &poddv1.ListTriggersRequest{})
		if err != nil {
			return "" // An older podd has none.
		}
		return triggersFact(all.GetTriggers(), s.now())
	}
	chosen := ""
	for {
		var err error
		chosen, err = top.Run(ctx, top.Config{Watch: watch, Triggers: triggers, In: in, Out: out, Color: s.env("NO_COLOR") == "", Now: s.now, Selected: chosen})
		if err != nil || chosen == "" {
			return err
		}
		if _, err := attach.Run(ctx, s.attachment(chosen, in, out, settings)); err != nil {
			return err
		}
	}
}
