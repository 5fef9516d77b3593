package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"podd/internal/clients/view"
	"podd/pkg/client"
	poddv1 "podd/proto/podd/v1"
)

func newStatusCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:               "status",
		Short:             "show how podd is set up",
		Args:              operands,
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
		{"config", configured(s)},
		{"config refused", refusal(s)},
		{"needs a restart", strings.Join(s.GetNeedRestart(), ", ")},
		{"pods", fmt.Sprintf("%d, %d loaded, %d running a turn", s.GetPods(), s.GetPodsLoaded(), s.GetPodsRunning())},
		{"sandbox", sandbox(s)},
		{"hidden", hidden(s)},
		{"model", orDefault(s.GetModel(), "chosen at the first request")},
		{"endpoint", fmt.Sprintf("%s (%s)", s.GetBaseUrl(), s.GetApi())},
		{"key", key},
		{"age", age(s)},
	}
}

// configured says which file holds since when.
func configured(s *poddv1.GetStatusResponse) string {
	file := orDefault(s.GetConfig(), "none, defaults hold")
	if at := s.GetConfigLoadedAt(); at != nil {
		file += ", read " + stamp(at.AsTime())
	}
	return file
}

// refusal is why the file of now does not hold.
func refusal(s *poddv1.GetStatusResponse) string {
	if s.GetConfigError() == "" {
		return ""
	}
	return s.GetConfigError() + "; the one before it holds"
}

// sandbox says what becomes of shell commands.
func sandbox(s *poddv1.GetStatusResponse) string {
	mode := orDefault(s.GetSandbox(), "none")
	text := mode + ": shell commands run inside"
	switch s.GetShellCommands() {
	case "refuse":
		text = mode + ": shell commands are refused"
	case "ask":
		text = mode + ": shell commands run unsandboxed, once a person agrees to each"
	case "run":
		text = mode + ": shell commands run unsandboxed and unasked"
	default:
		if mode == "none" { // Of a podd that does not say more.
			text = "none: shell commands run unsandboxed"
		}
	}
	if note := s.GetSandboxNote(); note != "" {
		text += " (" + note + ")"
	}
	if mode == "landlock" {
		text += "; it cannot make .git and protected files read-only: commands that name .git ask, and all in a workspace that has protected files"
	}
	return text
}

// hidden counts what shell commands don't see; empty without a sandbox.
func hidden(s *poddv1.GetStatusResponse) string {
	switch n := s.GetHiddenCredentials(); {
	case s.GetShellCommands() != "confined":
		return ""
	case n == 0:
		return "no credentials found in your home directory"
	case n == 1:
		return "1 file or directory with credentials, from shell commands"
	default:
		return fmt.Sprintf("%d files and directories with credentials, from shell commands", n)
	}
}
