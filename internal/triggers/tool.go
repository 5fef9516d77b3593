package triggers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"podd/internal/sanitize"
	"podd/pkg/item"
	"podd/pkg/tool"
)

// ToolName is the name of the tool by which a model gives its own pod triggers.
const ToolName = "schedule"

const description = `Have yourself called again at a time: podd then gives you the prompt as a new turn. ` +
	`Also lists and removes what you scheduled.`

type arguments struct {
	Action string `json:"action" jsonschema:"add, list or remove"`
	Name   string `json:"name,omitempty" jsonschema:"small letters, digits, dashes"`
	Prompt string `json:"prompt,omitempty" jsonschema:"what to do then"`
	At     string `json:"at,omitempty" jsonschema:"once: 2026-12-01T09:00:00+01:00, or 45m from now"`
	Every  string `json:"every,omitempty" jsonschema:"an interval such as 30m"`
	Cron   string `json:"cron,omitempty" jsonschema:"five fields"`
	Zone   string `json:"zone,omitempty" jsonschema:"of cron, such as Europe/Berlin"`
}

func (a *arguments) check() error {
	switch a.Action {
	case "list":
		return nil
	case "remove":
		if a.Name == "" {
			return errors.New("name is missing: action list shows them")
		}
		return nil
	case "add":
		_, err := a.spec(time.Now())
		return err
	}
	return fmt.Errorf("action %q is not known: use add, list or remove", a.Action)
}

// spec is what the arguments of add ask for. Durations count from now.
func (a *arguments) spec(now time.Time) (s Spec, err error) {
	s = Spec{Prompt: a.Prompt, Cron: a.Cron, Zone: a.Zone}
	if a.Every != "" {
		if s.Every, err = time.ParseDuration(a.Every); err != nil {
			return s, fmt.Errorf("every %q is no duration: write 30m or 24h", a.Every)
		}
	}
	if a.At != "" {
		if in, err := time.ParseDuration(a.At); err == nil {
			s.At = now.Add(in)
		} else if s.At, err = time.Parse(time.RFC3339, a.At); err != nil {
			return s, fmt.Errorf("at %q is no time: write 2026-12-01T09:00:00+01:00, or 45m", a.At)
		}
	}
	if a.Every == "" && a.At == "" && a.Cron == "" {
		return s, errors.New("give at, every or cron")
	}
	if !validName(a.Name) {
		return s, fmt.Errorf("name %q can't be: use small letters, digits and dashes, at most %d", a.Name, maxName)
	}
	return s, s.check(now)
}

// Tool makes the tool of a pod, by its id.
func (w *Wing) Tool(id string) tool.Tool {
	s := scheduler{w, id}
	return tool.New(ToolName, description, s.run, tool.Validate((*arguments).check), tool.Touches(access), tool.Recovers(s.recover))
}

// access lets a list pass without a question.
func access(a arguments) tool.Access { return tool.Access{Confined: a.Action == "list"} }

type scheduler struct {
	wing *Wing
	pod  string
}

func (s scheduler) run(ctx context.Context, call *tool.Invocation, args arguments) (tool.Output, error) {
	if call.Plan && args.Action != "list" {
		return tool.Error("%s: not done: this turn only plans: put it into your plan", ToolName), nil
	}
	var out tool.Output
	var err error
	switch args.Action {
	case "add":
		out, err = s.add(ctx, call.CallID, args)
	case "remove":
		out, err = tool.FromString(fmt.Sprintf("%s: removed %s", ToolName, args.Name)), s.wing.remove(ctx, s.pod, args.Name, true)
	default:
		out, err = s.list(ctx)
	}
	if err != nil && ctx.Err() == nil && item.KindOf(err) != item.KindUnavailable && item.KindOf(err) != item.KindInternal {
		return tool.Error("%s: not done: %s", ToolName, sanitize.Line(err.Error())), nil
	}
	return out, err
}

func (s scheduler) add(ctx context.Context, call string, args arguments) (tool.Output, error) {
	spec, err := args.spec(s.wing.now())
	if err != nil {
		return tool.Output{}, invalid("%s", err)
	}
	t, err := s.wing.Set(ctx, Setting{Pod: s.pod, Name: args.Name, Spec: spec, By: call, Own: true})
	if err != nil {
		return tool.Output{}, err
	}
	return tool.FromString(fmt.Sprintf("%s: added %s, next due %s", ToolName, t.Name, inUTC(t.Next))), nil
}

func (s scheduler) list(ctx context.Context) (tool.Output, error) {
	all, err := s.wing.List(ctx, s.pod)
	if err != nil {
		return tool.Output{}, err
	}
	var b strings.Builder
	for _, t := range all {
		due := "not due"
		if !t.Next.IsZero() {
			due = "next due " + inUTC(t.Next)
		}
		fmt.Fprintf(&b, "%s: %s, %s: %s\n", t.Name, t.condition(t.After), due, sanitize.Line(t.Prompt))
	}
	return tool.Output{Summary: fmt.Sprintf("%s: %s", ToolName, counted(len(all))), Content: b.String(), Kind: item.OutputTask}, nil
}

func counted(n int) string {
	if n == 1 {
		return "1 trigger"
	}
	return fmt.Sprintf("%d triggers", n)
}

// recover finds what a call of an earlier podd did: the trigger that it added has its id.
func (s scheduler) recover(ctx context.Context, call *tool.Invocation, args arguments) (tool.Output, item.Recovery, error) {
	all, err := s.wing.List(ctx, s.pod)
	if err != nil {
		return tool.Output{}, item.RecoveryUnknown, err
	}
	there := false
	for _, t := range all {
		if args.Action == "add" && t.By == call.CallID {
			return tool.FromString(fmt.Sprintf("%s: added %s", ToolName, t.Name)), item.RecoveryFound, nil
		}
		there = there || t.Name == args.Name
	}
	switch {
	case args.Action == "add":
		return tool.Error("%s: not done: podd stopped before it: call again if you still need it", ToolName), item.RecoveryNoEffect, nil
	case args.Action == "remove" && !there:
		return tool.FromString(fmt.Sprintf("%s: removed %s", ToolName, args.Name)), item.RecoveryFound, nil
	}
	out, err := s.run(ctx, call, args)
	return out, item.RecoveryAgain, err
}
