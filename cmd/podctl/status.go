package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"podd/internal/clients/view"
	"podd/internal/sanitize"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

func newStatusCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show the state and settings of podd",
		Args:  statusArgs,
		RunE:  p.onPodd(runStatus),
	}
}

func runStatus(ctx context.Context, s *session, _ []string) error {
	status, err := s.Admin().GetStatus(ctx, &poddv1.GetStatusRequest{})
	return s.answer(status, err, func(w io.Writer) error {
		facts := statusFacts(status, s.now())
		if all, err := s.Triggers().ListTriggers(ctx, &poddv1.ListTriggersRequest{}); err == nil { // An older podd has none.
			fact := triggersFact(all.GetTriggers(), s.now())
			if fact != "" {
				fact += ": podctl trigger list"
			}
			facts = append(facts, [2]string{"triggers", fact})
		}
		return facts.writeTo(w)
	})
}

// triggersFact says how many triggers there are, when the next one is due, and how many are paused; empty without any.
func triggersFact(all []*poddv1.Trigger, now time.Time) string {
	if len(all) == 0 {
		return ""
	}
	var next time.Time
	paused := 0
	for _, t := range all {
		if at := t.GetNext(); at != nil && (next.IsZero() || at.AsTime().Before(next)) {
			next = at.AsTime()
		}
		if t.GetPaused() != "" {
			paused++
		}
	}
	fact := fmt.Sprint(len(all))
	if !next.IsZero() {
		fact += ", next due " + clock(next, now)
	}
	if paused > 0 {
		fact += fmt.Sprintf(", %d paused", paused)
	}
	return fact
}

// statusArgs names the verb for a pod to a person who names one.
func statusArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 1 && item.ValidPodRef(args[0]) {
		return usagef("status shows podd, not a pod: podctl show %s", sanitize.Word(args[0]))
	}
	return operands(cmd, args)
}

func statusFacts(s *poddv1.GetStatusResponse, now time.Time) facts {
	key := "not set"
	switch {
	case s.GetHasKey():
		key = "set"
	case strings.HasPrefix(s.GetBaseUrl(), "https://api.openai.com/"):
		key = "not set: start podd again with OPENAI_API_KEY in its environment, or set api_key_file"
	}
	started := s.GetStartedAt().AsTime()
	shown := facts{
		{"podd", s.GetVersion()},
		{"pid", fmt.Sprint(s.GetPid())},
		{"uptime", fmt.Sprintf("%s, since %s", view.Duration(now.Sub(started)), stamp(started))},
		{"socket", s.GetSocket()},
		{"state", s.GetStateDir()},
		{"store", s.GetStore()},
		{"node", when(s.GetNode() != "", fmt.Sprintf("%s, lease renewed %s ago; podctl nodes lists all", s.GetNode(), view.Duration(s.GetLeaseAge().AsDuration())))},
		{"config", configured(s)},
		{"config error", when(s.GetConfigError() != "", s.GetConfigError()+"; still using the previous configuration")},
		{"needs a restart", strings.Join(s.GetNeedRestart(), ", ")},
		{"pods", fmt.Sprintf("%d, %d loaded, %d running a turn", s.GetPods(), s.GetPodsLoaded(), s.GetPodsRunning())},
		{"paused at start", hint(int(s.GetPodsLeft()), "pod", "pods", "podctl resume --all")},
		{"jobs", hint(int(s.GetJobs()), "job runs", "jobs run", "podctl jobs")},
		{"sandbox", sandbox(s)},
		{"sandbox lacks", weaker(s)},
		{"launcher", when(s.GetLauncherNote() != "", "none, so commands start slower: "+s.GetLauncherNote())},
		{"credentials", hidden(s)},
		{"model", orDefault(s.GetModel(), "chosen at the first request")},
		{"endpoint", fmt.Sprintf("%s%s (%s)", chosen(s.GetEndpoint()), s.GetBaseUrl(), s.GetApi())},
		{"key", key},
		{"spending", spendingFact(s.GetSpending())},
	}
	for _, e := range s.GetEndpoints() {
		if e.GetName() != s.GetEndpoint() {
			shown = append(shown, [2]string{"endpoint " + e.GetName(), fmt.Sprintf("%s (%s), key: %s", e.GetBaseUrl(), e.GetApi(), orDefault(e.GetKeySource(), "not set"))})
		}
	}
	return append(shown, [2]string{"version", age(s)})
}

// spendingFact says what is left of the day's limit; empty without one.
func spendingFact(s *poddv1.Spending) string {
	if s == nil {
		return ""
	}
	text := fmt.Sprintf("$%.4f of $%.4f spent today, $%.4f left", s.GetSpentToday(), s.GetMaxCostPerDay(), s.GetLeft())
	if n := s.GetUnpricedRequests(); n > 0 {
		text += ", not counting " + plural(int(n), "request") + " without a price"
	}
	if n := s.GetWaitingPods(); n > 0 {
		text += fmt.Sprintf("; waiting until %s: %s", stamp(s.GetNextDay().AsTime()), plural(int(n), "pod"))
	}
	return text
}

// chosen names the endpoint of models that name none, unless it is the default one.
func chosen(endpoint string) string {
	if endpoint == "" || endpoint == item.DefaultEndpoint {
		return ""
	}
	return endpoint + ", "
}

// configured names the configuration file and when podd read it.
func configured(s *poddv1.GetStatusResponse) string {
	file := orDefault(s.GetConfig(), "none; using defaults")
	if at := s.GetConfigLoadedAt(); at != nil {
		file += ", read " + stamp(at.AsTime())
	}
	return file
}

// sandbox says how podd runs shell commands.
func sandbox(s *poddv1.GetStatusResponse) string {
	mode := orDefault(s.GetSandbox(), "none")
	text := mode + ": shell commands run inside it, without the network"
	if s.GetNetwork() {
		text = mode + ": shell commands run inside it, with the network"
	}
	switch s.GetShellCommands() {
	case "refuse":
		text = mode + ": shell commands are refused"
	case "ask":
		text = mode + ": shell commands run without a sandbox, each after approval"
	case "run":
		text = mode + ": shell commands run without a sandbox and without approval"
	default:
		if mode == "none" { // An old podd does not say more.
			text = "none: shell commands run without a sandbox"
		}
	}
	if note := s.GetSandboxNote(); note != "" {
		text += " (" + note + ")"
	}
	return text
}

// weaker says what a sandbox does not do, and where help is; empty for the strongest one.
func weaker(s *poddv1.GetStatusResponse) string {
	switch s.GetSandbox() {
	case "landlock":
		return "Landlock cannot make files read-only: podd puts protected files, such as AGENTS.md, back after a change; see docs/security.md#without-bubblewrap"
	case "none":
		return "see docs/security.md#without-bubblewrap"
	}
	return ""
}

// hidden counts the credentials that shell commands cannot see; empty without a sandbox.
func hidden(s *poddv1.GetStatusResponse) string {
	switch n := s.GetHiddenCredentials(); {
	case s.GetShellCommands() != "confined":
		return ""
	case n == 0:
		return "no credentials found in your home directory"
	case n == 1:
		return "1 file or directory with credentials is hidden from shell commands"
	default:
		return fmt.Sprintf("%d files and directories with credentials are hidden from shell commands", n)
	}
}
