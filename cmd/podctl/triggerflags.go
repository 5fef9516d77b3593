package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	poddv1 "podd/proto/podd/v1"
)

// triggerFlags are the flags that add and edit share. given are those that were given.
type triggerFlags struct {
	given func(name string) bool

	cron, zone, at, after, file string
	on                          []string
	every                       time.Duration
	event, webhook              bool
	parts                       []string

	newPod, missed, overlap string
	checkout                bool
	budget                  float64
	plan, noQuestions       bool
}

// triggerConditions are the flags that say when a trigger fires.
var triggerConditions = []string{"cron", "every", "at", "after", "file", "event", "webhook"}

// triggerOutcomes are the words of --on.
var triggerOutcomes = map[string]poddv1.Outcome{
	"finished": poddv1.Outcome_OUTCOME_FINISHED, "failed": poddv1.Outcome_OUTCOME_FAILED, "cancelled": poddv1.Outcome_OUTCOME_CANCELLED,
	"interrupted": poddv1.Outcome_OUTCOME_INTERRUPTED, "limit": poddv1.Outcome_OUTCOME_LIMIT,
}

func (o *triggerFlags) register(p *program, cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.cron, "cron", "", "due at these times: five fields, or a word such as @daily")
	f.StringVar(&o.zone, "zone", "", "time zone of --cron, such as Europe/Berlin (default: that of podd's machine)")
	f.DurationVar(&o.every, "every", 0, "due again and again, 1m or more apart")
	f.StringVar(&o.at, "at", "", "due once, at a TIME such as 2026-12-01T09:00, or in a DURATION such as 45m")
	f.StringVar(&o.after, "after", "", "due when a turn of this POD has ended")
	f.StringSliceVar(&o.on, "on", nil, "with --after: only these outcomes: finished, failed, cancelled, interrupted, limit")
	f.StringVar(&o.file, "file", "", "due when files differ whose paths in the pod's directory match this PATTERN, such as 'inbox/**'")
	f.BoolVar(&o.event, "event", false, "due only when podctl trigger fire says so")
	f.BoolVar(&o.webhook, "webhook", false, "due when somebody with its secret posts to its URL")
	f.StringArrayVar(&o.parts, "select", nil, "with --webhook: only this part of a JSON body, such as .pull_request.title")
	f.StringVar(&o.newPod, "new", "", "give each fire a new sub-pod of this NAME, with {n} for its number")
	f.BoolVar(&o.checkout, "checkout", false, "with --new: each in a git checkout of its own")
	f.StringVar(&o.missed, "missed", "", "due times that podd missed: fire once for all, skip them, or all:N (default once)")
	f.StringVar(&o.overlap, "overlap", "", "while an earlier fire waits: join it, or with skip neither wait nor join (default join)")
	f.Float64Var(&o.budget, "budget", 0, "what its turns may cost in a day, in USD (default: no limit)")
	f.BoolVar(&o.plan, "plan", false, "its turns read and plan, and change nothing")
	f.BoolVar(&o.noQuestions, "no-questions", false, "its turns cannot ask you questions; their calls still need approval")
	completeWith(cmd, "cron", "@hourly", "@daily", "@weekly", "@monthly")
	completeWith(cmd, "zone")
	completeWith(cmd, "every", "10m", "1h", "24h")
	completeWith(cmd, "at")
	completeWith(cmd, "file")
	completeWith(cmd, "on", "finished", "failed", "cancelled", "interrupted", "limit")
	completeWith(cmd, "select")
	completeWith(cmd, "new")
	completeWith(cmd, "missed", "once", "skip", "all:5")
	completeWith(cmd, "overlap", "join", "skip")
	completeWith(cmd, "budget")
	p.completeFlag(cmd, "after", pods)
}

// take checks the flags as they were given.
func (o *triggerFlags) take(cmd *cobra.Command) error {
	o.given = func(name string) bool { return cmd.Flags().Changed(name) }
	var conditions []string
	for _, name := range triggerConditions {
		if o.given(name) {
			conditions = append(conditions, "--"+name)
		}
	}
	switch {
	case len(conditions) > 1:
		return usagef("%s cannot be used together: a trigger has one condition", strings.Join(conditions, " and "))
	case len(conditions) == 0 && cmd.Name() == "add":
		return usagef("say when the trigger is due: --cron, --every, --at, --after, --file, --event or --webhook")
	case o.overlap != "" && o.overlap != "join" && o.overlap != "skip":
		return usagef("--overlap %q is not known: use join or skip", o.overlap)
	}
	for _, word := range o.on {
		if _, ok := triggerOutcomes[word]; !ok {
			return usagef("--on %q is no outcome: use finished, failed, cancelled, interrupted or limit", word)
		}
	}
	return nil
}

// apply changes what was given of a spec.
func (o *triggerFlags) apply(spec *poddv1.TriggerSpec, now time.Time) error {
	for _, name := range triggerConditions {
		if o.given(name) {
			spec.Cron, spec.Every, spec.At, spec.After, spec.File, spec.Event, spec.Webhook = "", nil, nil, "", "", false, false
			spec.Zone, spec.On, spec.Select, spec.Missed = "", nil, nil, ""
			spec.SkipOverlap = spec.GetSkipOverlap() && name != "file"
		}
	}
	set := func(name string, do func()) {
		if o.given(name) {
			do()
		}
	}
	set("cron", func() { spec.Cron = valid(o.cron) })
	set("zone", func() { spec.Zone = valid(o.zone) })
	set("every", func() { spec.Every = durationpb.New(o.every) })
	set("after", func() { spec.After = valid(o.after) })
	set("event", func() { spec.Event = o.event })
	set("webhook", func() { spec.Event, spec.Webhook = o.webhook, o.webhook })
	set("select", func() {
		spec.Select = nil
		for _, part := range o.parts {
			spec.Select = append(spec.Select, valid(part))
		}
	})
	set("file", func() { spec.File = valid(o.file) })
	set("new", func() { spec.NewPod = valid(o.newPod) })
	set("checkout", func() { spec.Checkout = o.checkout })
	set("missed", func() { spec.Missed = valid(o.missed) })
	set("overlap", func() { spec.SkipOverlap = o.overlap == "skip" })
	set("budget", func() { spec.BudgetUsd = o.budget })
	set("plan", func() { spec.Plan = o.plan })
	set("no-questions", func() { spec.NoQuestions = o.noQuestions })
	set("on", func() {
		spec.On = nil
		for _, word := range o.on {
			spec.On = append(spec.On, triggerOutcomes[word])
		}
	})
	if !o.given("at") {
		return nil
	}
	at, err := dueAt(o.at, now)
	spec.At = timestamppb.New(at)
	return err
}

// dueAt is a time to come: a time, on this machine's clock unless it names a zone, or a duration from now.
func dueAt(text string, now time.Time) (time.Time, error) {
	if in, err := time.ParseDuration(text); err == nil {
		return now.Add(in), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02T15:04:05", time.DateTime} {
		if at, err := time.ParseInLocation(layout, text, time.Local); err == nil { //nolint:gosmopolitan // What a person types.
			return at, nil
		}
	}
	return time.Time{}, usageError{fmt.Errorf("--at %q is not a time: write 2026-12-01T09:00, 2026-12-01T09:00:00Z or 45m", text)}
}
