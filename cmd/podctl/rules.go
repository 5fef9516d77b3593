package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"podd/internal/clients/view"
	"podd/internal/sanitize"
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
		RunE: p.onPodd(runRules),
	}
	cmd.AddCommand(newRulesRmCommand(p))
	return cmd
}

func runRules(ctx context.Context, s *session, args []string) error {
	resp, err := s.Approvals().ListRules(ctx, &poddv1.ListRulesRequest{Pod: valid(args[0])})
	if err != nil {
		return err
	}
	whose := "no pod has"
	if args[0] != "" {
		whose = "pod " + sanitize.Line(args[0]) + " has no"
	}
	none := whose + " rules of its own; approve --always adds one"
	return list(s.program, resp.GetRules(), none, "POD\tID\tDECISION\tTOOL\tPATH\tCOMMAND\tHOST\tACCESS\tADDED", func(r *poddv1.PodRule) []any {
		rule, added := r.GetRule(), "-"
		if at := rule.GetAdded(); at != nil {
			added = stamp(at.AsTime())
		}
		return []any{
			r.GetPodName(), shortRule(r), rule.GetDecision(), orDash(rule.GetTool()), orDash(rule.GetPath()), orDash(rule.GetCommand()), orDash(rule.GetHost()),
			orDash(strings.Join(rule.GetAccess(), ",")), added,
		}
	})
}

func newRulesRmCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:               "rm [POD] ID",
		Short:             "Remove a rule of a pod",
		Long:              "Removes a rule of a pod. It no longer applies to the next call, also in a running turn.",
		ValidArgsFunction: p.completeOfPod(1, ownRules),
		RunE:              p.onPod(runRulesRm),
	}
}

func runRulesRm(ctx context.Context, s *session, args []string) error {
	resp, err := s.Approvals().RemoveRule(ctx, &poddv1.RemoveRuleRequest{Pod: s.pod, Id: valid(args[1])})
	r := resp.GetRule()
	return s.answer(r, err, line("removed rule %s of pod %s: %s", shortRule(r), sanitize.Line(r.GetPodName()), view.Rule(wire.RuleFromProto(r.GetRule()))))
}

// shortRule is as much of a rule's id as people type.
func shortRule(r *poddv1.PodRule) string { return sanitize.Line(r.GetId()[:min(6, len(r.GetId()))]) }

// ownRules finds the rules of a pod.
func ownRules(ctx context.Context, s *session, offer func(value, about string)) error {
	resp, err := s.Approvals().ListRules(ctx, &poddv1.ListRulesRequest{Pod: s.pod})
	for _, r := range resp.GetRules() {
		offer(shortRule(r), view.Rule(wire.RuleFromProto(r.GetRule())))
	}
	return err
}
