package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"podd/internal/clients/view"
	"podd/internal/sanitize"
	"podd/pkg/client"
	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

func newAlertsCommand(p *program) *cobra.Command {
	var options client.AlertOptions
	var follow bool
	cmd := &cobra.Command{
		Use:         "alerts [POD]",
		Short:       "Show alerts of podd and its pods",
		Annotations: withoutPod("all pods"),
		RunE: func(cmd *cobra.Command, args []string) error {
			options.Pod = valid(args[0])
			return p.with(func(c *client.Client) error { return p.alerts(cmd.Context(), c, options, follow) })
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&follow, "follow", "f", false, "keep running and print new alerts")
	f.Var((*sequence)(&options.After), "after", "only alerts with a number above this")
	f.BoolVar(&options.Unacked, "unacked", false, "only alerts that are not acknowledged")
	cmd.AddCommand(newAlertsAckCommand(p))
	return cmd
}

func newAlertsAckCommand(p *program) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:               "ack SEQ...",
		Short:             "Acknowledge alerts",
		Example:           "  podctl alerts ack 4 5\n  podctl alerts ack --all",
		ValidArgsFunction: p.completeAlerts,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case all && len(args) > 0:
				return usagef("name alerts, or use --all")
			case all:
				return nil
			}
			return operands(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if all {
				return p.with(func(c *client.Client) error { return p.ackAll(cmd.Context(), c) })
			}
			seqs := make([]int64, len(args))
			for i, arg := range args {
				seq, ok := parseSequence(arg)
				if !ok || seq < 1 {
					return usagef("%q is not the number of an alert: podctl alerts lists them", arg)
				}
				seqs[i] = seq
			}
			return p.with(func(c *client.Client) error {
				resp, err := c.Alerts().AckAlerts(cmd.Context(), &poddv1.AckAlertsRequest{Seqs: seqs})
				return p.answer(resp, err, line("acknowledged %s", strings.Join(args, ", ")))
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "acknowledge all alerts so far")
	return cmd
}

// ackAll acknowledges all open alerts.
func (p *program) ackAll(ctx context.Context, c *client.Client) error {
	var seqs []int64
	for a, err := range c.ListAlerts(ctx, client.AlertOptions{Unacked: true}) {
		if err != nil {
			return err
		}
		seqs = append(seqs, a.GetSeq())
	}
	resp := &poddv1.AckAlertsResponse{}
	if len(seqs) > 0 {
		var err error
		if resp, err = c.Alerts().AckAlerts(ctx, &poddv1.AckAlertsRequest{Seqs: seqs}); err != nil {
			return err
		}
	}
	return p.print(resp, line("acknowledged %s", plural(len(seqs), "alert")))
}

// completeAlerts offers the alerts that are not acknowledged.
func (p *program) completeAlerts(cmd *cobra.Command, args []string, start string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return p.completeFrom(cmd.Context(), args, start, func(ctx context.Context, c *client.Client, offer func(value, about string)) error {
		resp, err := c.Alerts().ListAlerts(ctx, &poddv1.ListAlertsRequest{Unacked: true})
		for _, a := range resp.GetAlerts() {
			offer(fmt.Sprint(a.GetSeq()), beginning(a.GetText()))
		}
		return err
	})
}

// alerts shows the stored alerts and, with follow, the new ones.
func (p *program) alerts(ctx context.Context, c *client.Client, o client.AlertOptions, follow bool) error {
	list := c.ListAlerts
	if follow {
		defer endWithReader(p.stdout)()
		list = c.StreamAlerts
		o.Lost = p.lost
	}
	names := nameBook{client: c, known: make(map[string]string)}
	none := true
	for a, err := range list(ctx, o) {
		if err != nil {
			return err
		}
		none = false
		show := func(w io.Writer) error {
			_, err := fmt.Fprintln(w, alertLine(a, names.of(ctx, a.GetPod())))
			return err
		}
		if err := p.print(a, show); err != nil {
			return err
		}
	}
	if none && !follow && p.output == outputText {
		_, err := fmt.Fprintln(p.stderr, noAlerts(o))
		return err
	}
	return nil
}

// noAlerts is the sentence for an empty list.
func noAlerts(o client.AlertOptions) string {
	what := "no alerts"
	if o.Unacked {
		what = "no alerts that are not acknowledged"
	}
	if o.Pod != "" {
		what += " of pod " + sanitize.Line(o.Pod)
	}
	if o.After > 0 {
		what += fmt.Sprintf(" after %d", o.After)
	}
	return what
}

// alertLine is an alert in one line. pod is empty for the daemon's own.
func alertLine(a *poddv1.Alert, pod string) string {
	acked := ""
	if a.GetAcked() {
		acked = "  (acknowledged)"
	}
	return fmt.Sprintf("%d  %s  %s  %s  %s%s", a.GetSeq(), stamp(a.GetTime().AsTime()), sanitize.Line(orDefault(pod, "podd")),
		sanitize.Line(a.GetSource()), view.AlertText(wire.AlertFromProto(a)), acked)
}

// nameBook finds the names of pods by their ids.
type nameBook struct {
	client *client.Client
	known  map[string]string
}

// of returns the name of a pod, or its id when podd cannot be reached or the pod is
// deleted.
func (n nameBook) of(ctx context.Context, id string) string {
	if id == "" {
		return ""
	}
	if name, ok := n.known[id]; ok {
		return name
	}
	name := id
	pod, err := n.client.Pod(ctx, id)
	if err == nil {
		name = pod.GetName()
	}
	if item.KindOf(err) != item.KindUnavailable {
		n.known[id] = name
	}
	return name
}
