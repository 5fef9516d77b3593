package main

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"podd/internal/clients/view"
	"podd/internal/sanitize"
	"podd/pkg/client"
	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// alertsOptions are the flags of alerts.
type alertsOptions struct {
	after           sequence
	follow, unacked bool
}

func (o *alertsOptions) command(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:         "alerts [POD]",
		Short:       "Show alerts of podd and its pods",
		Annotations: withoutPod("all pods"),
		RunE:        p.onPodd(o.run),
	}
	f := cmd.Flags()
	f.BoolVarP(&o.follow, "follow", "f", false, "keep running and print new alerts")
	f.Var(&o.after, "after", "only alerts with a number above this")
	f.BoolVar(&o.unacked, "unacked", false, "only alerts that are not acknowledged")
	cmd.AddCommand(new(alertsAckOptions).command(p))
	return cmd
}

// run shows the stored alerts and, with --follow, the new ones.
func (o *alertsOptions) run(ctx context.Context, s *session, args []string) error {
	options := client.AlertOptions{Pod: valid(args[0]), After: int64(o.after), Unacked: o.unacked}
	alerts := s.ListAlerts
	if o.follow {
		defer endWithReader(s.stdout)()
		alerts = s.StreamAlerts
		options.Lost = s.lost
	}
	names := make(map[string]string)
	none := true
	for a, err := range alerts(ctx, options) {
		if err != nil {
			return err
		}
		none = false
		if err := s.print(a, line("%s", alertLine(a, podName(ctx, s, names, a.GetPod())))); err != nil {
			return err
		}
	}
	if none && !o.follow && s.output == outputText {
		_, err := fmt.Fprintln(s.stderr, noAlerts(options))
		return err
	}
	return nil
}

// alertsAckOptions are the flags of alerts ack.
type alertsAckOptions struct{ all bool }

func (o *alertsAckOptions) command(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:               "ack SEQ...",
		Short:             "Acknowledge alerts",
		Example:           "  podctl alerts ack 4 5\n  podctl alerts ack --all",
		ValidArgsFunction: p.complete(math.MaxInt, openAlerts),
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case o.all && len(args) > 0:
				return usagef("name alerts, or use --all")
			case o.all:
				return nil
			}
			return operands(cmd, args)
		},
		RunE: p.onPodd(o.run),
	}
	cmd.Flags().BoolVar(&o.all, "all", false, "acknowledge all alerts so far")
	return cmd
}

func (o *alertsAckOptions) run(ctx context.Context, s *session, args []string) error {
	if o.all {
		return ackAll(ctx, s)
	}
	seqs := make([]int64, len(args))
	for i, arg := range args {
		var err error
		if seqs[i], err = numberOf(arg, "an alert: podctl alerts lists them"); err != nil {
			return err
		}
	}
	resp, err := s.Alerts().AckAlerts(ctx, &poddv1.AckAlertsRequest{Seqs: seqs})
	return s.answer(resp, err, line("acknowledged %s", strings.Join(args, ", ")))
}

// ackAll acknowledges all open alerts.
func ackAll(ctx context.Context, s *session) (err error) {
	var seqs []int64
	for a, err := range s.ListAlerts(ctx, client.AlertOptions{Unacked: true}) {
		if err != nil {
			return err
		}
		seqs = append(seqs, a.GetSeq())
	}
	resp := &poddv1.AckAlertsResponse{}
	if len(seqs) > 0 {
		resp, err = s.Alerts().AckAlerts(ctx, &poddv1.AckAlertsRequest{Seqs: seqs})
	}
	return s.answer(resp, err, line("acknowledged %s", plural(len(seqs), "alert")))
}

// openAlerts finds the alerts that are not acknowledged.
func openAlerts(ctx context.Context, s *session, offer func(value, about string)) error {
	resp, err := s.Alerts().ListAlerts(ctx, &poddv1.ListAlertsRequest{Unacked: true})
	for _, a := range resp.GetAlerts() {
		offer(fmt.Sprint(a.GetSeq()), beginning(a.GetText()))
	}
	return err
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

// podName is the name of a pod, or its id when podd cannot be reached or the pod is deleted. It remembers names.
func podName(ctx context.Context, s *session, names map[string]string, id string) string {
	if name, ok := names[id]; ok || id == "" {
		return name
	}
	name := id
	pod, err := s.Pod(ctx, id)
	if err == nil {
		name = pod.GetName()
	}
	if item.KindOf(err) != item.KindUnavailable {
		names[id] = name
	}
	return name
}
