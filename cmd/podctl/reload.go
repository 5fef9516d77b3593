package main

import (
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
		Short: "let podd read its configuration again",
		Long: "Lets podd read its configuration file again, as SIGHUP does, and says which keys have new values and\n" +
			"which need a restart. A broken file is refused, and the one before it holds. Turns that run end with\n" +
			"the settings that they began with.",
		Args:              operands,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.with(func(c *client.Client) error {
				resp, err := c.Admin().Reload(cmd.Context(), &poddv1.ReloadRequest{})
				if err != nil {
					return err
				}
				return p.print(resp, func(w io.Writer) error { return writeReloaded(w, resp) })
			})
		},
	}
}

func writeReloaded(w io.Writer, r *poddv1.ReloadResponse) error {
	said := "reloaded: nothing has changed"
	if keys := r.GetReloaded(); len(keys) > 0 {
		said = "reloaded: " + strings.Join(keys, ", ")
	}
	if keys := r.GetNeedRestart(); len(keys) > 0 {
		said += "; needs a restart of podd: " + strings.Join(keys, ", ")
	}
	_, err := fmt.Fprintln(w, sanitize.Line(said))
	return err
}
