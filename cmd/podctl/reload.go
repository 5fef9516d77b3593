package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	poddv1 "podd/proto/podd/v1"
)

func newReloadCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "reload",
		Short: "Reload podd's configuration",
		Long: "Makes podd reread its configuration file, as SIGHUP does, and lists the keys that changed and those that need a " +
			"restart. An invalid file is rejected and the current configuration stays in effect. Running turns keep the " +
			"settings that they started with.",
		RunE: p.onPodd(runReload),
	}
}

func runReload(ctx context.Context, s *session, _ []string) error {
	resp, err := s.Admin().Reload(ctx, &poddv1.ReloadRequest{})
	s.warn(resp.GetWarnings())
	said := "reloaded: no changes"
	if keys := resp.GetReloaded(); len(keys) > 0 {
		said = "reloaded: " + strings.Join(keys, ", ")
	}
	if keys := resp.GetNeedRestart(); len(keys) > 0 {
		said += "; restart podd to apply: " + strings.Join(keys, ", ")
	}
	return s.answer(resp, err, line("%s", sanitize.Line(said)))
}
