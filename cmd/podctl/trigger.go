package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"

	"podd/internal/clients/view"
	"podd/internal/sanitize"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

func newTriggerCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "trigger",
		Short: "Let a pod work without you: at a time, after a turn, when files change, at an event",
		Long: "Manages triggers, which submit a prompt to a pod when they are due. podd keeps a receipt for each time that one was due: " +
			"podctl trigger show has what became of it.",
	}
	cmd.AddCommand(
		new(triggerAddOptions).command(p), newTriggerListCommand(p), new(triggerShowOptions).command(p), new(triggerEditOptions).command(p),
		newTriggerPauseCommand(p, false), newTriggerPauseCommand(p, true), new(triggerFireOptions).command(p), newTriggerRemoveCommand(p),
	)
	return cmd
}

// triggerAddOptions are the flags of trigger add, and the prompt.
type triggerAddOptions struct {
	triggerFlags
	pod      string
	noStdin  bool
	segments []item.Segment
}

func (o *triggerAddOptions) command(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "add NAME [TEXT...]",
		Short: "Add a trigger to a pod",
		Long: "Adds a trigger to a pod: when it is due, podd submits TEXT, followed by standard input as with submit. An @path in TEXT is " +
			"read when the trigger fires. Give one of --cron, --every, --at, --after, --file, --event and --webhook.\n" +
			"Without -p: $PODD_POD, else the pod whose workspace is the current directory.",
		Example: "  podctl trigger add nightly --cron '30 2 * * 1-5' --zone Europe/Berlin \"review the commits\"\n" +
			"  podctl trigger add fix -p site --after ci --on failed \"mend what failed\"",
		PreRunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := o.take(cmd); err != nil {
				return err
			}
			o.segments, err = p.input(cmd, args[1:], "prompt", o.noStdin)
			return err
		},
		RunE: p.onPodd(o.run),
	}
	cmd.Flags().StringVarP(&o.pod, "pod", "p", "", "pod name (PODD_POD)")
	p.completeFlag(cmd, "pod", pods)
	o.register(p, cmd)
	inputFlag(cmd, &o.noStdin)
	return cmd
}

func (o *triggerAddOptions) run(ctx context.Context, s *session, args []string) (err error) {
	if s.pod, err = s.find(ctx, o.pod, nil); err != nil {
		return err
	}
	spec := new(poddv1.TriggerSpec)
	if err := o.apply(spec, s.now()); err != nil {
		return err
	}
	spec.Prompt = valid(noteText(o.segments))
	resp, err := s.Triggers().SetTrigger(ctx, &poddv1.SetTriggerRequest{Pod: s.pod, Name: valid(args[0]), Spec: spec})
	return s.answer(resp, err, func(w io.Writer) error { return writeTriggerSet(w, s, resp.GetTrigger()) })
}

// writeTriggerSet says what a trigger is now, and when it is due.
func writeTriggerSet(w io.Writer, s *session, t *poddv1.Trigger) error {
	next := ""
	if t.GetNext() != nil {
		next = ", next due " + stamp(t.GetNext().AsTime())
	}
	if err := line("trigger %s of pod %s: %s%s", sanitize.Line(t.GetName()), sanitize.Line(t.GetPodName()), sanitize.Line(view.LocalTimes(t.GetCondition())), next)(w); err != nil || !t.GetSpec().GetWebhook() {
		return err
	}
	return line("url: %s\nsecret: podctl trigger show %s/%s --secret", sanitize.Line(webhookURL(t)), sanitize.Line(t.GetPodName()), sanitize.Line(t.GetName()))(w)
}

// triggerEditOptions are the flags of trigger edit, and the new prompt.
type triggerEditOptions struct {
	triggerFlags
	prompt    string
	newSecret bool
}

func (o *triggerEditOptions) command(p *program) *cobra.Command {
	cmd := p.onTrigger(&cobra.Command{
		Use:     "edit TRIGGER",
		Short:   "Change a trigger",
		Long:    "Changes what flags name of a trigger; the rest stays. TRIGGER is NAME or POD/NAME. A new condition counts from now.",
		Example: "  podctl trigger edit nightly --cron '0 3 * * *'",
		PreRunE: func(cmd *cobra.Command, _ []string) error { return o.take(cmd) },
	}, o.run)
	o.register(p, cmd)
	cmd.Flags().StringVar(&o.prompt, "prompt", "", "what the pod has to do")
	cmd.Flags().BoolVar(&o.newSecret, "new-secret", false, "give the webhook another secret")
	return cmd
}

func (o *triggerEditOptions) run(ctx context.Context, s *session, t *poddv1.Trigger) error {
	spec := t.GetSpec()
	if err := o.apply(spec, s.now()); err != nil {
		return err
	}
	if o.prompt != "" {
		spec.Prompt = valid(o.prompt)
	}
	resp, err := s.Triggers().SetTrigger(ctx, &poddv1.SetTriggerRequest{Pod: t.GetPod(), Name: t.GetName(), Spec: spec, Change: true, NewSecret: o.newSecret})
	return s.answer(resp, err, func(w io.Writer) error { return writeTriggerSet(w, s, resp.GetTrigger()) })
}

func newTriggerListCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:         "list [POD]",
		Short:       "List triggers",
		Long:        "Lists the triggers of a pod or, without POD, of all pods.",
		Annotations: withoutPod("all pods"),
		RunE: p.onPodd(func(ctx context.Context, s *session, args []string) error {
			resp, err := s.Triggers().ListTriggers(ctx, &poddv1.ListTriggersRequest{Pod: valid(args[0])})
			if err != nil {
				return err
			}
			return list(s.program, resp.GetTriggers(), "no triggers; add one with podctl trigger add", "NAME\tCONDITION\tPOD\tNEXT\tLAST\tTODAY\tSTATE", func(t *poddv1.Trigger) []any {
				return []any{t.GetName(), view.LocalTimes(t.GetCondition()), triggerTarget(t), triggerNext(s, t), orDash(view.LocalTimes(t.GetLast())), triggerToday(t), triggerState(t)}
			})
		}),
	}
}

func triggerTarget(t *poddv1.Trigger) string {
	if t.GetSpec().GetNewPod() != "" {
		return t.GetPodName() + "/" + t.GetSpec().GetNewPod()
	}
	return t.GetPodName()
}

func triggerNext(s *session, t *poddv1.Trigger) string {
	if t.GetNext() == nil {
		return "-"
	}
	return clock(t.GetNext().AsTime(), s.now())
}

func triggerToday(t *poddv1.Trigger) string {
	return fmt.Sprintf("%d, $%.2f", t.GetFiresToday(), t.GetSpentTodayUsd())
}

func triggerState(t *poddv1.Trigger) string {
	switch {
	case t.GetPaused() != "":
		return "paused: " + t.GetPaused()
	case t.GetWaiting() > 0:
		return fmt.Sprintf("on, %s", plural(int(t.GetWaiting()), "fire")+" waiting")
	case t.GetWorking() > 0:
		return "on, works"
	case t.GetNext() == nil && t.GetSpec().GetAt() != nil:
		return "done"
	}
	return "on"
}

// triggerShowOptions are the flags of trigger show.
type triggerShowOptions struct {
	limit  int32
	since  string
	from   *timestamppb.Timestamp
	secret bool
}

func (o *triggerShowOptions) command(p *program) *cobra.Command {
	cmd := p.onTrigger(&cobra.Command{
		Use:   "show TRIGGER",
		Short: "Show a trigger, and what became of each time that it was due",
		Long: "Shows a trigger and its receipts, the oldest first: each time that it was due fired, joined an earlier fire that waited, was " +
			"missed, skipped, or failed. TRIGGER is NAME or POD/NAME. With --secret, only shows the secret of a webhook.",
		Example: "  podctl trigger show nightly --since 7d",
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			from, ok := sinceTime(o.since, p.now())
			if !ok && cmd.Flags().Changed("since") {
				return usagef("--since %q is not a time: write 7d, 12h or 2026-11-20", o.since)
			}
			if ok {
				o.from = timestamppb.New(from)
			}
			return nil
		},
	}, o.run)
	f := cmd.Flags()
	f.Int32VarP(&o.limit, "limit", "n", 20, "how many receipts, the newest; at most 1000")
	f.StringVar(&o.since, "since", "", "only receipts since then: 7d, 12h or 2026-11-20")
	f.BoolVar(&o.secret, "secret", false, "show only the secret of a webhook")
	completeWith(cmd, "since")
	return cmd
}

func (o *triggerShowOptions) run(ctx context.Context, s *session, t *poddv1.Trigger) error {
	if o.secret {
		resp, err := s.Triggers().GetTriggerSecret(ctx, &poddv1.GetTriggerSecretRequest{Pod: t.GetPod(), Name: t.GetName()})
		return s.answer(resp, err, line("%s", sanitize.Line(resp.GetSecret())))
	}
	resp, err := s.Triggers().ListReceipts(ctx, &poddv1.ListReceiptsRequest{Pod: t.GetPod(), Name: t.GetName(), Limit: max(o.limit, 1), Since: o.from})
	if err != nil {
		return err
	}
	if s.output != outputText {
		if err := s.printJSON(t); err != nil {
			return err
		}
		return printEach(s.program, resp.GetReceipts(), nil)
	}
	spec := t.GetSpec()
	if err := (facts{
		{"trigger", t.GetName()}, {"pod", triggerTarget(t)}, {"condition", view.LocalTimes(t.GetCondition())}, {"url", webhookURL(t)}, {"selects", strings.Join(spec.GetSelect(), " ")}, {"state", triggerState(t)}, {"next", when(t.GetNext() != nil, triggerNext(s, t))},
		{"today", triggerToday(t)}, {"budget", when(spec.GetBudgetUsd() > 0, fmt.Sprintf("$%.2f a day", spec.GetBudgetUsd()))},
		{"missed", spec.GetMissed()}, {"overlap", when(spec.GetSkipOverlap(), "skip")}, {"prompt", beginning(spec.GetPrompt())},
	}).writeTo(s.stdout); err != nil {
		return err
	}
	if len(resp.GetReceipts()) == 0 {
		return line("\nno receipts yet")(s.stdout)
	}
	out := table{"\nDUE\tFIRE\tWHAT\tPOD\tTURN\tCOST\tWHY"}
	for _, r := range resp.GetReceipts() {
		out.row(receiptDue(r), number(r.GetNumber()), receiptWhat(r), orDash(r.GetPodName()), number(r.GetTurn()), receiptCost(r), orDash(receiptWhy(r)))
	}
	return out.writeTo(s.stdout)
}

// webhookURL is where a webhook is fired; empty for another trigger.
func webhookURL(t *poddv1.Trigger) string {
	if t.GetSpec().GetWebhook() && t.GetUrl() == "" {
		return `off: set listen = "127.0.0.1:7634" in [triggers] of the configuration, and restart podd`
	}
	return t.GetUrl()
}

func number(n int64) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

func receiptDue(r *poddv1.Receipt) string {
	if r.GetCount() > 1 {
		return stamp(r.GetFirstDue().AsTime()) + " to " + stamp(r.GetDue().AsTime())
	}
	return stamp(r.GetDue().AsTime())
}

// receiptWhat says what became of a due time.
func receiptWhat(r *poddv1.Receipt) string {
	what := strings.ToLower(strings.TrimPrefix(r.GetKind().String(), "RECEIPT_KIND_"))
	switch {
	case r.GetCount() > 1:
		return fmt.Sprintf("%d %s", r.GetCount(), what)
	case r.GetOutcome() != "":
		return what + ", " + r.GetOutcome()
	}
	return what
}

func receiptCost(r *poddv1.Receipt) string {
	if r.GetOutcome() == "" {
		return "-"
	}
	return fmt.Sprintf("$%.4f", r.GetCostUsd())
}

func receiptWhy(r *poddv1.Receipt) string {
	if r.GetEventId() != "" && r.GetCause() == "" {
		return "event " + r.GetEventId()
	}
	return r.GetCause()
}

func newTriggerPauseCommand(p *program, resume bool) *cobra.Command {
	verb, about := "pause", "Pauses a trigger. The times that are due meanwhile count as missed."
	if resume {
		verb, about = "resume", "Goes on with a paused trigger. What was due meanwhile was missed: by default it fires once for all of it."
	}
	all := false
	cmd := &cobra.Command{
		Use:     verb + " [TRIGGER]",
		Short:   strings.ToUpper(verb[:1]) + verb[1:] + " a trigger",
		Long:    about + " TRIGGER is NAME or POD/NAME.",
		Example: "  podctl trigger " + verb + " nightly",
		PreRunE: func(_ *cobra.Command, args []string) error {
			if all == (len(args) == 1) {
				return usagef("trigger %s needs either TRIGGER or --all", verb)
			}
			return nil
		},
		ValidArgsFunction: p.complete(1, triggers),
	}
	cmd.RunE = p.onPodd(func(ctx context.Context, s *session, args []string) error {
		resp, err := s.Triggers().ListTriggers(ctx, &poddv1.ListTriggersRequest{})
		if err != nil {
			return err
		}
		chosen := resp.GetTriggers()
		if !all {
			t, err := chooseTrigger(chosen, args[0])
			if err != nil {
				return err
			}
			chosen = []*poddv1.Trigger{t}
		}
		for _, t := range chosen {
			resp, err := s.Triggers().PauseTrigger(ctx, &poddv1.PauseTriggerRequest{Pod: t.GetPod(), Name: t.GetName(), Resume: resume})
			if err := s.answer(resp, err, line("%sd trigger %s of pod %s", verb, sanitize.Line(t.GetName()), sanitize.Line(t.GetPodName()))); err != nil {
				return err
			}
		}
		return nil
	})
	cmd.Flags().BoolVar(&all, "all", false, verb+" all triggers")
	return cmd
}

// triggerFireOptions are the flags of trigger fire.
type triggerFireOptions struct {
	id string
}

func (o *triggerFireOptions) command(p *program) *cobra.Command {
	noStdin, data := false, ""
	cmd := &cobra.Command{
		Use:   "fire TRIGGER [TEXT...]",
		Short: "Fire a trigger now",
		Long: "Fires a trigger now, whatever its condition. TEXT, followed by standard input, is the text of the event, which the model gets " +
			"as data, at most 64 KiB. An event with an --id that podd had in the last seven days does not fire again. TRIGGER is NAME or POD/NAME.",
		Example:           "  git log -1 | podctl trigger fire pushed --id \"$(git rev-parse HEAD)\"",
		ValidArgsFunction: p.complete(1, triggers),
		PreRunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && (noStdin || !fed(p.stdin)) {
				return nil
			}
			segments, err := p.input(cmd, args[1:], "event", noStdin)
			if err != nil && len(args) > 1 {
				return err
			}
			data = valid(noteText(segments))
			return nil
		},
		RunE: p.onPodd(func(ctx context.Context, s *session, args []string) error {
			t, err := s.trigger(ctx, args[0])
			if err != nil {
				return err
			}
			resp, err := s.Triggers().FireTrigger(ctx, &poddv1.FireTriggerRequest{Pod: t.GetPod(), Name: t.GetName(), Id: valid(o.id), Data: data})
			return s.answer(resp, err, func(w io.Writer) error { return writeFired(w, t, resp) })
		}),
	}
	cmd.Flags().StringVar(&o.id, "id", "", "id of the event, which fires once (default: each call fires)")
	completeWith(cmd, "id")
	inputFlag(cmd, &noStdin)
	return cmd
}

// writeFired says what became of an event.
func writeFired(w io.Writer, t *poddv1.Trigger, resp *poddv1.FireTriggerResponse) error {
	name, r := sanitize.Line(t.GetName()), resp.GetReceipt()
	switch {
	case resp.GetDuplicate():
		return line("trigger %s had event %s before (fire %s)", name, sanitize.Line(r.GetEventId()), number(r.GetNumber()))(w)
	case r.GetKind() == poddv1.ReceiptKind_RECEIPT_KIND_SKIPPED:
		return line("trigger %s skips it: %s", name, sanitize.Line(r.GetCause()))(w)
	}
	return line("trigger %s: fire %d", name, r.GetNumber())(w)
}

func newTriggerRemoveCommand(p *program) *cobra.Command {
	return p.onTrigger(&cobra.Command{
		Use:   "rm TRIGGER",
		Short: "Remove a trigger",
		Long:  "Removes a trigger, and its fires that wait. A turn that it began goes on. TRIGGER is NAME or POD/NAME.",
	}, func(ctx context.Context, s *session, t *poddv1.Trigger) error {
		resp, err := s.Triggers().RemoveTrigger(ctx, &poddv1.RemoveTriggerRequest{Pod: t.GetPod(), Name: t.GetName()})
		return s.answer(resp, err, line("removed trigger %s of pod %s", sanitize.Line(t.GetName()), sanitize.Line(t.GetPodName())))
	})
}

// onTrigger makes a command of what a verb does with the trigger that its operand names.
func (p *program) onTrigger(cmd *cobra.Command, do func(ctx context.Context, s *session, t *poddv1.Trigger) error) *cobra.Command {
	cmd.ValidArgsFunction = p.complete(1, triggers)
	cmd.RunE = p.onPodd(func(ctx context.Context, s *session, args []string) error {
		t, err := s.trigger(ctx, args[0])
		if err != nil {
			return err
		}
		return do(ctx, s, t)
	})
	return cmd
}

// trigger finds a trigger by NAME or POD/NAME.
func (s *session) trigger(ctx context.Context, ref string) (*poddv1.Trigger, error) {
	resp, err := s.Triggers().ListTriggers(ctx, &poddv1.ListTriggersRequest{})
	if err != nil {
		return nil, err
	}
	return chooseTrigger(resp.GetTriggers(), ref)
}

// chooseTrigger finds a trigger by NAME or POD/NAME.
func chooseTrigger(all []*poddv1.Trigger, ref string) (found *poddv1.Trigger, err error) {
	pod, name, qualified := strings.Cut(ref, "/")
	if !qualified {
		pod, name = "", ref
	}
	var pods []string
	for _, t := range all {
		if t.GetName() == name && (!qualified || pod == t.GetPodName() || pod == t.GetPod()) {
			found = t
			pods = append(pods, t.GetPodName()+"/"+name)
		}
	}
	switch len(pods) {
	case 0:
		return nil, item.Errorf(item.KindNotFound, "TRIGGER_NOT_FOUND", "no trigger named %q: podctl trigger list shows all", ref)
	case 1:
		return found, nil
	}
	return nil, usagef("several pods have a trigger %q: name one of %s", name, strings.Join(pods, ", "))
}

// triggers offers the triggers of all pods.
func triggers(ctx context.Context, s *session, offer func(value, about string)) error {
	resp, err := s.Triggers().ListTriggers(ctx, &poddv1.ListTriggersRequest{})
	for _, t := range resp.GetTriggers() {
		offer(t.GetName(), t.GetPodName()+": "+t.GetCondition())
	}
	return err
}
