package main

import (
	"log/slog"
	"slices"

	"github.com/spf13/cobra"

	"podd/internal/clients/acp"
	"podd/pkg/client"
	"podd/pkg/version"
)

func newACPCommand(p *program) *cobra.Command {
	var pod string
	cmd := &cobra.Command{
		Use:   "acp",
		Short: "Serve the Agent Client Protocol to an editor",
		Long: "Speaks the Agent Client Protocol on standard input and output, for an editor that starts it. Each new session " +
			"gets its own pod with the editor's directory as its workspace; with --pod, all sessions share that pod. Pods " +
			"keep running after the editor is closed.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			outliveReaders()
			return p.with(func(c *client.Client) error {
				return acp.Serve(cmd.Context(), acp.Config{
					Client: c, In: p.stdin, Out: p.stdout, Version: version.String(), Pod: pod, Log: slog.New(slog.NewTextHandler(p.stderr, acpLog())),
				})
			})
		},
	}
	cmd.Flags().StringVarP(&pod, "pod", "p", "", "pod that every new session joins (default: a new pod for each)")
	p.completePodFlag(cmd)
	return cmd
}

// acpLog logs warnings and errors only, without the messages that the editor sent: they
// may contain what a person wrote.
func acpLog() *slog.HandlerOptions {
	private := []string{"raw"}
	return &slog.HandlerOptions{
		Level: slog.LevelWarn,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if slices.Contains(private, a.Key) {
				return slog.Attr{}
			}
			return a
		},
	}
}
