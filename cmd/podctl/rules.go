package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"podd/internal/clients/view"
	"podd/internal/sanitize"
	"podd/pkg/client"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

func newRulesCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:         "rules [POD]",
		Annotations: withoutPod("all pods"),
		Short:       "List the rules of a pod",
		Long: "Lists the rules that pods have of their own, of one pod or of all: an answer with \"always\" adds one. podd " +
			"config shows the rules for all pods.",
		RunE: p.onPodd(func(ctx context.Context, c *client.Client, args []string) error {
			resp, err := c.Approvals().ListRules(ctx, &poddv1.ListRulesRequest{Pod: valid(args[0])})
			if err != nil {
				return err
			}
			return printEach(p, resp.GetRules(), func() error { return p.ruleTable(p.stdout, args[0], resp.GetRules()) })
		}),
	}
	cmd.AddCommand(newRulesRmCommand(p))
	return cmd
}

func newRulesRmCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:               "rm [POD] ID",
		Short:             "Remove a rule of a pod",
		Long:              "Removes a rule of a pod. It no longer applies to the next call, also in a running turn.",
		ValidArgsFunction: p.completeRules,
		RunE: p.onPod(func(ctx context.Context, c *client.Client, pod string, args []string) error {
			resp, err := c.Approvals().RemoveRule(ctx, &poddv1.RemoveRuleRequest{Pod: pod, Id: valid(args[1])})
			if err != nil {
				return err
			}
			r := resp.GetRule()
			return p.print(r, line("removed rule %s of pod %s: %s", shortRule(r), sanitize.Line(r.GetPodName()), view.Rule(wire.RuleFromProto(r.GetRule()))))
		}),
	}
}

// shortRule is as much of a rule's id as people type.
func shortRule(r *poddv1.PodRule) string { return sanitize.Line(r.GetId()[:min(6, len(r.GetId()))]) }

func (p *program) ruleTable(w io.Writer, pod string, rules []*poddv1.PodRule) error {
	if len(rules) == 0 {
		whose := "no pod has"
		if pod != "" {
			whose = "pod " + sanitize.Line(pod) + " has no"
		}
		_, err := fmt.Fprintf(p.stderr, "%s rules of its own; approve --always adds one\n", whose)
		return err
	}
	t := newTable(w)
	fmt.Fprintln(t, "POD\tID\tDECISION\tTOOL\tPATH\tCOMMAND\tHOST\tACCESS\tADDED")
	for _, r := range rules {
		rule, added := r.GetRule(), "-"
		if at := rule.GetAdded(); at != nil {
			added = stamp(at.AsTime())
		}
		fmt.Fprintf(t, "%s\t%s\t%s", sanitize.Line(r.GetPodName()), shortRule(r), sanitize.Line(rule.GetDecision()))
		for _, part := range []string{rule.GetTool(), rule.GetPath(), rule.GetCommand(), rule.GetHost(), strings.Join(rule.GetAccess(), ",")} {
			fmt.Fprintf(t, "\t%s", cmp.Or(sanitize.Line(part), "-"))
		}
		fmt.Fprintf(t, "\t%s\n", added)
	}
	return t.Flush()
}

// completeRules offers the pods, and then the rules of one.
func (p *program) completeRules(cmd *cobra.Command, args []string, start string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return p.completeOfPod(cmd, args, start, func(ctx context.Context, c *client.Client, pod string, offer func(value, about string)) error {
		resp, err := c.Approvals().ListRules(ctx, &poddv1.ListRulesRequest{Pod: pod})
		for _, r := range resp.GetRules() {
			offer(shortRule(r), view.Rule(wire.RuleFromProto(r.GetRule())))
		}
		return err
	})
}
