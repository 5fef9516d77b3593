package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/pkg/client"
	"podd/pkg/version"
	poddv1 "podd/proto/podd/v1"
)

// versionPatience bounds how long podctl waits for a podd that may not be running.
const versionPatience = time.Second

func newVersionCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the versions of podctl and podd",
		Long: "Shows the versions of podctl and of the running podd. With -o json it prints podd's status; if podd is not " +
			"running, a status with podctl's version and pid 0.",
		Args:              operands,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p.startFor = -1 // "podd is not running" is an answer too.
			ctx, cancel := context.WithTimeout(cmd.Context(), versionPatience)
			defer cancel()
			status, err := p.status(ctx)
			if err != nil {
				status = &poddv1.GetStatusResponse{Version: version.String()}
			}
			return p.print(status, func(w io.Writer) error {
				podd := "not running"
				if err == nil {
					podd = fmt.Sprintf("%s (pid %d)", sanitize.Line(status.GetVersion()), status.GetPid())
				}
				_, writeErr := fmt.Fprintf(w, "podctl: %s\npodd: %s\n", version.String(), podd)
				if note := age(status); err == nil && note != "" {
					fmt.Fprintf(p.stderr, "! %s\n", sanitize.Line(note))
				}
				return writeErr
			})
		},
	}
}

// status asks podd what it is.
func (p *program) status(ctx context.Context) (status *poddv1.GetStatusResponse, err error) {
	err = p.with(func(c *client.Client) error {
		status, err = c.Admin().GetStatus(ctx, &poddv1.GetStatusRequest{})
		return err
	})
	return status, err
}
