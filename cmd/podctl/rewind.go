package main

import (
	"context"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	poddv1 "podd/proto/podd/v1"
)

// rewindOptions are the flags of rewind, and its operand.
type rewindOptions struct {
	to                 int64
	files, skip, merge bool
}

func (o *rewindOptions) command(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rewind [POD] SEQ",
		Short: "Rewind a pod's history to an earlier entry",
		Long: "Drops everything after the entry SEQ from later model requests. Dropped entries stay in the log. With --files " +
			"it also takes back what the agent changed in files since, as podctl undo does. Commits, branches and tags stay. The pod must not be running a " +
			"turn. Without --files, a turn that waits for disk space is cancelled first.",
		Example: "  podctl rewind api 120 --files",
		PreRunE: o.check,
		RunE:    p.onPod(o.run),
	}
	cmd.Flags().BoolVar(&o.files, "files", false, "also take back what the agent changed in files after SEQ")
	cmd.Flags().BoolVar(&o.skip, "skip", false, "with --files: skip files that somebody changed since")
	cmd.Flags().BoolVar(&o.merge, "merge", false, "with --files: merge texts that somebody changed in other lines since")
	return cmd
}

func (o *rewindOptions) check(cmd *cobra.Command, args []string) (err error) {
	if o.to, err = numberOf(args[1], "an entry: podctl tail lists them"); err != nil {
		return err
	}
	for _, flag := range []string{"skip", "merge"} {
		if cmd.Flags().Changed(flag) && !o.files {
			return usagef("--%s needs --files: without it no file changes", flag)
		}
	}
	return nil
}

func (o *rewindOptions) run(ctx context.Context, s *session, _ []string) error {
	resp, err := s.Pods().RewindPod(ctx, &poddv1.RewindPodRequest{Pod: s.pod, ToSeq: o.to, Files: o.files, Skip: o.skip, Merge: o.merge})
	also := leftover(resp)
	if back := resp.GetRestored(); back != nil {
		also = "\n" + restored(back, "changes", false)
	}
	return s.answer(resp, err, line("rewound %s to #%d%s", sanitize.Line(s.pod), o.to, also))
}
