package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	poddv1 "podd/proto/podd/v1"
)

// forkOptions are the flags of fork.
type forkOptions struct{ at sequence }

func (o *forkOptions) command(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fork [POD] NEW",
		Short: "Create a pod from another pod's history",
		Long: "Creates the pod NEW with the history of POD up to an entry, by default all of it. POD does not change and may " +
			"keep running. Files are not copied: both pods work in the same directory.",
		Example: "  podctl fork api api-try --at 120",
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			if o.at < 1 && cmd.Flags().Changed("at") {
				return usagef("--at %d is not the number of an entry: podctl tail lists them", o.at)
			}
			return nil
		},
		RunE: p.onPod(o.run),
	}
	cmd.Flags().Var(&o.at, "at", "last entry to include; podctl tail shows the numbers (default: the whole log)")
	return cmd
}

func (o *forkOptions) run(ctx context.Context, s *session, args []string) error {
	resp, err := s.Pods().ForkPod(ctx, &poddv1.ForkPodRequest{Pod: s.pod, Name: valid(args[1]), AtSeq: int64(o.at)})
	place := ""
	if o.at > 0 {
		place = fmt.Sprintf(" at #%d", o.at)
	}
	return s.answer(resp, err, line("forked %s from %s%s%s", sanitize.Line(resp.GetPod().GetName()), sanitize.Line(s.pod), place, leftover(resp)))
}

// leftover says what neither a fork nor a rewind undoes.
func leftover(resp interface {
	GetChangedFiles() []string
	GetCommands() int32
}) string {
	var parts []string
	if files := resp.GetChangedFiles(); len(files) > 0 {
		parts = append(parts, "files changed after this point keep their changes: "+sanitize.Line(strings.Join(files, ", ")))
	}
	if n := resp.GetCommands(); n > 0 {
		parts = append(parts, fmt.Sprintf("%s ran after this point; their effects stay", plural(int(n), "shell command")))
	}
	if len(parts) == 0 {
		return ""
	}
	return "\n" + strings.Join(parts, "\n")
}
