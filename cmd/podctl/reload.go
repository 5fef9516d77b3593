package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/pkg/client"
	poddv1 "podd/proto/podd/v1"
)

func newReloadCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "reload",
		Short: "Reload podd's configuration",
		Long: "Makes podd reread its configuration file, as SIGHUP does, and lists the keys that changed and those that need a " +
			"restart. An invalid file is rejected and the current configuration stays in effect. Running turns keep the " +
			"settings that they started with.",
		RunE: p.onPodd(func(ctx context.Context, c *client.Client, _ []string) error {
			resp, err := c.Admin().Reload(ctx, &poddv1.ReloadRequest{})
			if err != nil {
				return err
			}
			p.warn(resp.GetWarnings())
			return p.print(resp, func(w io.Writer) error { return writeReloaded(w, resp) })
		}),
	}
}

func writeReloaded(w io.Writer, r *poddv1.ReloadResponse) error {
	said := "reloaded: no changes"
	if keys := r.GetReloaded(); len(keys) > 0 {
		said = "reloaded: " + strings.Join(keys, ", ")
	}
	if keys := r.GetNeedRestart(); len(keys) > 0 {
		said += "; restart podd to apply: " + strings.Join(keys, ", ")
	}
	_, err := fmt.Fprintln(w, sanitize.Line(said))
	return err
}
