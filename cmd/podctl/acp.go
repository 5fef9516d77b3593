package main

import (
	"context"
	"log/slog"
	"slices"

	"github.com/spf13/cobra"

	"podd/internal/clients/acp"
	"podd/pkg/version"
)

// acpOptions are the flags of acp.
type acpOptions struct{ pod string }

func (o *acpOptions) command(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "acp",
		Short: "Serve the Agent Client Protocol to an editor",
		Long: "Speaks the Agent Client Protocol on standard input and output, for an editor that starts it. Each new session " +
			"gets its own pod with the editor's directory as its workspace; with --pod, all sessions share that pod. Pods " +
			"keep running after the editor is closed.",
		RunE: p.onPodd(o.run),
	}
	cmd.Flags().StringVarP(&o.pod, "pod", "p", "", "pod that every new session joins (default: a new pod for each)")
	p.completeFlag(cmd, "pod", pods)
	return cmd
}

func (o *acpOptions) run(ctx context.Context, s *session, _ []string) error {
	outliveReaders()
	return acp.Serve(ctx, acp.Config{
		Client: s.Client, In: s.stdin, Out: s.stdout, Version: version.String(), Pod: o.pod, Log: slog.New(slog.NewTextHandler(s.stderr, acpLog())),
	})
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
