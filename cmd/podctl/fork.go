package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/pkg/client"
	poddv1 "podd/proto/podd/v1"
)

func newForkCommand(p *program) *cobra.Command {
	var at int64
	cmd := &cobra.Command{
		Use:   "fork [POD] NEW",
		Short: "Create a pod from another pod's history",
		Long: "Creates the pod NEW with the history of POD up to an entry, by default all of it. POD does not change and may " +
			"keep running. Files are not copied: both pods work in the same directory.",
		Example: "  podctl fork api api-try --at 120",
		RunE: func(cmd *cobra.Command, args []string) error {
			if at < 1 && cmd.Flags().Changed("at") {
				return usageError{fmt.Errorf("--at %d is not the number of an entry: podctl tail lists them", at)}
			}
			return p.withPod(cmd.Context(), args[0], func(c *client.Client, pod string) error {
				resp, err := c.Pods().ForkPod(cmd.Context(), &poddv1.ForkPodRequest{Pod: pod, Name: valid(args[1]), AtSeq: at})
				if err != nil {
					return err
				}
				place := ""
				if at > 0 {
					place = fmt.Sprintf(" at #%d", at)
				}
				return p.print(resp, line("forked %s from %s%s%s", sanitize.Line(resp.GetPod().GetName()), sanitize.Line(pod), place, leftover(resp)))
			})
		},
	}
	cmd.Flags().Var((*sequence)(&at), "at", "last entry to include; podctl tail shows the numbers (default: the whole log)")
	return cmd
}

func newRewindCommand(p *program) *cobra.Command {
	r := &poddv1.RewindPodRequest{}
	cmd := &cobra.Command{
		Use:   "rewind [POD] SEQ",
		Short: "Rewind a pod's history to an earlier entry",
		Long: "Drops everything after the entry SEQ from later model requests. Dropped entries stay in the log. With --files " +
			"it also takes back what the agent changed in files since, as podctl undo does. Commits, branches and tags stay. The pod must not be running a " +
			"turn. Without --files, a turn that waits for disk space is cancelled first.",
		Example: "  podctl rewind api 120 --files",
		RunE: func(cmd *cobra.Command, args []string) error {
			to, ok := parseSequence(args[1])
			if !ok || to < 1 {
				return usageError{fmt.Errorf("%q is not the number of an entry: podctl tail lists them", args[1])}
			}
			for _, flag := range []string{"skip", "merge"} {
				if cmd.Flags().Changed(flag) && !r.GetFiles() {
					return usageError{fmt.Errorf("--%s needs --files: without it no file changes", flag)}
				}
			}
			return p.withPod(cmd.Context(), args[0], func(c *client.Client, pod string) error {
				r.Pod, r.ToSeq = pod, to
				resp, err := c.Pods().RewindPod(cmd.Context(), r)
				if err != nil {
					return err
				}
				also := leftover(resp)
				if back := resp.GetRestored(); back != nil {
					also = "\n" + restored(back, "changes", false)
				}
				return p.print(resp, line("rewound %s to #%d%s", sanitize.Line(pod), to, also))
			})
		},
	}
	cmd.Flags().BoolVar(&r.Files, "files", false, "also take back what the agent changed in files after SEQ")
	cmd.Flags().BoolVar(&r.Skip, "skip", false, "with --files: skip files that somebody changed since")
	cmd.Flags().BoolVar(&r.Merge, "merge", false, "with --files: merge texts that somebody changed in other lines since")
	return cmd
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
