package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"podd/internal/clients/view"
	"podd/internal/sanitize"
	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

func newShowCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "show [POD]",
		Short: "Show details of a pod",
		RunE:  p.onPod(runShow),
	}
}

func runShow(ctx context.Context, s *session, _ []string) error {
	resp, err := s.Pods().GetPod(ctx, &poddv1.GetPodRequest{Pod: s.pod, ModelSettings: true, ToolsOnly: true})
	if err != nil {
		return err
	}
	if s.output == outputJSON {
		return printShown(s, resp)
	}
	shown := podFacts(wire.PodFromProto(resp.GetPod()), s.now())
	shown = append(shown, networkFact(resp), projectFact(resp), undoFact(resp))
	return append(shown, modelFacts(resp.GetModelSettings())...).writeTo(s.stdout)
}

// podFacts describe a pod.
func podFacts(pod item.Pod, now time.Time) facts {
	of, instructions := pod.Spec.Checkout, int64(len(pod.Spec.Instructions))
	log := "empty"
	if pod.Last > 0 {
		log = fmt.Sprintf("#%d to #%d", pod.First, pod.Last)
	}
	return facts{
		{"name", pod.Name},
		{"id", pod.ID},
		{"state", podState(pod, now)},
		{"reason", pod.Status.Reason},
		{"paused", held(pod)},
		{"waiting until", when(!pod.Status.WaitUntil.IsZero(), until(pod.Status.WaitUntil, now))},
		{"approvals", hint(pod.Status.Approvals-pod.Status.Questions, "call waits", "calls wait", "podctl approvals "+pod.Name)},
		{"questions", hint(pod.Status.Questions, "call asks", "calls ask", "podctl questions "+pod.Name)},
		{"letters", hint(pod.Status.Letters, "letter waits", "letters wait", "podctl letters "+pod.Name)},
		{"inbox", hint(pod.Queued, "prompt queued", "prompts queued", "podctl inbox "+pod.Name)},
		{"jobs", hint(pod.Status.Jobs, "job runs", "jobs run", "podctl jobs "+pod.Name)},
		{"node", nodeFact(pod)},
		{"dir", pod.Spec.Dir},
		{"checkout", when(of != (item.Checkout{}), fmt.Sprintf("of %s, branch %s, from commit %.12s", of.Source, of.Branch, of.Base))},
		{"read", strings.Join(pod.Spec.Read, ", ")},
		{"write", strings.Join(pod.Spec.Write, ", ")},
		{"instructions", orDefault(when(instructions > 0, fmt.Sprintf("custom, %s bytes", view.Count(instructions))), "default")},
		{"base instructions", pod.Spec.BaseInstructions},
		{"ask", orDefault(pod.Spec.Ask, "default")},
		{"plan", when(pod.Spec.Plan, "turns change nothing, unless submit says --plan=false")},
		{"rules", rules(pod.Spec.Rules)},
		{"limits per turn", turnLimits(pod.Spec.Limits)},
		{"budget", budget(pod.Spec.Limits)},
		{"tools", strings.Join(pod.Spec.Tools, ", ")},
		{"sub-pods", when(pod.Spec.SubPods > 0, fmt.Sprintf("up to %d at once", pod.Spec.SubPods))},
		{spawned(pod.Spec), pod.Spec.Parent},
		{"turns", view.Count(pod.Status.Turn)},
		{"log", log},
		{"requests", view.Count(pod.Status.Usage.Requests)},
		{"tokens", view.Tokens(pod.Status.Usage)},
		{"created", stamp(pod.CreatedAt)},
		{"last activity", stamp(pod.Status.LastActivity)},
	}
}

// modelFacts say what the next turn asks the model with, and where each setting is from.
func modelFacts(settings []*poddv1.ModelSetting) facts {
	var shown facts
	for _, m := range settings {
		name, value := sanitize.Line(strings.ReplaceAll(m.GetName(), "_", " ")), m.GetValue()
		if n, err := strconv.ParseInt(value, 10, 64); err == nil && (m.GetName() == "window" || m.GetName() == "max_output") {
			value = view.Count(n) + " tokens"
		}
		if m.GetSource() != "" {
			value += " (" + m.GetSource() + ")"
		}
		switch why := m.GetLeftOut(); {
		case why == "":
		case m.GetName() == "model":
			value = orDefault(value, "none") + ": " + why
		default:
			value += ", left out: " + why
		}
		shown = append(shown, [2]string{name, value})
	}
	return shown
}

// printShown prints the pod, with the other members of the answer beside its own.
func printShown(s *session, resp *poddv1.GetPodResponse) error {
	pod, err := wire.JSON(resp.GetPod())
	if err != nil {
		return err
	}
	resp.Pod = nil
	more, err := wire.JSON(resp)
	if err != nil {
		return err
	}
	line := strings.TrimSuffix(string(pod), "}") + "," + strings.TrimPrefix(string(more), "{")
	_, err = fmt.Fprintln(s.stdout, sanitize.JSON(line))
	return err
}

func orDefault(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}

// held says why a pod is paused, unless its state says so already.
func held(pod item.Pod) string {
	pause := pod.Status.Pause
	switch {
	case pause == nil:
		return ""
	case pause.At != "":
		return fmt.Sprintf("%s (turn %d, %s)", pause.Reason, pause.Turn, pause.At)
	case pause.Reason == pod.Status.Reason:
		return ""
	}
	return pause.Reason
}

// hint says how many of something there are and which command lists them.
func hint(n int, one, several, command string) string {
	switch n {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("1 %s: %s", one, command)
	}
	return fmt.Sprintf("%s %s: %s", view.Count(int64(n)), several, command)
}

// networkFact says whether shell commands reach the network now, and why.
func networkFact(resp *poddv1.GetPodResponse) [2]string {
	says, spec := "off", resp.GetPod().GetSpec()
	if resp.GetNetwork() {
		says = "on"
	}
	switch own := spec.GetNetwork(); {
	case own == "":
		says += " (default)"
	case own != says:
		says += " (the pod's setting is " + own + ")"
	}
	return [2]string{"network", says}
}

// projectFact says whether podd uses the workspace's own configuration.
func projectFact(resp *poddv1.GetPodResponse) [2]string {
	dir := sanitize.Word(resp.GetPod().GetSpec().GetDir())
	says := ""
	switch resp.GetProjectConfig() {
	case "trusted":
		says = "trusted"
	case "changed":
		says = "ignored: it changed after it was trusted; review it with podctl trust " + dir
	case "never":
		says = "ignored: it is not trusted; review it with podctl trust " + dir
	case "":
		says = "ignored: podd cannot read it; podctl trust " + dir + " shows why"
	}
	return [2]string{"workspace configuration", says}
}

// undoFact says where undo does not cover commands; empty where it does.
func undoFact(resp *poddv1.GetPodResponse) [2]string {
	dirs := resp.GetToolsOnly()
	return [2]string{"undo", when(len(dirs) > 0, "only what file tools change, not commands, in "+strings.Join(dirs, ", "))}
}

// turnLimits are the limits of one turn that the pod's spec sets; "" when podd's defaults
// apply.
func turnLimits(l item.PodLimits) string {
	var list []string
	add := func(set bool, text string) {
		if set {
			list = append(list, text)
		}
	}
	add(l.MaxSteps > 0, plural(l.MaxSteps, "step"))
	add(l.MaxToolCalls > 0, plural(l.MaxToolCalls, "tool call"))
	add(l.MaxParallel > 0, fmt.Sprintf("%d at once", l.MaxParallel))
	add(l.MaxTurnTime > 0, view.Duration(l.MaxTurnTime))
	add(l.MaxTokens > 0, view.Count(l.MaxTokens)+" tokens")
	add(l.MaxCost > 0, usd(l.MaxCost))
	return strings.Join(list, ", ")
}

// budget is what all turns of a pod may use together; "" without a limit.
func budget(l item.PodLimits) string {
	var list []string
	if l.TotalCost > 0 {
		list = append(list, usd(l.TotalCost))
	}
	if l.TotalTokens > 0 {
		list = append(list, view.Count(l.TotalTokens)+" tokens")
	}
	return strings.Join(list, ", ")
}

// usd is an amount of money, with cents at least.
func usd(amount float64) string {
	text := fmt.Sprintf("%.4f", amount)
	for range 2 {
		text = strings.TrimSuffix(text, "0")
	}
	return "$" + text
}

func rules(list []item.Rule) string {
	words := make([]string, len(list))
	for i, r := range list {
		words[i] = view.Rule(r)
	}
	return strings.Join(words, "; ")
}
