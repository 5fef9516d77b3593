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
	"podd/pkg/client"
	poddv1 "podd/proto/podd/v1"
)

func newTopCommand(p *program) *cobra.Command {
	once := false
	cmd := &cobra.Command{
		Use:   "top",
		Short: "Show all pods in a live table, those that need you first",
		Long: "Shows what each pod does, waits for and costs, and keeps the table current. Enter attaches to the marked pod, q " +
			"quits. With --once, without a terminal or with -o json it prints the pods once. It takes up to three " +
			"seconds to measure how fast models write.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			in, out, err := p.wholeTerminal("top")
			if once || err != nil {
				return p.with(func(c *client.Client) error { return p.topOnce(cmd.Context(), c) })
			}
			settings, err := desk.Load(desk.File(p.env, "desk.toml"))
			if err != nil {
				return usagef("%w", err)
			}
			return p.with(func(c *client.Client) error { return p.topLive(cmd.Context(), c, in, out, settings) })
		},
	}
	cmd.Flags().BoolVar(&once, "once", false, "print the table once")
	return cmd
}

// measuring is how long once watches at most for what takes time to know.
const measuring = 3 * time.Second

// topOnce prints the pods as they are now.
func (p *program) topOnce(ctx context.Context, c *client.Client) error {
	fleet := top.NewFleet()
	until, stop := context.WithCancel(ctx)
	defer stop()
	for m, err := range c.Watch(until, &poddv1.WatchRequest{Work: true}, func(error) { fleet.Lost() }) {
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
	return printEach(p, pods, func() error {
		if len(pods) == 0 {
			_, err := fmt.Fprintln(p.stderr, "no pods yet; create one with podctl create NAME")
			return err
		}
		return top.Write(p.stdout, pods, p.now())
	})
}

// topLive shows the table, and the pods that the person chooses, until the person quits.
func (p *program) topLive(ctx context.Context, c *client.Client, in, out *os.File, settings desk.Settings) error {
	watch := func(ctx context.Context, lost func(error)) iter.Seq2[*poddv1.WatchResponse, error] {
		return c.Watch(ctx, &poddv1.WatchRequest{Work: true}, lost)
	}
	chosen := ""
	for {
		var err error
		chosen, err = top.Run(ctx, top.Config{Watch: watch, In: in, Out: out, Color: p.env("NO_COLOR") == "", Now: p.now, Selected: chosen})
		if err != nil || chosen == "" {
			return err
		}
		if _, err := attach.Run(ctx, p.attachment(c, chosen, in, out, settings)); err != nil {
			return err
		}
	}
}
