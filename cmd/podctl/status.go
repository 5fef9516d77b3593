package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"podd/internal/view"
	"podd/pkg/client"
	poddv1 "podd/proto/podd/v1"
)

func newStatusCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:               "status",
		Short:             "show how podd is set up",
		Args:              argCount(0, 0),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.with(func(c *client.Client) error {
				status, err := c.Admin().GetStatus(cmd.Context(), &poddv1.GetStatusRequest{})
				if err != nil {
					return err
				}
				return p.print(status, statusFacts(status, p.now()).writeTo)
			})
		},
	}
}

func statusFacts(s *poddv1.GetStatusResponse, now time.Time) facts {
	key := "not set"
	if s.GetHasKey() {
		key = "set"
	}
	started := s.GetStartedAt().AsTime()
	return facts{
		{"podd", s.GetVersion()},
		{"pid", fmt.Sprint(s.GetPid())},
		{"uptime", fmt.Sprintf("%s, since %s", view.Duration(now.Sub(started)), stamp(started))},
		{"socket", s.GetSocket()},
		{"state", s.GetStateDir()},
		{"config", orDefault(s.GetConfig(), "none, defaults hold")},
		{"pods", fmt.Sprintf("%d, %d loaded, %d running a turn", s.GetPods(), s.GetPodsLoaded(), s.GetPodsRunning())},
		{"sandbox", sandbox(s.GetSandbox(), s.GetSandboxNote())},
		{"model", orDefault(s.GetModel(), "chosen at the first request")},
		{"endpoint", fmt.Sprintf("%s (%s)", s.GetBaseUrl(), s.GetApi())},
		{"key", key},
	}
}

// sandbox says what the mode means for shell commands.
func sandbox(mode, note string) string {
	text := mode + ": shell commands run inside"
	if mode == "" || mode == "none" {
		text = "none: shell commands run unsandboxed"
	}
	if note != "" {
		text += " (" + note + ")"
	}
	return text
}
